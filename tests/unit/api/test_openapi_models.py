"""Models of kubernetes_asyncio in owner references, with finalizers, and as objects."""

from __future__ import annotations

from kubernetes_asyncio.client import V1ConfigMap, V1Deployment, V1ObjectMeta, V1OwnerReference

from pyctrl.api import (
    Key,
    ObjectMeta,
    add_finalizer,
    as_object,
    controller_of,
    has_finalizer,
    has_owner_reference,
    is_controlled_by,
    is_deleting,
    is_openapi_model,
    reference_to,
    remove_finalizer,
    remove_owner_reference,
    set_controller_reference,
    set_owner_reference,
)
from pyctrl.kinds.core.v1 import ConfigMap

META = {"name": "owner", "namespace": "default", "uid": "1"}
WIRE = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "name": "owner",
    "uid": "1",
    "controller": True,
    "blockOwnerDeletion": True,
}


def deployment() -> V1Deployment:
    """Return an owner; its apiVersion and kind are None, as in a list of the library."""
    return V1Deployment(metadata=V1ObjectMeta(name="owner", namespace="default", uid="1"))


def test_a_model_owns_a_model() -> None:
    """The reference is the library's class, in the metadata that the program holds; a second call changes nothing."""
    metadata = V1ObjectMeta(name="a", namespace="default")
    owned = V1ConfigMap(metadata=metadata)

    assert set_controller_reference(deployment(), owned)
    assert not set_controller_reference(deployment(), owned)
    assert owned.metadata is metadata
    assert isinstance(metadata.owner_references[0], V1OwnerReference)
    assert as_object(owned).to_wire()["metadata"]["ownerReferences"] == [WIRE]
    assert is_controlled_by(owned, deployment())
    assert has_owner_reference(owned, deployment())
    found = controller_of(owned)
    assert found is not None
    assert found.to_wire() == WIRE

    assert remove_owner_reference(deployment(), owned)
    assert owned.metadata.owner_references == []


def test_a_model_owns_an_object_of_pyctrl_and_is_owned_by_one() -> None:
    """Owner and owned may be of different libraries."""
    ours = ConfigMap(metadata=ObjectMeta(name="ours", namespace="default"))
    assert set_owner_reference(deployment(), ours)
    assert ours.metadata.owner_references[0].kind == "Deployment"

    owner = ConfigMap(metadata=ObjectMeta(name="owner", namespace="default", uid="2"))
    theirs = V1ConfigMap(metadata=V1ObjectMeta(name="a", namespace="default"))
    assert set_controller_reference(owner, theirs)
    assert theirs.metadata.owner_references[0].uid == "2"


def test_finalizers_of_a_model() -> None:
    """Finalizers are added to the metadata of a model and removed from it, also when it had none."""
    obj = V1ConfigMap(metadata=V1ObjectMeta(name="a"))
    assert not has_finalizer(obj, "demo.test/a")
    assert add_finalizer(obj, "demo.test/a")
    assert not add_finalizer(obj, "demo.test/a")
    assert obj.metadata.finalizers == ["demo.test/a"]
    assert remove_finalizer(obj, "demo.test/a")
    assert obj.metadata.finalizers == []
    assert not is_deleting(obj)


def test_metadata_is_made_where_there_is_none() -> None:
    """A model without metadata gets some of the library's class."""
    obj = V1ConfigMap()
    assert add_finalizer(obj, "demo.test/a")
    assert isinstance(obj.metadata, V1ObjectMeta)


def test_keys_and_references() -> None:
    """A model has a key, empty without metadata, and can be referred to, as in Events."""
    assert Key.of(deployment()) == Key("default", "owner")
    assert Key.of(V1ConfigMap()) == Key("", "")
    assert reference_to(deployment()) == {"apiVersion": "apps/v1", "kind": "Deployment", **META}


def test_other_objects_are_no_models() -> None:
    """Neither pyctrl's objects nor dicts are models; `as_object` returns the former as they are."""
    obj = ConfigMap(metadata=ObjectMeta(name="a"))
    assert is_openapi_model(deployment())
    assert not is_openapi_model(obj)
    assert not is_openapi_model({})
    assert as_object(obj) is obj
