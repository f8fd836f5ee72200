"""Configurations of admission plugins; the messages are those of a kube-apiserver 1.36."""

from __future__ import annotations

from random import Random
from typing import Any

import msgspec
import pytest

from pyctrl.apiserver import (
    AdmissionConfiguration,
    AdmissionPluginName,
    ApiServer,
)
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
            {"plugins": [plugin("Priority", {"kind": "X"})]},
            "a configuration of the admission plugin Priority is not supported",
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


def configured(*plugins: Any, enable: tuple[AdmissionPluginName, ...] = ()) -> Asker:
    """Return a client of a server with the configurations of plugins."""
    disable: tuple[AdmissionPluginName, ...] = ("DefaultTolerationSeconds",)
    return Asker(
        ApiServer(
            random=Random(7),
            admission_configuration=read(*plugins),
            enable_admission_plugins=enable,
            disable_admission_plugins=disable,
        )
    )


def test_pod_node_selector_has_a_default_and_a_whitelist() -> None:
    """Pods get the default selector where the namespace has no annotation, and only labels of the whitelist."""
    selectors = {"clusterDefaultNodeSelector": "disk=ssd", "default": "disk=ssd,zone=a"}
    configuration = {"podNodeSelectorPluginConfig": selectors}
    ask = configured(plugin("PodNodeSelector", configuration), enable=("PodNodeSelector",))
    made = ask("POST", PODS, pod(nodeSelector={"zone": "a"}))[1]
    assert made["spec"]["nodeSelector"] == {"disk": "ssd", "zone": "a"}
    code, status = ask("POST", PODS, pod("q", nodeSelector={"zone": "b"}))
    assert (code, status["message"]) == (
        403,
        'pods "q" is forbidden: pod node label selector labels conflict with its namespace whitelist',
    )
    free = {"metadata": {"name": "free", "annotations": {"scheduler.alpha.kubernetes.io/node-selector": ""}}}
    ask("POST", "/api/v1/namespaces", free)
    assert "nodeSelector" not in ask("POST", PODS.replace("default", "free"), pod())[1]["spec"]


def test_pod_toleration_restriction_has_tolerations_of_the_cluster() -> None:
    """Pods get the default tolerations where the namespace has no annotation, and only those of the whitelist."""
    kind = {"apiVersion": "podtolerationrestriction.admission.k8s.io/v1alpha1", "kind": "Configuration"}
    own, other = ({"key": key, "operator": "Exists"} for key in ("own", "other"))
    configuration = {**kind, "default": [own], "whitelist": [own, {"operator": "Exists", "key": "more"}]}
    ask = configured(plugin("PodTolerationRestriction", configuration), enable=("PodTolerationRestriction",))
    assert ask("POST", PODS, pod())[1]["spec"]["tolerations"] == [own]
    code, status = ask("POST", PODS, pod("q", tolerations=[other]))
    assert (code, status["message"].endswith("conflict with its cluster whitelist")) == (500, True)
    annotation = {"scheduler.alpha.kubernetes.io/defaultTolerations": ""}
    ask("POST", "/api/v1/namespaces", {"metadata": {"name": "free", "annotations": annotation}})
    assert "tolerations" not in ask("POST", PODS.replace("default", "free"), pod())[1]["spec"]


QUOTA = {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "ResourceQuotaConfiguration"}


def test_limited_resources_need_a_quota() -> None:
    """What the configuration limits cannot be used in a namespace without a quota for it."""
    limited = {"resource": "configmaps", "matchContains": ["count/"]}
    ask = configured(plugin("ResourceQuota", {**QUOTA, "limitedResources": [limited]}))
    maps, quotas = "/api/v1/namespaces/default/configmaps", "/api/v1/namespaces/default/resourcequotas"
    code, status = ask("POST", maps, {"metadata": {"name": "a"}})
    assert (code, status["message"]) == (
        403,
        'configmaps "a" is forbidden: insufficient quota to consume: count/configmaps',
    )
    assert ask("POST", "/api/v1/namespaces/default/secrets", {"metadata": {"name": "a"}})[0] == 201
    hard = {"count/configmaps": "1"}
    quota = ask("POST", quotas, {"metadata": {"name": "q"}, "spec": {"hard": hard}})[1]
    ask("PUT", f"{quotas}/q/status", quota | {"status": {"hard": hard, "used": {"count/configmaps": "0"}}})
    assert ask("POST", maps, {"metadata": {"name": "a"}})[0] == 201


def test_limited_scopes_need_a_quota() -> None:
    """A pod of a priority class that the configuration limits is refused where no quota selects the class."""
    scope = {"scopeName": "PriorityClass", "operator": "In", "values": ["system-cluster-critical"]}
    limited = {"resource": "pods", "matchScopes": [scope]}
    ask = configured(plugin("ResourceQuota", {**QUOTA, "limitedResources": [limited]}))
    assert ask("POST", PODS, pod())[0] == 201
    code, status = ask("POST", PODS, pod("q", priorityClassName="system-cluster-critical"))
    why = "insufficient quota to match these scopes: [{PriorityClass In [system-cluster-critical]}]"
    assert (code, why in status["message"]) == (500, True)
    spec = {"hard": {"pods": "5"}, "scopeSelector": {"matchExpressions": [scope]}}
    quotas = "/api/v1/namespaces/default/resourcequotas"
    quota = ask("POST", quotas, {"metadata": {"name": "q"}, "spec": spec})[1]
    used = {"hard": {"pods": "5"}, "used": {"pods": "0"}}
    ask("PUT", f"{quotas}/q/status", quota | {"status": used})
    assert ask("POST", PODS, pod("q", priorityClassName="system-cluster-critical"))[0] == 201
