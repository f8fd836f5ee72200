"""Objects that a node may read, because they belong to its pods."""

from __future__ import annotations

import pytest

from tests.unit.apiserver.authz._nodes import ATTACHMENT, CORE, VOLUME, Nodes

UNRELATED = "no relationship found between node 'n1' and this object"
OF_POD = [
    *(f"get secrets default/s-{name}" for name in ("pull", "from", "key", "file", "part")),
    *(f"get configmaps default/c-{name}" for name in ("from", "file", "part")),
    "get persistentvolumeclaims default/claim",
    "get persistentvolumeclaims default/web-e",
    "get serviceaccounts default/sa",
    "get resourceclaims.resource.k8s.io default/gpu-claim",
    "get pods default/web",
]


@pytest.mark.parametrize("access", OF_POD)
def test_a_node_reads_what_its_pod_needs(access: str) -> None:
    """An object that a pod refers to can be read from the binding of the pod to its deletion."""
    nodes = Nodes()
    assert nodes.review(access) == UNRELATED
    nodes.create_pod()
    assert nodes.review(access) is None
    assert nodes.review(access, user="system:node:n2") == UNRELATED.replace("n1", "n2")
    nodes("DELETE", f"{CORE}/pods/web", {"gracePeriodSeconds": 0})
    assert nodes.review(access) == UNRELATED


def test_a_pod_without_a_node_gives_no_access() -> None:
    """A pod that is not scheduled gives access to no node until it is bound to one."""
    nodes = Nodes()
    nodes.create_pod(nodeName="")
    assert nodes.review("get secrets default/s-file") == UNRELATED
    binding = {"metadata": {"name": "web"}, "target": {"kind": "Node", "name": "n1"}}
    assert nodes("POST", f"{CORE}/pods/web/binding", binding)[0] == 201
    assert nodes.review("get secrets default/s-file") is None


def test_objects_of_the_same_name_elsewhere_are_not_related() -> None:
    """Another namespace and another kind have other objects."""
    nodes = Nodes()
    nodes.create_pod()
    assert nodes.review("get secrets other/s-file") == UNRELATED
    assert nodes.review("get configmaps default/s-file") == UNRELATED


def test_an_object_of_two_pods_is_related_until_both_are_gone() -> None:
    """The deletion of one pod takes away nothing that another pod of the node needs."""
    nodes = Nodes()
    nodes.create_pod()
    pod = {
        "nodeName": "n1",
        "containers": [{"name": "c", "image": "i", "envFrom": [{"secretRef": {"name": "s-file"}}]}],
    }
    nodes.create(f"{CORE}/pods", {"metadata": {"name": "other"}, "spec": pod})
    nodes("DELETE", f"{CORE}/pods/web", {"gracePeriodSeconds": 0})
    assert nodes.review("get secrets default/s-file") is None
    nodes("DELETE", f"{CORE}/pods/other", {"gracePeriodSeconds": 0})
    assert nodes.review("get secrets default/s-file") == UNRELATED


def test_a_mirror_pod_gives_access_to_itself_only() -> None:
    """A node creates mirror pods itself, so these give no access to other objects."""
    nodes = Nodes()
    mirror = {"metadata": {"name": "static", "annotations": {"kubernetes.io/config.mirror": "x"}}}
    spec = {"nodeName": "n1", "containers": [{"name": "c", "image": "i", "envFrom": [{"secretRef": {"name": "s"}}]}]}
    nodes.create(f"{CORE}/pods", {**mirror, "spec": spec})
    assert nodes.review("get pods default/static") is None
    assert nodes.review("get secrets default/s") == UNRELATED


def test_a_volume_is_related_through_its_claim() -> None:
    """The volume of a claim, and the secrets with which a node mounts it, follow the claim's pods."""
    nodes = Nodes()
    nodes.create_pod()
    nodes.create("/api/v1/persistentvolumes", VOLUME)
    assert nodes.review("get persistentvolumes volume") is None
    assert nodes.review("get secrets default/s-publish") is None
    assert nodes.review("get secrets default/s-controller") == UNRELATED
    nodes("DELETE", f"{CORE}/pods/web", {"gracePeriodSeconds": 0})
    assert nodes.review("get persistentvolumes volume") == UNRELATED
    assert nodes.review("get secrets default/s-publish") == UNRELATED


def test_an_attachment_is_related_to_its_node() -> None:
    """A node reads the VolumeAttachments that name it."""
    nodes = Nodes()
    nodes.create("/apis/storage.k8s.io/v1/volumeattachments", ATTACHMENT)
    assert nodes.review("get volumeattachments.storage.k8s.io attachment") is None
    assert nodes.review("get volumeattachments.storage.k8s.io other") == UNRELATED
