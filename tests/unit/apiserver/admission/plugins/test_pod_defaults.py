"""Admission plugins that fill in pods, claims, Ingresses and nodes."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from pyctrl.apiserver import AdmissionPluginName, ApiServer
from tests.unit.apiserver._kit import Asker

NAMESPACE = "/api/v1/namespaces/default"
PODS, CLAIMS = f"{NAMESPACE}/pods", f"{NAMESPACE}/persistentvolumeclaims"


def pod(name: str = "p", **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": {"containers": [{"name": "c", "image": "i"}], **spec}}


def claim(name: str, **spec: Any) -> dict[str, Any]:
    size = {"requests": {"storage": "1Gi"}}
    return {"metadata": {"name": name}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": size, **spec}}


def asking(*enable: AdmissionPluginName, disable: tuple[AdmissionPluginName, ...] = ()) -> Asker:
    return Asker(ApiServer(random=Random(7), enable_admission_plugins=enable, disable_admission_plugins=disable))


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


def test_the_service_account_plugin_mounts_a_token() -> None:
    """With ServiceAccount, pods get an account and its token; a missing account is refused."""
    ask = asking("ServiceAccount")
    code, status = ask("POST", PODS, pod())
    why = 'error looking up service account default/default: serviceaccount "default" not found'
    assert (code, status["message"]) == (403, f'pods "p" is forbidden: {why}')
    ask("POST", f"{NAMESPACE}/serviceaccounts", {"metadata": {"name": "default"}, "imagePullSecrets": [{"name": "s"}]})
    spec = ask("POST", PODS, pod())[1]["spec"]
    (mount,), (volume,) = spec["containers"][0]["volumeMounts"], spec["volumes"]
    assert (spec["serviceAccountName"], spec["imagePullSecrets"]) == ("default", [{"name": "s"}])
    assert mount["name"] == volume["name"]
    assert volume["projected"]["sources"][0]["serviceAccountToken"] == {"expirationSeconds": 3607, "path": "token"}


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


def test_always_pull_images_and_extended_resources_change_pods() -> None:
    """Images are always pulled, and pods tolerate the taints of the devices that they request."""
    body = pod()
    body["spec"]["containers"][0] |= {
        "imagePullPolicy": "Never",
        "resources": {"requests": {"example.com/gpu": "1"}, "limits": {"example.com/gpu": "1"}},
    }
    spec = asking("AlwaysPullImages", "ExtendedResourceToleration")("POST", PODS, body)[1]["spec"]
    assert spec["containers"][0]["imagePullPolicy"] == "Always"
    assert {"key": "example.com/gpu", "operator": "Exists", "effect": "NoSchedule"} in spec["tolerations"]


def test_annotations_of_a_namespace_restrict_its_pods() -> None:
    """PodNodeSelector and PodTolerationRestriction apply the annotations of the namespace."""
    ask = asking("PodNodeSelector", "PodTolerationRestriction")
    prefix = "scheduler.alpha.kubernetes.io"
    annotations = {
        f"{prefix}/node-selector": "disk=ssd",
        f"{prefix}/defaultTolerations": '[{"key": "k", "operator": "Exists"}]',
    }
    ask("POST", "/api/v1/namespaces", {"metadata": {"name": "team", "annotations": annotations}})
    spec = ask("POST", "/api/v1/namespaces/team/pods", pod())[1]["spec"]
    assert spec["nodeSelector"] == {"disk": "ssd"}
    assert {"key": "k", "operator": "Exists"} in spec["tolerations"]
    code, status = ask("POST", "/api/v1/namespaces/team/pods", pod("q", nodeSelector={"disk": "hdd"}))
    assert (code, "conflicts with its namespace node label selector" in status["message"]) == (403, True)


def test_namespaces_are_created_on_demand() -> None:
    """With NamespaceAutoProvision, an object creates its namespace."""
    ask = asking("NamespaceAutoProvision")
    assert ask("POST", "/api/v1/namespaces/fresh/configmaps", {"metadata": {"name": "a"}})[0] == 201
    assert ask("GET", "/api/v1/namespaces/fresh")[1]["status"] == {"phase": "Active"}
