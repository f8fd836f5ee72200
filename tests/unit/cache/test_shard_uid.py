"""The uid by which an object is selected: its own, or that of its only owner."""

from __future__ import annotations

import pytest

from pyctrl.api import HASH_SPACE, LabelSelector, OwnerReference, ShardRange, hash_field
from pyctrl.cache._shard_uid import (
    SHARD_LABEL,
    SHARED,
    SLOTS,
    shard_label,
    shard_label_selector,
    shard_uid,
    slot_of_uid,
)

KINDS = {("apps", "Deployment"), ("", "ConfigMap")}


def reference(api_version: str, kind: str, uid: str, *, controller: bool | None = None) -> OwnerReference:
    """An owner reference."""
    return OwnerReference(api_version=api_version, kind=kind, name="owner", uid=uid, controller=controller)


@pytest.mark.parametrize(
    ("owners", "expected"),
    [
        ([reference("apps/v1", "Deployment", "d", controller=True)], "d"),
        ([reference("apps/v1beta1", "Deployment", "d")], "d"),
        ([reference("v1", "ConfigMap", "c")], "c"),
        ([], SHARED),
        ([reference("example.com/v1", "Deployment", "d", controller=True)], SHARED),
        ([reference("apps/v1", "ReplicaSet", "r", controller=True)], SHARED),
        ([reference("apps/v1", "Deployment", "d", controller=True), reference("v1", "Pod", "p")], SHARED),
        ([reference("apps/v1", "Deployment", "d", controller=True), reference("v1", "ConfigMap", "c")], SHARED),
    ],
)
def test_an_object_with_one_owner_of_a_kind_is_selected_by_it(owners: list[OwnerReference], expected: str) -> None:
    """The uid is the owner's, in any version of its kind; without such an owner, or with several, it is shared."""
    assert shard_uid("own", owners, KINDS) == expected


def test_without_kinds_an_object_is_selected_by_its_own_uid() -> None:
    """Owners do not count where objects are not selected by them."""
    assert shard_uid("own", [reference("apps/v1", "Deployment", "d")], ()) == "own"


# --- labels ---

WIDTH = HASH_SPACE // SLOTS


def slots(first: int, end: int) -> ShardRange:
    """Return the range of some slots."""
    return ShardRange(first * WIDTH, end * WIDTH)


def test_the_label_is_the_slot() -> None:
    """Its value is the number of the slot, so that it never changes while the object exists; "all" if it is shared."""
    uid = "00000000-0000-0000-0000-000000000000"
    assert (shard_label(uid), shard_label(SHARED)) == ("496", "all")
    assert hash_field(uid) in slots(496, 497)


@pytest.mark.parametrize(
    ("ranges", "expected"),
    [
        ([slots(0, 1), slots(5, 7)], f"{SHARD_LABEL} in (0,5,6,all)"),
        ([ShardRange(5 * WIDTH + 1, 6 * WIDTH + 1)], f"{SHARD_LABEL} in (5,6,all)"),
        ([slots(2, SLOTS)], f"{SHARD_LABEL},{SHARD_LABEL} notin (0,1)"),
        ([slots(0, SLOTS)], SHARD_LABEL),
    ],
)
def test_the_selector_names_the_fewer_slots(ranges: list[ShardRange], expected: str) -> None:
    """Slots are selected by name, or all but some; a slot of which only a part is in the ranges is selected, too."""
    assert shard_label_selector(ranges) == expected


@pytest.mark.parametrize("has_shared", [True, False])
def test_the_selector_selects_exactly_the_slots(has_shared: bool) -> None:
    """Objects of any number of slots match, others do not, and none does without the label. The text is short."""
    for count in (1, 400, 512, 513, 1023, 1024):
        chosen = range(SLOTS) if count == SLOTS else [slot * 7 % SLOTS for slot in range(count)]
        text = shard_label_selector([slots(slot, slot + 1) for slot in chosen], has_shared=has_shared)
        selector = LabelSelector.parse(text)
        matching = {slot for slot in range(SLOTS) if selector.matches({SHARD_LABEL: str(slot)})}
        assert matching == {*chosen}
        assert selector.matches({SHARD_LABEL: "all"}) is has_shared
        assert not selector.matches({})
        assert len(text) < 2600


def test_slots_are_the_first_bits_of_the_hash() -> None:
    """The slot of a uid is the one whose hash range has the hash of the uid."""
    assert all(hash_field(uid) in slots(slot_of_uid(uid), slot_of_uid(uid) + 1) for uid in map(str, range(100)))
