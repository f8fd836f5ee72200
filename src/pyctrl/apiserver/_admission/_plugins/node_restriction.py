"""Admission plugin NodeRestriction: a kubelet writes its own Node, and objects of pods that run there."""

from __future__ import annotations

import binascii
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from pyctrl._certificate_requests import NoCryptography, parse_request
from pyctrl._go.text import quoted
from pyctrl.apiserver._admission._plugins.node_restriction_tokens import TokenRestriction
from pyctrl.apiserver._admission.attributes import CONNECT, CREATE, DELETE, UPDATE, Attributes
from pyctrl.apiserver._errors import not_found
from pyctrl.apiserver._meta.pod_references import api_reference
from pyctrl.apiserver._user import node_of

if TYPE_CHECKING:
    from pyctrl.apiserver._authz import Authorizer
    from pyctrl.apiserver._storage.storage import Storage

__all__ = ["NodeRestriction"]


#: Returns why a node may not make a write; "" if it may.
_Check: TypeAlias = Callable[[Attributes, str], str]
_MIRROR: Final = "kubernetes.io/config.mirror"
_SIGNERS: Final = ("kubernetes.io/kubelet-serving", "kubernetes.io/kube-apiserver-client-kubelet")
_RESTRICTED: Final = "node-restriction.kubernetes.io"
_KUBELET_NAMESPACES: Final = ("kubelet.kubernetes.io", "node.kubernetes.io")
_KUBELET_LABELS: Final = frozenset(
    (
        "kubernetes.io/hostname",
        "topology.kubernetes.io/zone",
        "topology.kubernetes.io/region",
        "failure-domain.beta.kubernetes.io/zone",
        "failure-domain.beta.kubernetes.io/region",
        "beta.kubernetes.io/instance-type",
        "node.kubernetes.io/instance-type",
        "kubernetes.io/os",
        "kubernetes.io/arch",
        "beta.kubernetes.io/os",
        "beta.kubernetes.io/arch",
    )
)


class NodeRestriction:
    """Plugin that restricts the writes of `system:node:NAME`, as a member of `system:nodes`."""

    def __init__(self, storage: Storage, authorizer: Authorizer) -> None:
        self._pods, self._nodes = storage.collection("", "pods"), storage.collection("", "nodes")
        self._tokens = TokenRestriction(storage, authorizer)
        self._checks: Mapping[tuple[str, str], _Check] = {
            ("", "pods"): self._pod,
            ("", "nodes"): _node,
            ("", "persistentvolumeclaims"): _claim,
            ("", "serviceaccounts"): self._tokens.check,
            ("coordination.k8s.io", "leases"): _lease,
            ("storage.k8s.io", "csinodes"): _csi_node,
            ("resource.k8s.io", "resourceslices"): _slice,
            ("certificates.k8s.io", "certificatesigningrequests"): _signing_request,
        }

    def handles(self, group: str, resource: str) -> bool:
        """Return whether nodes write objects of the resource."""
        return (group, resource) in self._checks

    def mutate(self, attributes: Attributes) -> None:
        """Reject (403) what a node may not write; a pod or node that does not exist is an error (404)."""
        node = node_of(attributes.user)
        if node is None or attributes.operation == CONNECT:
            return
        why = f"could not determine node from user {quoted(attributes.user.name)}"
        if node:
            target = attributes.request.target
            why = self._checks[target.group, target.resource](attributes, node)
        if why:
            raise attributes.forbidden(why)

    def validate(self, attributes: Attributes) -> None:
        """Do nothing."""

    def _pod(self, attributes: Attributes, node: str) -> str:
        subresource, operation = attributes.subresource, attributes.operation
        if subresource == "status":
            return _pod_status(attributes, node) if operation == UPDATE else f"unexpected operation {quoted(operation)}"
        if subresource == "eviction":
            if self._node_of_pod(attributes) != node:
                return f"node {node} can only evict pods with spec.nodeName set to itself"
            return ""
        if subresource:
            return f"unexpected pod subresource {quoted(subresource)}, only 'status' and 'eviction' are allowed"
        if operation == CREATE:
            return self._new_pod(attributes.object or {}, node)
        if operation == DELETE:
            if self._node_of_pod(attributes) != node:
                return f"node {quoted(node)} can only delete pods with spec.nodeName set to itself"
            return ""
        return f"unexpected operation {quoted(operation)}, node {quoted(node)} can only create and delete mirror pods"

    def _node_of_pod(self, attributes: Attributes) -> str:
        stored = self._pods.find(attributes.namespace, attributes.name)
        if stored is None:
            raise not_found("pod", attributes.name)
        return str(stored.decode()["spec"].get("nodeName") or "")

    def _new_pod(self, pod: Mapping[str, Any], node: str) -> str:
        who, metadata = f"node {quoted(node)}", pod["metadata"]
        if _MIRROR not in (metadata.get("annotations") or {}):
            return f"pod does not have {quoted(_MIRROR)} annotation, {who} can only create mirror pods"
        if pod["spec"].get("nodeName") != node:
            return f"{who} can only create pods with spec.nodeName set to itself"
        owners = metadata.get("ownerReferences") or []
        if len(owners) > 1:
            return f"{who} can only create pods with a single owner reference set to itself"
        if why := self._owner(owners[0] if owners else {}, node):
            return why
        reference = api_reference(pod["spec"])
        return f"{who} can not create pods that reference {reference}" if reference else ""

    def _owner(self, owner: Mapping[str, Any], node: str) -> str:
        who = f"node {quoted(node)}"
        if (owner.get("apiVersion"), owner.get("kind"), owner.get("name")) != ("v1", "Node", node):
            return f"{who} can only create pods with an owner reference set to itself"
        if not owner.get("controller"):
            return f"{who} can only create pods with a controller owner reference set to itself"
        if owner.get("blockOwnerDeletion"):
            return f"{who} must not set blockOwnerDeletion on an owner reference"
        stored = self._nodes.find("", node)
        if stored is None:
            raise not_found("node", node)
        uid = stored.decode()["metadata"]["uid"]
        return "" if owner.get("uid") == uid else f"node {node} UID mismatch: expected {owner.get('uid')} got {uid}"


def _pod_status(attributes: Attributes, node: str) -> str:
    new, old, who = attributes.object or {}, attributes.old or {}, f"node {quoted(node)}"
    if old["spec"].get("nodeName") != node:
        return f"{who} can only update pod status for pods with spec.nodeName set to itself"
    if (new["metadata"].get("labels") or {}) != (old["metadata"].get("labels") or {}):
        return f"{who} cannot update labels through pod status"
    status, before = new.get("status") or {}, old.get("status") or {}
    if (status.get("resourceClaimStatuses") or []) != (before.get("resourceClaimStatuses") or []):
        return f"{who} cannot update resource claim statues"  # upstream's word
    if status.get("extendedResourceClaimStatus") != before.get("extendedResourceClaimStatus"):
        return f"{who} cannot update extended resource claim status"
    return ""


def _node(attributes: Attributes, node: str) -> str:
    new, old, name = attributes.object or {}, attributes.old or {}, _name(attributes)
    if name != node:
        return f"node {quoted(node)} is not allowed to modify node {quoted(name)}"
    if attributes.operation == CREATE:
        if (new.get("spec") or {}).get("configSource") is not None:
            return f"node {quoted(node)} is not allowed to create pods with a non-nil configSource"
        labels = ", ".join(_forbidden_labels(new, {}))
        return f"node {quoted(node)} is not allowed to set the following labels: {labels}" if labels else ""
    return _node_update(new, old, node) if attributes.operation == UPDATE else ""


def _node_update(new: Mapping[str, Any], old: Mapping[str, Any], node: str) -> str:
    spec, before = new.get("spec") or {}, old.get("spec") or {}
    if spec.get("configSource") not in (None, before.get("configSource")):
        return f"node {quoted(node)} is not allowed to update configSource to a new non-nil configSource"
    if (spec.get("taints") or []) != (before.get("taints") or []):
        return f"node {quoted(node)} is not allowed to modify taints"
    if (new["metadata"].get("ownerReferences") or []) != (old["metadata"].get("ownerReferences") or []):
        return f"node {quoted(node)} is not allowed to modify ownerReferences"
    labels = ", ".join(_forbidden_labels(new, old))
    return f"is not allowed to modify labels: {labels}" if labels else ""


def _forbidden_labels(new: Mapping[str, Any], old: Mapping[str, Any]) -> list[str]:
    """Return the changed labels that steer pods or are Kubernetes' own."""
    after, before = ((each.get("metadata") or {}).get("labels") or {} for each in (new, old))
    changed = {key for key in (*after, *before) if key not in after or after[key] != before.get(key)}
    return sorted(filter(_is_forbidden, changed))


def _is_forbidden(label: str) -> bool:
    namespace = label.partition("/")[0] if "/" in label else ""
    if _is_within(namespace, _RESTRICTED):
        return True
    if not (_is_within(namespace, "kubernetes.io") or _is_within(namespace, "k8s.io")):
        return False
    return label not in _KUBELET_LABELS and not any(_is_within(namespace, each) for each in _KUBELET_NAMESPACES)


def _is_within(namespace: str, domain: str) -> bool:
    return namespace == domain or namespace.endswith(f".{domain}")


def _claim(attributes: Attributes, node: str) -> str:
    if attributes.subresource != "status":
        return "may only update PVC status"
    if attributes.operation != UPDATE:
        return f"unexpected operation {quoted(attributes.operation)}"
    if _fixed(attributes.object or {}) == _fixed(attributes.old or {}):
        return ""
    return f"node {quoted(node)} is not allowed to update fields other than status.quantity and status.conditions"


def _fixed(claim: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a claim that a node may not change."""
    free = ("capacity", "conditions", "allocatedResourceStatuses", "allocatedResources")
    status = {key: value for key, value in (claim.get("status") or {}).items() if key not in free}
    hidden = ("resourceVersion", "managedFields")
    metadata = {key: value for key, value in claim["metadata"].items() if key not in hidden}
    return {"spec": claim.get("spec"), "metadata": metadata, "status": status}


def _slice(attributes: Attributes, node: str) -> str:
    written = attributes.object
    if attributes.operation == DELETE and attributes.stored is not None:
        written = attributes.stored.decode()
    if attributes.operation == UPDATE or written is None or written["spec"].get("nodeName") == node:
        return ""
    verb = attributes.operation.lower()
    return f"can only {verb} ResourceSlice with the same NodeName as the requesting node"


def _lease(attributes: Attributes, node: str) -> str:
    if attributes.namespace != "kube-node-lease":
        return 'can only access leases in the "kube-node-lease" system namespace'
    return "" if _name(attributes) == node else "can only access node lease with the same name as the requesting node"


def _csi_node(attributes: Attributes, node: str) -> str:
    return "" if _name(attributes) == node else "can only access CSINode with the same name as the requesting node"


def _name(attributes: Attributes) -> str:
    metadata: Mapping[str, Any] = (attributes.object or {}).get("metadata") or {}
    return attributes.name or str(metadata.get("name") or "")


def _signing_request(attributes: Attributes, node: str) -> str:
    if attributes.operation != CREATE or attributes.object is None:
        return ""
    spec = attributes.object["spec"]
    if spec.get("signerName") not in _SIGNERS:
        return ""
    try:
        request = parse_request(binascii.a2b_base64(spec.get("request") or ""))
    except ValueError as error:
        return f"unable to parse csr: {error}"
    except NoCryptography:  # then no certificate is issued either
        return ""
    name = f"system:node:{node}"
    return "" if request.common_name == name else f"can only create a node CSR with CN={name}"
