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
    WebhookRequest,
    WebhookResponse,
)
from tests.unit.apiserver._kit import CONFIGMAPS, Asker
from tests.unit.apiserver.admission._policies import ADMISSION, RULE
from tests.unit.apiserver.admission.plugins._admitted import PODS, pod

POD_SECURITY = {"apiVersion": "pod-security.admission.config.k8s.io/v1", "kind": "PodSecurityConfiguration"}
WEBHOOKS = {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "WebhookAdmissionConfiguration"}
MANIFESTS = "staticManifestsDir requires the ManifestBasedAdmissionControlConfig feature gate to be enabled"
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


def problem(name: str, text: str) -> str:
    """Return the message of one error in a plugin's configuration."""
    return f'couldn\'t init admission plugin "{name}": {text}'


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
            {"plugins": [plugin("ImagePolicyWebhook", {"imagePolicy": {"allowTTL": 1801}})]},
            problem("ImagePolicyWebhook", "valid value is between 1s and 30m0s, got 30m1s"),
        ),
        (
            {"plugins": [plugin("ImagePolicyWebhook", {"imagePolicy": {"denyTTL": -2}})]},
            problem("ImagePolicyWebhook", "valid value is between 1s and 30m0s, got -2s"),
        ),
        (
            {"plugins": [plugin("ImagePolicyWebhook", {"imagePolicy": {"retryBackoff": 300_001}})]},
            problem("ImagePolicyWebhook", "valid value is between 1ns and 5m0s, got 5m0.001s"),
        ),
        (
            {"plugins": [plugin("Priority", {"kind": "X"})]},
            "a configuration of the admission plugin Priority is not supported",
        ),
        (
            {"plugins": [plugin("MutatingAdmissionWebhook", {**WEBHOOKS, "kubeConfigFile": "hooks"})]},
            problem(
                "MutatingAdmissionWebhook", 'kubeConfigFile: Invalid value: "hooks": must be an absolute file path'
            ),
        ),
        (
            {"plugins": [plugin("ValidatingAdmissionWebhook", {**WEBHOOKS, "staticManifestsDir": "/x"})]},
            problem("ValidatingAdmissionWebhook", f"staticManifestsDir: Forbidden: {MANIFESTS}"),
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
