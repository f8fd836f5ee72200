"""The admission plugin NodeRestriction; the messages are those of a kube-apiserver 1.36."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from tests.unit.apiserver._kit import MERGE
from tests.unit.apiserver.admission.plugins._admitted import CLAIMS, NAMESPACE, PODS, claim
from tests.unit.apiserver.admission.plugins._nodes import NODES, NodeCluster

LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
CSI_NODES, SLICES = "/apis/storage.k8s.io/v1/csinodes", "/apis/resource.k8s.io/v1/resourceslices"


@pytest.fixture
def cluster() -> NodeCluster:
    return NodeCluster()


def test_other_users_are_not_restricted(cluster: NodeCluster) -> None:
    """An administrator writes every node, and a kubelet kinds that the plugin does not know."""
    assert cluster.ask("PATCH", f"{NODES}/n2", {"metadata": {"labels": {"a": "b"}}}, headers=MERGE)[0] == 200
    assert cluster.refusal("POST", f"{NAMESPACE}/configmaps", {"metadata": {"name": "a"}}) == ""
    assert cluster.refusal("DELETE", f"{NODES}/n2", node="") == 'could not determine node from user "system:node:"'


OWN = "can only create pods with an owner reference set to itself"


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({}, ""),
        (
            {"annotated": False},
            'pod does not have "kubernetes.io/config.mirror" annotation, node "n1" can only create mirror pods',
        ),
        ({"nodeName": "n2"}, 'node "n1" can only create pods with spec.nodeName set to itself'),
        ({"owner": []}, f'node "n1" {OWN}'),
        ({"owner": [{"name": "n2"}]}, f'node "n1" {OWN}'),
        (
            {"owner": [{}, {"uid": "2", "controller": False}]},
            'node "n1" can only create pods with a single owner reference set to itself',
        ),
        (
            {"owner": [{"controller": False}]},
            'node "n1" can only create pods with a controller owner reference set to itself',
        ),
        ({"owner": [{"blockOwnerDeletion": True}]}, 'node "n1" must not set blockOwnerDeletion on an owner reference'),
        ({"owner": [{"uid": "other"}]}, "node n1 UID mismatch: expected other got UID-1"),
    ],
)
def test_a_kubelet_creates_only_its_mirror_pods(cluster: NodeCluster, changes: dict[str, Any], why: str) -> None:
    """They are marked, bound to the node and owned by it."""
    assert cluster.refusal("POST", PODS, cluster.mirror_pod(**changes)) == why.replace("UID-1", cluster.uids["n1"])


def test_a_mirror_pod_refers_to_no_objects(cluster: NodeCluster) -> None:
    """Not to those that the kubelet could read with its help."""
    body = cluster.mirror_pod(serviceAccountName="sa")
    assert cluster.refusal("POST", PODS, body) == 'node "n1" can not create pods that reference serviceaccounts'


def test_a_kubelet_writes_only_the_status_of_its_pods(cluster: NodeCluster) -> None:
    """It evicts and deletes pods of its node, and changes neither their labels nor their claims."""
    cluster.bound_pod("mine", "n1")
    cluster.bound_pod("other", "n2")
    mine, other = f"{PODS}/mine", f"{PODS}/other"
    running = {"status": {"phase": "Running"}}
    assert cluster.change(f"{mine}/status", running) == ""
    own = "with spec.nodeName set to itself"
    assert cluster.change(f"{other}/status", running) == f'node "n1" can only update pod status for pods {own}'
    why = 'node "n1" cannot update labels through pod status'
    assert cluster.change(f"{mine}/status", {"metadata": {"labels": {"a": "b"}}}) == why
    claims = {"status": {"resourceClaimStatuses": [{"name": "a"}]}}
    assert cluster.change(f"{mine}/status", claims) == 'node "n1" cannot update resource claim statues'
    why = 'unexpected operation "UPDATE", node "n1" can only create and delete mirror pods'
    assert cluster.change(mine, {"metadata": {"labels": {"a": "b"}}}) == why
    binding = {"target": {"kind": "Node", "name": "n1"}}
    why = "unexpected pod subresource \"binding\", only 'status' and 'eviction' are allowed"
    assert cluster.refusal("POST", f"{mine}/binding", binding) == why
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "other"}}
    assert cluster.refusal("POST", f"{other}/eviction", eviction) == f"node n1 can only evict pods {own}"
    assert cluster.refusal("DELETE", other) == f'node "n1" can only delete pods {own}'
    assert cluster.refusal("DELETE", mine) == ""


@pytest.mark.parametrize(
    ("patch", "why"),
    [
        ({"metadata": {"labels": {"kubernetes.io/os": "linux", "x.node.kubernetes.io/a": "b", "a": "b"}}}, ""),
        (
            {"metadata": {"labels": {"a.node-restriction.kubernetes.io/b": "c", "x.k8s.io/t": "y"}}},
            "is not allowed to modify labels: a.node-restriction.kubernetes.io/b, x.k8s.io/t",
        ),
        ({"spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]}}, 'node "n1" is not allowed to modify taints'),
        (
            {"metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": "n2", "uid": "1"}]}},
            'node "n1" is not allowed to modify ownerReferences',
        ),
        (
            {"spec": {"configSource": {"configMap": {"name": "a", "namespace": "b", "kubeletConfigKey": "c"}}}},
            'node "n1" is not allowed to update configSource to a new non-nil configSource',
        ),
    ],
)
def test_a_kubelet_does_not_steer_pods_to_its_node(cluster: NodeCluster, patch: dict[str, Any], why: str) -> None:
    """It changes neither taints nor labels that are not its own."""
    assert cluster.change(f"{NODES}/n1", patch) == why


def test_a_kubelet_writes_only_its_node(cluster: NodeCluster) -> None:
    """No other node, and not with restricted labels when it registers."""
    assert cluster.change(f"{NODES}/n2", {}) == 'node "n1" is not allowed to modify node "n2"'
    cluster.ask("DELETE", f"{NODES}/n1")
    body: dict[str, Any] = {"metadata": {"name": "n1", "labels": {"node-restriction.kubernetes.io/a": "b"}}}
    why = 'node "n1" is not allowed to set the following labels: node-restriction.kubernetes.io/a'
    assert cluster.refusal("POST", NODES, body) == why
    assert cluster.refusal("POST", NODES, {"metadata": {"name": "n1", "labels": {"a": "b"}}}) == ""


def test_a_kubelet_writes_only_objects_of_its_name(cluster: NodeCluster) -> None:
    """Its lease in the namespace of leases, and its CSINode."""
    elsewhere = LEASES.replace("kube-node-lease", "default")
    why = 'can only access leases in the "kube-node-lease" system namespace'
    assert cluster.refusal("POST", elsewhere, {"metadata": {"name": "n1"}}) == why
    why = "can only access node lease with the same name as the requesting node"
    assert cluster.refusal("POST", LEASES, {"metadata": {"name": "n2"}}) == why
    assert cluster.refusal("POST", LEASES, {"metadata": {"name": "n1"}}) == ""
    assert cluster.refusal("DELETE", f"{LEASES}/n1") == ""
    why = "can only access CSINode with the same name as the requesting node"
    assert cluster.refusal("POST", CSI_NODES, {"metadata": {"name": "n2"}, "spec": {"drivers": []}}) == why


def test_a_kubelet_writes_only_slices_of_its_node(cluster: NodeCluster) -> None:
    """Also when it deletes a collection."""
    pool = {"name": "p", "generation": 1, "resourceSliceCount": 1}

    def body(node: str) -> dict[str, Any]:
        spec = {"driver": "d.example.com", "pool": pool, "nodeName": node, "devices": []}
        return {"metadata": {"name": node}, "spec": spec}

    why = "ResourceSlice with the same NodeName as the requesting node"
    assert cluster.refusal("POST", SLICES, body("n2")) == f"can only create {why}"
    assert cluster.refusal("POST", SLICES, body("n1")) == ""
    assert cluster.refusal("DELETE", f"{SLICES}/n1") == ""
    assert cluster.ask("POST", SLICES, body("n2"))[0] == 201
    assert cluster.refusal("DELETE", f"{SLICES}/n2") == f"can only delete {why}"
    assert cluster.refusal("DELETE", SLICES) == f"can only delete {why}"


def test_a_kubelet_reports_the_size_of_claims(cluster: NodeCluster) -> None:
    """Nothing else of a PersistentVolumeClaim."""
    cluster.ask("POST", CLAIMS, claim("c"))
    assert cluster.change(f"{CLAIMS}/c", {"metadata": {"labels": {"a": "b"}}}) == "may only update PVC status"
    assert cluster.change(f"{CLAIMS}/c/status", {"status": {"capacity": {"storage": "1Gi"}}}) == ""
    why = 'node "n1" is not allowed to update fields other than status.quantity and status.conditions'
    assert cluster.change(f"{CLAIMS}/c/status", {"status": {"phase": "Bound"}}) == why


def test_a_kubelet_requests_certificates_of_its_name(cluster: NodeCluster) -> None:
    """The common name is that of its user; a request that cannot be parsed is refused."""
    spec = {"signerName": "kubernetes.io/kubelet-serving", "request": base64.b64encode(b"x").decode()}
    body = {"metadata": {"name": "c"}, "spec": {**spec, "usages": ["server auth"]}}
    found = cluster.refusal("POST", "/apis/certificates.k8s.io/v1/certificatesigningrequests", body)
    assert found == "unable to parse csr: PEM block type must be CERTIFICATE REQUEST"
