"""Tokens that kubelets request; the messages are those of a kube-apiserver 1.36."""

from __future__ import annotations

from tests.unit.apiserver.admission.plugins._admitted import NAMESPACE
from tests.unit.apiserver.admission.plugins._nodes import NodeCluster

DRIVERS = "/apis/storage.k8s.io/v1/csidrivers"
TOKEN = f"{NAMESPACE}/serviceaccounts/sa/token"
ONLY = "node requested token"


def test_a_kubelet_requests_tokens_of_its_pods() -> None:
    """For audiences that a volume of the pod names, or that the kubelet is allowed to request."""
    cluster = NodeCluster()
    source = {"serviceAccountToken": {"path": "a", "audience": "vault"}}
    volumes = [{"name": "t", "projected": {"sources": [source]}}, {"name": "c", "csi": {"driver": "d"}}]
    mine, other = cluster.bound_pod("mine", "n1", volumes=volumes), cluster.bound_pod("other", "n2")

    def request(name: str, uid: str, *audiences: str, kind: str = "Pod") -> str:
        reference = {"apiVersion": "v1", "kind": kind, "name": name, "uid": uid}
        spec = {"audiences": list(audiences), "boundObjectRef": reference}
        return cluster.refusal("POST", TOKEN, {"spec": spec})

    assert request("s", "1", kind="Secret") == f"{ONLY} not bound to a pod"
    assert request("mine", "") == f"{ONLY} with a pod binding without a uid"
    assert request("nix", "1") == 'pod "nix" not found'
    assert request("mine", "1").startswith("the UID in the bound object reference (1) does not match")
    assert request("other", other) == f"{ONLY} bound to a pod scheduled on a different node"
    assert request("mine", mine, "a", "b") == "node may only request 0 or 1 audiences"
    assert request("mine", mine, "vault") == ""
    why = 'error validating audience "csi": csidriver.storage.k8s.io "d" not found'
    assert request("mine", mine, "csi") == why
    driver = {"metadata": {"name": "d"}, "spec": {"tokenRequests": [{"audience": "csi"}]}}
    assert cluster.ask("POST", DRIVERS, driver)[0] == 201
    assert request("mine", mine, "csi") == ""
