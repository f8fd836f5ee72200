"""Shard keys: which slot a text has, alike in all replicas."""

from __future__ import annotations

import json
from collections import Counter
from random import Random
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyctrl.api import ShardRange, ShardSelector
from pyctrl.cache import Record
from pyctrl.controller import SLOTS, all_slots, by_label
from pyctrl.controller._sharding.shard_key import slot_of_text, slot_of_uid, slots_in


def record(**labels: str) -> Record:
    """An object with labels, as the cache stores it."""
    return Record(json.dumps({"metadata": {"labels": labels}}).encode(), "a", "default", "uid-a", 1)


# --- slots of texts ---


def test_slots_are_the_same_in_every_version_and_on_every_platform() -> None:
    """The slots of some texts are fixed values, since replicas of two versions of pyctrl may form one ring."""
    uids = ["00000000-0000-0000-0000-000000000000", "2f1f5d5c-7a3e-4f0b-9d52-0a5a2b7c9e11", ""]
    texts = ["", "default", "kube-system", "default/a", "größe", "\udcff"]

    assert [slot_of_uid(uid) for uid in uids] == UID_SLOTS
    assert [slot_of_text(text) for text in texts] == TEXT_SLOTS


UID_SLOTS = [496, 262, 815]
TEXT_SLOTS = [914, 1018, 374, 888, 979, 824]


def test_a_slot_of_uids_is_a_range_of_their_hashes() -> None:
    """The server's ``shardRange`` of a slot's hashes selects exactly the objects of the slot."""
    random = Random(1)
    for _ in range(300):
        uid = str(UUID(int=random.getrandbits(128)))
        slot = slot_of_uid(uid)
        width = (1 << 64) // SLOTS
        range_ = ShardRange(slot * width, (slot + 1) * width)
        assert ShardSelector((range_,)).matches(uid)


@pytest.mark.parametrize("slot_of", [slot_of_uid, slot_of_text])
def test_objects_are_spread_over_all_slots(slot_of: object) -> None:
    """Of 20 objects for each slot, no slot has more than three times or less than a fifth of that."""
    random = Random(1)
    assert callable(slot_of)
    counts = Counter(slot_of(str(UUID(int=random.getrandbits(128)))) for _ in range(20 * SLOTS))

    assert (len(counts), min(counts.values()) > 4, max(counts.values()) < 60) == (SLOTS, True, True)


def test_names_that_differ_at_their_end_are_spread() -> None:
    """Numbered names such as those of a StatefulSet's Pods have different slots."""
    slots = {slot_of_text(f"default/web-{number}") for number in range(100)}

    assert len(slots) > 80


# --- sets of slots ---


@given(st.sets(st.integers(0, SLOTS - 1)))
def test_the_slots_of_a_set_are_listed_in_order(slots: set[int]) -> None:
    """Each slot of a set is listed once, in ascending order."""
    assert list(slots_in(sum(1 << slot for slot in slots))) == sorted(slots)


def test_the_set_of_all_slots_has_each() -> None:
    """The set of all slots has 1024 slots, from 0."""
    assert list(slots_in(all_slots())) == list(range(1024))


# --- labels ---


def test_a_label_is_a_key() -> None:
    """The key of an object is the value of its label; an object without the label has none."""
    key = by_label("tenant")

    assert (key(record(tenant="red", other="blue")), key(record(other="blue"))) == ("red", "")
