"""What a kubelet may do by the Node authorizer."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.apiserver.authz._nodes import Nodes

OWN_PODS = {"rawSelector": "spec.nodeName=n1"}
REQUIRED = {"requirements": [{"key": "spec.nodeName", "operator": "In", "values": ["n1"]}]}


@pytest.mark.parametrize(
    ("access", "why"),
    [
        ("create secrets default/a", "can only read resources of this type"),
        ("list secrets default/", "No Object name found"),
        ("get secrets /a", "can only read namespaced object of this type"),
        ("get configmaps/x default/a", "cannot read subresource"),
        ("list persistentvolumes a", "can only get individual resources of this type"),
        ("get persistentvolumes/status a", "cannot get subresource"),
        ("get persistentvolumeclaims/status default/a", "can only get/update/patch this type"),
        ("delete serviceaccounts default/a", "can only create tokens for individual service accounts"),
        ("create serviceaccounts default/a", "can only create token subresource of serviceaccount"),
        ("watch leases.coordination.k8s.io kube-node-lease/n1", "can only get, create, update, patch, or delete a no"),
        ("get leases.coordination.k8s.io default/n1", 'can only access leases in the "kube-node-lease" system names'),
        ("get leases.coordination.k8s.io kube-node-lease/n2", "can only access node lease with the same name as the r"),
        ("list csinodes.storage.k8s.io", "can only get, create, update, patch, or delete a CSINode"),
        ("get csinodes.storage.k8s.io n2", "can only access CSINode with the same name as the requesting node"),
        ("get csinodes.storage.k8s.io/x n1", "cannot authorize CSINode subresources"),
        ("list resourceslices.resource.k8s.io", "can only list/watch/deletecollection resourceslices with nodeName"),
        ("get resourceslices.resource.k8s.io/x a", "cannot authorize ResourceSlice subresources"),
        ("proxy resourceslices.resource.k8s.io a", "only the following verbs are allowed for a ResourceSlice: get, wa"),
        ("list nodes", "node 'n1' cannot read all nodes, only its own Node object"),
        ("get nodes n2", "node 'n1' cannot read 'n2', only its own Node object"),
        ("delete nodes n1", ""),
        ("get nodes/status n1", ""),
        ("list pods default/", "can only list/watch pods with spec.nodeName field selector"),
        ("update pods default/a", ""),
        ("get pods/log default/a", ""),
        ("create podcertificaterequests.certificates.k8s.io default/a", ""),
        ("get deployments.apps default/a", ""),
        ("delete services default/a", ""),
    ],
)
def test_what_a_node_may_not(access: str, why: str) -> None:
    """The refusal says why, in kube-apiserver's words."""
    reason = Nodes().review(access)
    assert reason is not None
    assert reason.startswith(why)
    assert bool(reason) == bool(why)


@pytest.mark.parametrize(
    ("access", "more"),
    [
        ("create leases.coordination.k8s.io kube-node-lease/", {}),
        ("update leases.coordination.k8s.io kube-node-lease/n1", {}),
        ("create csinodes.storage.k8s.io", {}),
        ("patch csinodes.storage.k8s.io n1", {}),
        ("create resourceslices.resource.k8s.io", {}),
        ("list resourceslices.resource.k8s.io", {"fieldSelector": OWN_PODS}),
        ("create nodes", {}),
        ("patch nodes/status n2", {}),  # the plugin NodeRestriction refuses it
        ("watch nodes n1", {}),
        ("create pods default/", {}),
        ("delete pods default/a", {}),
        ("patch pods/status default/a", {}),
        ("create pods/eviction default/a", {}),
        ("list pods", {"fieldSelector": OWN_PODS}),
        ("watch pods default/", {"fieldSelector": REQUIRED}),
        ("list services", {}),
        ("create events default/", {}),
        ("create tokenreviews.authentication.k8s.io", {}),
    ],
)
def test_what_each_node_may(access: str, more: dict[str, Any]) -> None:
    """A node registers and reports itself, reads its own pods, and has the fixed rules of `system:node`."""
    assert Nodes().review(access, **more) is None


def test_selectors_of_other_nodes_do_not_help() -> None:
    """Only a selector that requires the name of the node restricts a list to its pods."""
    nodes = Nodes()
    for selector in ("spec.nodeName=n2", "spec.nodeName!=n1", "metadata.name=a", "spec.nodeName"):
        assert nodes.review("list pods", fieldSelector={"rawSelector": selector})


def test_a_token_is_requested_for_the_account_of_a_pod() -> None:
    """A node creates tokens for the service accounts of its pods only."""
    nodes = Nodes()
    nodes.create_pod()
    assert nodes.review("create serviceaccounts/token default/sa") is None
    assert nodes.review("create serviceaccounts/token default/other")


def test_other_users_are_not_nodes() -> None:
    """A user outside of `system:nodes`, or with another name, has the rights of its roles only."""
    nodes = Nodes()
    assert nodes.review("list services", user="jane") == ""
    assert nodes.review("list services", user="system:node:") == 'unknown node for user "system:node:"'


def test_a_request_of_a_kubelet() -> None:
    """The field selector of a list is part of the decision, and a refusal ends with the reason."""
    nodes = Nodes()
    kubelet = {"Impersonate-User": "system:node:n1", "Impersonate-Group": "system:nodes"}
    assert nodes("GET", "/api/v1/pods", headers=kubelet, fieldSelector="spec.nodeName=n1")[0] == 200
    code, status = nodes("GET", "/api/v1/pods", headers=kubelet)
    assert code == 403
    assert status["message"] == (
        'pods is forbidden: User "system:node:n1" cannot list resource "pods" in API group "" at the cluster scope: '
        "can only list/watch pods with spec.nodeName field selector"
    )


def test_the_rules_of_a_node_are_not_listed() -> None:
    """A review of rules says that those of a node are incomplete; those of other users are complete."""
    nodes = Nodes()
    path, body = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", {"spec": {"namespace": "default"}}
    kubelet = {"Impersonate-User": "system:node:n1", "Impersonate-Group": "system:nodes"}
    _, review = nodes("POST", path, body, headers=kubelet)
    assert review["status"]["incomplete"] is True
    assert review["status"]["evaluationError"] == "node authorizer does not support user rule resolution"
    _, review = nodes("POST", path, body, headers={"Impersonate-User": "jane"})
    assert review["status"]["incomplete"] is False
