"""The admission plugin NodeRestriction; the messages are those of a kube-apiserver 1.36."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

import pytest

from pyctrl.apiserver import User
from tests.unit.apiserver._kit import MERGE, Asker
from tests.unit.apiserver.admission.plugins._admitted import CLAIMS, NAMESPACE, PODS, asking, claim, pod

NODES, LEASES = "/api/v1/nodes", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
CSI_NODES, SLICES = "/apis/storage.k8s.io/v1/csinodes", "/apis/resource.k8s.io/v1/resourceslices"
DRIVERS = "/apis/storage.k8s.io/v1/csidrivers"
TOKEN = f"{NAMESPACE}/serviceaccounts/sa/token"
ONLY = "node requested token"


class Cluster:
    """A server with the nodes n1 and n2, asked by an administrator or by the kubelet of n1."""

    def __init__(self) -> None:
        self.ask: Asker = asking("NodeRestriction")
        self.tokens = {
            name: self.ask.server.issue_token(User(name=f"system:node:{name}", groups=("system:nodes",)))
            for name in ("n1", "")
        }
        self.uids = {
            name: self.ask("POST", NODES, {"metadata": {"name": name}})[1]["metadata"]["uid"] for name in ("n1", "n2")
        }
        self.ask("POST", "/api/v1/namespaces", {"metadata": {"name": "kube-node-lease"}})
        self.ask("POST", f"{NAMESPACE}/serviceaccounts", {"metadata": {"name": "sa"}})

    def refusal(
        self, method: str, path: str, body: Any = None, *, headers: Mapping[str, str] | None = None, node: str = "n1"
    ) -> str:
        """Ask as a kubelet; return why the request was refused, or ""."""
        headers = {"Authorization": f"Bearer {self.tokens[node]}", **(headers or {})}
        code, answer = self.ask(method, path, body, headers=headers)
        return str(answer["message"]).partition(" is forbidden: ")[2] or str(answer["message"]) if code >= 400 else ""

    def change(self, path: str, patch: Any) -> str:
        """Merge a patch as the kubelet of n1."""
        return self.refusal("PATCH", path, patch, headers=MERGE)

    def bound_pod(self, name: str, node: str, **spec: Any) -> str:
        """Create a pod on a node; return its uid."""
        code, made = self.ask("POST", PODS, pod(name, nodeName=node, serviceAccountName="sa", **spec))
        assert code == 201, made
        return str(made["metadata"]["uid"])

    def mirror_pod(self, *, owner: Any = None, annotated: bool = True, **spec: Any) -> dict[str, Any]:
        """Return a mirror pod of n1."""
        owners = [{"apiVersion": "v1", "kind": "Node", "name": "n1", "uid": self.uids["n1"], "controller": True}]
        made = pod("mirror", **{"nodeName": "n1", **spec})
        made["metadata"]["ownerReferences"] = owners if owner is None else [{**owners[0], **each} for each in owner]
        made["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "x"} if annotated else {}
        return made


@pytest.fixture
def cluster() -> Cluster:
    return Cluster()


def test_other_users_are_not_restricted(cluster: Cluster) -> None:
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
def test_a_kubelet_creates_only_its_mirror_pods(cluster: Cluster, changes: dict[str, Any], why: str) -> None:
    """They are marked, bound to the node and owned by it."""
    assert cluster.refusal("POST", PODS, cluster.mirror_pod(**changes)) == why.replace("UID-1", cluster.uids["n1"])


@pytest.mark.parametrize(
    ("spec", "resource"),
    [
        ({"serviceAccountName": "sa"}, "serviceaccounts"),
        ({"imagePullSecrets": [{"name": "a"}]}, "secrets"),
        ({"containers": [{"name": "c", "image": "i", "envFrom": [{"secretRef": {"name": "a"}}]}]}, "secrets"),
        ({"containers": [{"name": "c", "image": "i", "envFrom": [{"configMapRef": {"name": "a"}}]}]}, "configmaps"),
        ({"resourceClaims": [{"name": "a", "resourceClaimName": "b"}]}, "resourceclaims"),
        ({"volumes": [{"name": "v", "secret": {"secretName": "a"}}]}, "secrets"),
        ({"volumes": [{"name": "v", "csi": {"driver": "d"}}]}, "csidrivers (via CSI volumes)"),
        ({"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "a"}}]}, "persistentvolumeclaims"),
        (
            {"volumes": [{"name": "v", "projected": {"sources": [{"serviceAccountToken": {"path": "a"}}]}}]},
            "serviceaccounts (via projected volumes)",
        ),
        ({"volumes": [{"name": "v", "emptyDir": {}}, {"name": "w", "hostPath": {"path": "/"}}]}, ""),
    ],
)
def test_a_mirror_pod_refers_to_no_objects(cluster: Cluster, spec: dict[str, Any], resource: str) -> None:
    """Not to those that the kubelet could read with its help."""
    found = cluster.refusal("POST", PODS, cluster.mirror_pod(**spec))
    assert found == (f'node "n1" can not create pods that reference {resource}' if resource else "")


def test_a_kubelet_writes_only_the_status_of_its_pods(cluster: Cluster) -> None:
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
def test_a_kubelet_does_not_steer_pods_to_its_node(cluster: Cluster, patch: dict[str, Any], why: str) -> None:
    """It changes neither taints nor labels that are not its own."""
    assert cluster.change(f"{NODES}/n1", patch) == why


def test_a_kubelet_writes_only_its_node(cluster: Cluster) -> None:
    """No other node, and not with restricted labels when it registers."""
    assert cluster.change(f"{NODES}/n2", {}) == 'node "n1" is not allowed to modify node "n2"'
    cluster.ask("DELETE", f"{NODES}/n1")
    body: dict[str, Any] = {"metadata": {"name": "n1", "labels": {"node-restriction.kubernetes.io/a": "b"}}}
    why = 'node "n1" is not allowed to set the following labels: node-restriction.kubernetes.io/a'
    assert cluster.refusal("POST", NODES, body) == why
    assert cluster.refusal("POST", NODES, {"metadata": {"name": "n1", "labels": {"a": "b"}}}) == ""


def test_a_kubelet_writes_only_objects_of_its_name(cluster: Cluster) -> None:
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


def test_a_kubelet_writes_only_slices_of_its_node(cluster: Cluster) -> None:
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


def test_a_kubelet_reports_the_size_of_claims(cluster: Cluster) -> None:
    """Nothing else of a PersistentVolumeClaim."""
    cluster.ask("POST", CLAIMS, claim("c"))
    assert cluster.change(f"{CLAIMS}/c", {"metadata": {"labels": {"a": "b"}}}) == "may only update PVC status"
    assert cluster.change(f"{CLAIMS}/c/status", {"status": {"capacity": {"storage": "1Gi"}}}) == ""
    why = 'node "n1" is not allowed to update fields other than status.quantity and status.conditions'
    assert cluster.change(f"{CLAIMS}/c/status", {"status": {"phase": "Bound"}}) == why


def test_a_kubelet_requests_tokens_of_its_pods(cluster: Cluster) -> None:
    """For audiences that a volume of the pod names, or that the kubelet is allowed to request."""
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


def test_a_kubelet_requests_certificates_of_its_name(cluster: Cluster) -> None:
    """The common name is that of its user; a request that cannot be parsed is refused."""
    spec = {"signerName": "kubernetes.io/kubelet-serving", "request": base64.b64encode(b"x").decode()}
    body = {"metadata": {"name": "c"}, "spec": {**spec, "usages": ["server auth"]}}
    found = cluster.refusal("POST", "/apis/certificates.k8s.io/v1/certificatesigningrequests", body)
    assert found == "unable to parse csr: PEM block type must be CERTIFICATE REQUEST"
