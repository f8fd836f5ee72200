"""Owner references, finalizers and conditions."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from pyctrl import _clock
from pyctrl.api import (
    Condition,
    GroupVersionKind,
    Unstructured,
    add_finalizer,
    controller_of,
    find_condition,
    has_finalizer,
    has_owner_reference,
    is_condition_false,
    is_condition_true,
    is_controlled_by,
    is_deleting,
    remove_condition,
    remove_finalizer,
    remove_owner_reference,
    set_condition,
    set_controller_reference,
    set_owner_reference,
)
from pyctrl.errors import AlreadyOwned, CrossNamespaceOwner
from pyctrl.kinds.apps.v1 import DeploymentCondition


def thing(
    name: str, *, kind: str = "Thing", version: str = "v1", namespace: str = "default", uid: str = ""
) -> Unstructured:
    """Return an object with a uid."""
    obj = Unstructured.new(GroupVersionKind("example.com", version, kind), name=name, namespace=namespace)
    obj.metadata.uid = uid or f"uid-{name}"
    return obj


def test_controller_reference_names_the_owner() -> None:
    """The controller reference has kind, name, uid and both flags; setting it again reports no change."""
    owner, child = thing("owner"), thing("child")
    assert set_controller_reference(owner, child) is True
    assert set_controller_reference(owner, child) is False
    assert [ref.to_wire() for ref in child.metadata.owner_references] == [
        {
            "apiVersion": "example.com/v1",
            "kind": "Thing",
            "name": "owner",
            "uid": "uid-owner",
            "controller": True,
            "blockOwnerDeletion": True,
        }
    ]
    assert is_controlled_by(child, owner)
    assert controller_of(child) == child.metadata.owner_references[0]


def test_second_controller_is_refused() -> None:
    """A second controller is refused with an error that names the first one."""
    child = thing("child")
    set_controller_reference(thing("first"), child)
    with pytest.raises(AlreadyOwned, match="default/child is already controlled by Thing first"):
        set_controller_reference(thing("second"), child)


def test_owner_of_another_version_or_uid_is_the_same_owner() -> None:
    """An owner is identified by group, kind and name; a new version or uid replaces the reference."""
    child = thing("child")
    set_controller_reference(thing("owner", version="v1"), child)
    assert set_controller_reference(thing("owner", version="v2", uid="new"), child) is True
    assert [(ref.api_version, ref.uid) for ref in child.metadata.owner_references] == [("example.com/v2", "new")]


def test_plain_owners_may_be_many() -> None:
    """Several non-controller owners can be added and removed one by one."""
    first, second, child = thing("first"), thing("second"), thing("child")
    set_owner_reference(first, child)
    set_owner_reference(second, child)
    assert controller_of(child) is None
    assert has_owner_reference(child, first)
    assert remove_owner_reference(first, child) is True
    assert remove_owner_reference(first, child) is False
    assert [ref.name for ref in child.metadata.owner_references] == ["second"]


def test_owner_in_another_namespace_is_refused() -> None:
    """An owner must be in the same namespace or cluster-scoped."""
    with pytest.raises(CrossNamespaceOwner, match="same namespace"):
        set_owner_reference(thing("owner", namespace="a"), thing("child", namespace="b"))
    with pytest.raises(CrossNamespaceOwner, match="cluster-scoped"):
        set_owner_reference(thing("owner", namespace="a"), thing("child", namespace=""))
    assert set_owner_reference(thing("owner", namespace=""), thing("child", namespace="b"))


def test_owner_must_exist() -> None:
    """An owner without a uid, not yet created, is refused."""
    owner = Unstructured.new(GroupVersionKind("example.com", "v1", "Thing"), name="owner", namespace="default")
    with pytest.raises(ValueError, match="create it before"):
        set_owner_reference(owner, thing("child"))


def test_finalizers_are_a_set_in_order() -> None:
    """Adding or removing a finalizer twice changes nothing the second time."""
    obj = thing("a")
    assert [add_finalizer(obj, "x/y"), add_finalizer(obj, "x/y")] == [True, False]
    assert has_finalizer(obj, "x/y")
    assert [remove_finalizer(obj, "x/y"), remove_finalizer(obj, "x/y")] == [True, False]
    assert not is_deleting(obj)
    obj.metadata.deletion_timestamp = datetime(2026, 1, 1, tzinfo=UTC)
    assert is_deleting(obj)


def test_transition_time_moves_only_with_the_status() -> None:
    """A new reason or message keeps the transition time; a new status updates it."""
    start = datetime(2026, 1, 1, tzinfo=UTC)
    conditions: list[Condition] = []
    with _clock.use(lambda: start):
        assert set_condition(conditions, Condition(type="Ready", status="False", reason="Starting"))
    with _clock.use(lambda: start + timedelta(minutes=1)):
        assert not set_condition(conditions, Condition(type="Ready", status="False", reason="Starting"))
        assert set_condition(conditions, Condition(type="Ready", status="False", reason="Waiting", message="m"))
        assert conditions[0].last_transition_time == start
        assert set_condition(conditions, Condition(type="Ready", status="True", reason="Done", observed_generation=3))
    assert conditions[0].last_transition_time == start + timedelta(minutes=1)
    assert is_condition_true(conditions, "Ready")
    assert (conditions[0].reason, conditions[0].message, conditions[0].observed_generation) == ("Done", "", 3)


def test_given_transition_time_is_kept() -> None:
    """A given transition time is used when the status changes."""
    given = datetime(2020, 1, 1, tzinfo=UTC)
    conditions: list[Condition] = []
    set_condition(conditions, Condition(type="A", status="True", last_transition_time=given))
    assert find_condition(conditions, "A") == conditions[0]
    assert conditions[0].last_transition_time == given
    assert remove_condition(conditions, "A") is True
    assert remove_condition(conditions, "A") is False
    assert find_condition(conditions, "A") is None


def test_false_is_not_absent() -> None:
    """An unknown or missing condition is neither true nor false."""
    conditions = [Condition(type="A", status="False"), Condition(type="B", status="Unknown")]
    assert [is_condition_false(conditions, name) for name in "ABC"] == [True, False, False]
    assert not any(is_condition_true(conditions, name) for name in "ABC")


def test_conditions_of_built_in_kinds_are_found_too() -> None:
    """The functions that only read take the conditions of a Deployment, and return them with their own type."""
    found = find_condition([DeploymentCondition(type="Available", status="True", reason="Enough")], "Available")
    assert found is not None
    assert found.last_update_time is None  # a field that only conditions of Deployments have
    assert is_condition_true([found], "Available")
    assert not is_condition_false([found], "Progressing")
