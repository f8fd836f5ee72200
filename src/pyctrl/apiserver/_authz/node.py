"""Node authorizer: a kubelet reads what its pods need, and has the fixed rules of nodes for the rest.

The rules are those of kube-apiserver's authorization mode Node (plugin/pkg/auth/authorizer/node).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final, TypeAlias

from pyctrl._go.text import quoted
from pyctrl._schemas import load
from pyctrl.api import Access, AccessRule, FieldSelector
from pyctrl.apiserver._authn import User
from pyctrl.apiserver._authz.authorizer import Decision, RoleReference
from pyctrl.apiserver._authz.node_graph import NodeGraph, Vertex
from pyctrl.apiserver._storage.storage import Storage
from pyctrl.apiserver._user import node_of
from pyctrl.errors import SelectorError

__all__ = ["NodeAuthorizer"]


#: Returns why an access of a node is not allowed, which may be no text; None if it is allowed.
_Rule: TypeAlias = Callable[["NodeAuthorizer", str, Access], str | None]
_LEASE_NAMESPACE: Final = "kube-node-lease"
_OWN: Final = ("get", "create", "update", "patch", "delete")
_SLICES: Final = "get, watch, list, create, update, patch, delete, deletecollection"


@lru_cache(maxsize=1)
def _node_rules() -> tuple[AccessRule, ...]:
    """Return the fixed rules of nodes: those of the ClusterRole `system:node`."""
    (role,) = (
        each
        for each in load("rbac_policy")["items"]
        if each["kind"] == "ClusterRole" and each["metadata"]["name"] == "system:node"
    )
    return tuple(AccessRule.read(rule) for rule in role["rules"])


class NodeAuthorizer:
    """Authorizer of the users `system:node:NAME` in the group `system:nodes`; it has no opinion of other users."""

    def __init__(self, storage: Storage) -> None:
        self._graph = NodeGraph(storage)

    def unresolved(self, user: User) -> str:
        """Return why the rules of a node are incomplete."""
        return "" if node_of(user) is None else "node authorizer does not support user rule resolution"

    def rules(self, user: User, namespace: str) -> tuple[list[AccessRule], list[RoleReference]]:
        """Return no rules: those of a node depend on its pods."""
        return [], []

    def decide(self, user: User, access: Access) -> Decision:
        """Decide an access of a node."""
        node = node_of(user)
        if node is None:
            return Decision(is_allowed=False)
        if not node:
            return Decision(is_allowed=False, reason=f"unknown node for user {quoted(user.name)}")
        rule = _RULES.get((access.group, access.resource)) if access.is_resource else None
        if rule is None:
            return Decision(is_allowed=any(each.allows(access) for each in _node_rules()))
        why = rule(self, node, access)
        return Decision(is_allowed=why is None, reason=why or "")

    # -- objects that belong to pods -----------------------------------------------------------------------------

    def related(self, node: str, access: Access) -> str | None:
        """Check that a path leads from the object to the node."""
        if not access.name:
            return "No Object name found"
        if self._graph.has_path(Vertex(access.resource, access.namespace, access.name), node):
            return None
        return f"no relationship found between node '{node}' and this object"

    def get(self, node: str, access: Access) -> str | None:
        """Check that a node gets one object that belongs to its pods."""
        if access.verb != "get":
            return "can only get individual resources of this type"
        if access.subresource:
            return "cannot get subresource"
        return self.related(node, access)

    def read_namespaced(self, node: str, access: Access) -> str | None:
        """Check that a node reads one object, also by a list or watch of its name."""
        if access.verb not in ("get", "list", "watch"):
            return "can only read resources of this type"
        if access.subresource:
            return "cannot read subresource"
        if not access.namespace:
            return "can only read namespaced object of this type"
        return self.related(node, access)

    def claim(self, node: str, access: Access) -> str | None:
        """Check that a node gets the claim of a pod, or reports its status."""
        if access.subresource != "status":
            return self.get(node, access)
        if access.verb not in ("update", "patch"):
            return "can only get/update/patch this type"
        return self.related(node, access)

    def service_account(self, node: str, access: Access) -> str | None:
        """Check that a node reads the account of a pod, or requests a token for it."""
        if access.verb == "get" and not access.subresource:
            return self.read_namespaced(node, access)
        if access.verb != "create" or not access.name:
            return "can only create tokens for individual service accounts"
        if access.subresource != "token":
            return "can only create token subresource of serviceaccount"
        return self.related(node, access)

    # -- objects of the node -------------------------------------------------------------------------------------

    def lease(self, node: str, access: Access) -> str | None:
        """Check that the lease is the node's. The plugin NodeRestriction checks the name of a new one."""
        if access.verb not in _OWN:
            return "can only get, create, update, patch, or delete a node lease"
        if access.namespace != _LEASE_NAMESPACE:
            return f"can only access leases in the {quoted(_LEASE_NAMESPACE)} system namespace"
        if access.verb != "create" and access.name != node:
            return "can only access node lease with the same name as the requesting node"
        return None

    def csi_node(self, node: str, access: Access) -> str | None:
        """Check that the CSINode is the node's. The plugin NodeRestriction checks the name of a new one."""
        if access.verb not in _OWN:
            return "can only get, create, update, patch, or delete a CSINode"
        if access.subresource:
            return "cannot authorize CSINode subresources"
        if access.verb != "create" and access.name != node:
            return "can only access CSINode with the same name as the requesting node"
        return None

    def slice(self, node: str, access: Access) -> str | None:
        """Check that a ResourceSlice is the node's, or that a selection has those of the node only."""
        if access.subresource:
            return "cannot authorize ResourceSlice subresources"
        if access.verb == "create":
            return None
        if access.verb in ("get", "update", "patch", "delete"):
            return self.related(node, access)
        if access.verb not in ("watch", "list", "deletecollection"):
            return f"only the following verbs are allowed for a ResourceSlice: {_SLICES}"
        if _selects(access, node):
            return None
        return "can only list/watch/deletecollection resourceslices with nodeName field selector"

    def node(self, node: str, access: Access) -> str | None:
        """Check that a node reads itself only. The plugin NodeRestriction checks its writes."""
        if access.subresource == "status":
            return None if access.verb in ("update", "patch") else ""
        if access.subresource or access.verb not in ("create", "update", "patch", "get", "list", "watch"):
            return ""
        if access.name == node or access.verb in ("create", "update", "patch"):
            return None
        what = f"read '{access.name}'" if access.name else "read all nodes"
        return f"node '{node}' cannot {what}, only its own Node object"

    def pod(self, node: str, access: Access) -> str | None:
        """Check that a node reads its own pods only. The plugin NodeRestriction checks its writes."""
        if access.subresource or access.verb in ("create", "delete"):
            written = {"": ("create", "delete"), "status": ("update", "patch"), "eviction": ("create",)}
            return None if access.verb in written.get(access.subresource, ()) else ""
        if access.verb == "get":
            return self.get(node, access)
        if access.verb not in ("list", "watch"):
            return ""
        if _selects(access, node):
            return None
        return (
            self.related(node, access) if access.name else "can only list/watch pods with spec.nodeName field selector"
        )


def _selects(access: Access, node: str) -> bool:
    """Return whether a field selector requires the name of a node."""
    try:
        requirements = FieldSelector.parse(access.field_selector).requirements
    except SelectorError:
        return False
    return any((each.field, each.operator, each.value) == ("spec.nodeName", "=", node) for each in requirements)


def _no_opinion(authorizer: NodeAuthorizer, node: str, access: Access) -> str | None:
    """Allow nothing: the feature PodCertificateRequest is off by default."""
    return ""


_RULES: Mapping[tuple[str, str], _Rule] = {
    ("", "secrets"): NodeAuthorizer.read_namespaced,
    ("", "configmaps"): NodeAuthorizer.read_namespaced,
    ("", "persistentvolumeclaims"): NodeAuthorizer.claim,
    ("", "persistentvolumes"): NodeAuthorizer.get,
    ("", "serviceaccounts"): NodeAuthorizer.service_account,
    ("", "nodes"): NodeAuthorizer.node,
    ("", "pods"): NodeAuthorizer.pod,
    ("resource.k8s.io", "resourceclaims"): NodeAuthorizer.get,
    ("resource.k8s.io", "resourceslices"): NodeAuthorizer.slice,
    ("storage.k8s.io", "volumeattachments"): NodeAuthorizer.get,
    ("storage.k8s.io", "csinodes"): NodeAuthorizer.csi_node,
    ("coordination.k8s.io", "leases"): NodeAuthorizer.lease,
    ("certificates.k8s.io", "podcertificaterequests"): _no_opinion,
}
