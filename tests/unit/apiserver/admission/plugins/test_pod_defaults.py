"""Admission plugins that fill in pods, claims, Ingresses and nodes."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver import AdmissionPluginName
from tests.unit.apiserver.admission.plugins._admitted import CLAIMS, NAMESPACE, PODS, asking, claim, pod


def test_a_pod_tolerates_a_node_that_fails_for_five_minutes() -> None:
    """New pods get two tolerations, and none when the plugin is disabled."""
    tolerations = asking()("POST", PODS, pod())[1]["spec"]["tolerations"]
    assert [each["tolerationSeconds"] for each in tolerations] == [300, 300]
    ask = asking(disable=("DefaultTolerationSeconds",))
    assert "tolerations" not in ask("POST", PODS, pod())[1]["spec"]


def test_a_new_node_is_not_ready() -> None:
    """A node is tainted until the node lifecycle controller finds it ready."""
    _, node = asking()("POST", "/api/v1/nodes", {"metadata": {"name": "n"}})
    assert node["spec"]["taints"] == [{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]


def test_claims_get_the_default_storage_class_and_a_finalizer() -> None:
    """A claim without class gets the default class; a claim with the class "" keeps it."""
    ask = asking()
    marked = {"name": "standard", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}}
    ask("POST", "/apis/storage.k8s.io/v1/storageclasses", {"metadata": marked, "provisioner": "x/y"})
    made = ask("POST", CLAIMS, claim("a"))[1]
    assert made["spec"]["storageClassName"] == "standard"
    assert made["metadata"]["finalizers"] == ["kubernetes.io/pvc-protection"]
    assert ask("POST", CLAIMS, claim("b", storageClassName=""))[1]["spec"]["storageClassName"] == ""


def test_ingresses_get_the_default_class() -> None:
    """An Ingress without class gets the default class; one with the old annotation does not."""
    ask, group = asking(), "/apis/networking.k8s.io/v1"
    marked = {"name": "nginx", "annotations": {"ingressclass.kubernetes.io/is-default-class": "true"}}
    ask("POST", f"{group}/ingressclasses", {"metadata": marked, "spec": {"controller": "x/y"}})
    spec = {"defaultBackend": {"service": {"name": "s", "port": {"number": 80}}}}
    ingresses = f"{group}/namespaces/default/ingresses"
    made = ask("POST", ingresses, {"metadata": {"name": "a"}, "spec": spec})[1]
    assert made["spec"]["ingressClassName"] == "nginx"
    old = {"name": "b", "annotations": {"kubernetes.io/ingress.class": "z"}}
    assert "ingressClassName" not in ask("POST", ingresses, {"metadata": old, "spec": spec})[1]["spec"]


@pytest.mark.parametrize(
    ("plugin", "path", "body", "why"),
    [
        (
            "DenyServiceExternalIPs",
            f"{NAMESPACE}/services",
            {"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}], "externalIPs": ["1.2.3.4"]}},
            "Use of external IPs is denied by admission control",
        ),
        (
            "LimitPodHardAntiAffinityTopology",
            PODS,
            pod(
                affinity={
                    "podAntiAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": [
                            {"topologyKey": "zone", "labelSelector": {"matchLabels": {"a": "b"}}}
                        ]
                    }
                }
            ),
            "has TopologyKey zone but only key kubernetes.io/hostname is allowed",
        ),
    ],
)
def test_optional_plugins_reject_writes(plugin: AdmissionPluginName, path: str, body: dict[str, Any], why: str) -> None:
    """Plugins that are off by default reject what they forbid once they are enabled."""
    assert asking()("POST", path, body)[0] == 201
    code, status = asking(plugin)("POST", path, body)
    assert code == 403
    assert why in status["message"]
