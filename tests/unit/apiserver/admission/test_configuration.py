"""Configurations of admission plugins; the messages are those of a kube-apiserver 1.36."""

from __future__ import annotations

from random import Random
from typing import Any

import msgspec
import pytest

from pyctrl.apiserver import AdmissionConfiguration, ApiServer
from tests.unit.apiserver._kit import Asker
from tests.unit.apiserver.admission.plugins._admitted import PODS, pod

POD_SECURITY = {"apiVersion": "pod-security.admission.config.k8s.io/v1", "kind": "PodSecurityConfiguration"}
LIMITS = {"apiVersion": "eventratelimit.admission.k8s.io/v1alpha1", "kind": "Configuration"}


def document(*plugins: Any, **fields: Any) -> bytes:
    """Return the text of an AdmissionConfiguration."""
    kind = {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AdmissionConfiguration"}
    return msgspec.json.encode({**kind, "plugins": plugins, **fields})


def read(*plugins: Any, files: dict[str, bytes] | None = None, **fields: Any) -> AdmissionConfiguration:
    return AdmissionConfiguration.read(document(*plugins, **fields), (files or {}).__getitem__)


def plugin(name: str, configuration: Any) -> dict[str, Any]:
    return {"name": name, "configuration": configuration}


def test_pod_security_has_defaults_and_exemptions() -> None:
    """They apply to namespaces without labels."""
    configuration = {**POD_SECURITY, "defaults": {"enforce": "restricted"}, "exemptions": {"namespaces": ["free"]}}
    found = read({"name": "PodSecurity", "path": "ps.yaml"}, files={"ps.yaml": msgspec.json.encode(configuration)})
    ask = Asker(ApiServer(random=Random(7), admission_configuration=found))
    code, refused = ask("POST", PODS, pod())
    assert (code, 'violates PodSecurity "restricted:latest"' in refused["message"]) == (403, True)
    ask("POST", "/api/v1/namespaces", {"metadata": {"name": "free"}})
    assert ask("POST", PODS.replace("default", "free"), pod())[0] == 201


LAX = {**POD_SECURITY, "defaults": {"warn": "lax", "audit-version": "2"}}
USERS = {**POD_SECURITY, "exemptions": {"usernames": ["", "a", "a"]}}
NEGATIVE = {**LIMITS, "limits": [{"type": "Server", "burst": -1}]}


def problems(name: str, *texts: str) -> str:
    """Return the message of a plugin's invalid configuration."""
    return f'couldn\'t init admission plugin "{name}": [{", ".join(texts)}]'


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"kind": "Nix"}, 'no kind "Nix" is registered for version "apiserver.config.k8s.io/v1"'),
        ({"apiVersion": "v1"}, 'no kind "AdmissionConfiguration" is registered for version "/v1"'),
        ({"kind": ""}, "Object 'Kind' is missing"),
        (
            {"plugins": [plugin("ImagePolicyWebhook", {"imagePolicy": {}})]},
            "a configuration of the admission plugin ImagePolicyWebhook is not supported",
        ),
        (
            {"plugins": [plugin("PodSecurity", LAX)]},
            problems(
                "PodSecurity",
                'defaults.warn: Invalid value: "lax": must be one of privileged, baseline, restricted',
                'defaults.audit-version: Invalid value: "2": must be "latest" or "v1.x"',
            ),
        ),
        (
            {"plugins": [plugin("PodSecurity", USERS)]},
            problems(
                "PodSecurity",
                'exemptions.usernames[0]: Invalid value: "": username must not be empty',
                'exemptions.usernames[2]: Duplicate value: "a"',
            ),
        ),
        (
            {"plugins": [plugin("EventRateLimit", NEGATIVE)]},
            problems(
                "EventRateLimit",
                "limits[0].burst: Invalid value: -1: must be positive",
                "limits[0].qps: Invalid value: 0: must be positive",
            ),
        ),
    ],
)
def test_a_wrong_configuration_is_refused(fields: dict[str, Any], why: str) -> None:
    """With the plugin and the field, before the server starts."""
    with pytest.raises(ValueError) as refused:  # noqa: PT011 (the whole message is compared)
        read(**fields)
    assert str(refused.value) == why


def test_event_rate_limit_needs_limits() -> None:
    """The plugin cannot be enabled without a configuration."""
    with pytest.raises(ValueError, match="limits: Invalid value: null: must not be empty"):
        ApiServer(enable_admission_plugins=["EventRateLimit"])
