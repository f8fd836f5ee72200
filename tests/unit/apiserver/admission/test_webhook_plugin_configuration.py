"""Configurations of the plugins that call webhooks; the messages are those of a kube-apiserver 1.36."""

from __future__ import annotations

from random import Random
from typing import Any

import msgspec
import pytest

from pyctrl.apiserver import AdmissionConfiguration, ApiServer, WebhookRequest, WebhookResponse
from tests.unit.apiserver._kit import CONFIGMAPS
from tests.unit.apiserver.admission._policies import ADMISSION, RULE

WEBHOOKS = {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "WebhookAdmissionConfiguration"}
MANIFESTS = "staticManifestsDir requires the ManifestBasedAdmissionControlConfig feature gate to be enabled"


def read(*plugins: Any, files: dict[str, bytes] | None = None) -> AdmissionConfiguration:
    """Read an AdmissionConfiguration."""
    kind = {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AdmissionConfiguration"}
    return AdmissionConfiguration.read(msgspec.json.encode({**kind, "plugins": plugins}), (files or {}).__getitem__)


def plugin(name: str, configuration: Any) -> dict[str, Any]:
    return {"name": name, "configuration": configuration}


def problem(name: str, text: str) -> str:
    """Return the message of one error in a plugin's configuration."""
    return f'couldn\'t init admission plugin "{name}": {text}'


@pytest.mark.parametrize(
    ("configured", "why"),
    [
        (
            plugin("ImagePolicyWebhook", {"imagePolicy": {"allowTTL": 1801}}),
            problem("ImagePolicyWebhook", "valid value is between 1s and 30m0s, got 30m1s"),
        ),
        (
            plugin("ImagePolicyWebhook", {"imagePolicy": {"denyTTL": -2}}),
            problem("ImagePolicyWebhook", "valid value is between 1s and 30m0s, got -2s"),
        ),
        (
            plugin("ImagePolicyWebhook", {"imagePolicy": {"retryBackoff": 300_001}}),
            problem("ImagePolicyWebhook", "valid value is between 1ns and 5m0s, got 5m0.001s"),
        ),
        (
            plugin("MutatingAdmissionWebhook", {**WEBHOOKS, "kubeConfigFile": "hooks"}),
            problem(
                "MutatingAdmissionWebhook", 'kubeConfigFile: Invalid value: "hooks": must be an absolute file path'
            ),
        ),
        (
            plugin("ValidatingAdmissionWebhook", {**WEBHOOKS, "staticManifestsDir": "/x"}),
            problem("ValidatingAdmissionWebhook", f"staticManifestsDir: Forbidden: {MANIFESTS}"),
        ),
    ],
)
def test_a_wrong_configuration_is_refused(configured: dict[str, Any], why: str) -> None:
    """A time out of its range, a relative path and manifests are refused before the server starts."""
    with pytest.raises(ValueError) as refused:  # noqa: PT011 (the whole message is compared)
        read(configured)
    assert str(refused.value) == why


KUBECONFIG = b"""
current-context: x
contexts: [{name: x, context: {cluster: c, user: "*"}}]
clusters: [{name: c, cluster: {server: "https://images.invalid/"}}]
users: [{name: "*", user: {token: all}}, {name: "a.example.com:8443", user: {token: special}},
  {name: "b.example.com:443", user: {token: standard}}]
"""


def test_image_policy_has_a_webhook_and_times() -> None:
    """Times are seconds and milliseconds; 0 is the default and -1 turns a cache off."""
    policy = {"kubeConfigFile": "/k", "allowTTL": 60, "denyTTL": -1, "retryBackoff": 0, "defaultAllow": True}
    found = read(plugin("ImagePolicyWebhook", {"imagePolicy": policy}), files={"/k": KUBECONFIG}).image_policy
    assert found is not None
    assert (found.target.url, found.default_allow) == ("https://images.invalid/", True)
    assert found.target.credentials.headers == (("Authorization", "Bearer all"),)
    times = [each.total_seconds() for each in (found.allow_ttl, found.deny_ttl, found.retry_backoff)]
    assert times == [60, 0, 0.5]


async def test_webhooks_get_the_credentials_of_their_host() -> None:
    """A webhook gets the credentials of its host from the kubeconfig of its plugin, and from no other."""
    seen: list[tuple[str, Any]] = []

    async def call(request: WebhookRequest) -> WebhookResponse:
        seen.append((request.url.partition("?")[0], dict(request.credentials.headers).get("Authorization")))
        uid = msgspec.json.decode(request.body)["request"]["uid"]
        review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}
        return WebhookResponse(body=msgspec.json.encode({**review, "response": {"uid": uid, "allowed": True}}))

    configuration = {**WEBHOOKS, "kubeConfigFile": "/k"}
    found = read(plugin("MutatingAdmissionWebhook", configuration), files={"/k": KUBECONFIG})
    server = ApiServer(random=Random(7), webhooks=call, admission_configuration=found)
    service = {"service": {"namespace": "n", "name": "s"}}
    configs = ({"url": "https://a.example.com:8443/x"}, {"url": "https://b.example.com/x"}, service)
    for kind, chosen in (("mutating", configs), ("validating", configs[:1])):
        hooks = [
            {
                "name": f"h{index}.example.com",
                "clientConfig": config,
                "rules": [RULE],
                "sideEffects": "None",
                "admissionReviewVersions": ["v1"],
            }
            for index, config in enumerate(chosen)
        ]
        body = msgspec.json.encode({"metadata": {"name": kind}, "webhooks": hooks})
        assert (await server.handle("POST", f"{ADMISSION}/{kind}webhookconfigurations", (), {}, body)).status == 201
    answer = await server.handle("POST", CONFIGMAPS, (), {}, b'{"metadata":{"name":"a"}}')
    assert answer.status == 201
    assert seen == [
        ("https://a.example.com:8443/x", "Bearer special"),
        ("https://b.example.com/x", "Bearer standard"),
        ("https://s.n.svc:443/", "Bearer all"),
        ("https://a.example.com:8443/x", None),
    ]
