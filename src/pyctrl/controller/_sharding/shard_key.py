"""Shard keys: the text that decides which replica reconciles a request, and the slot that it is hashed into.

A set of slots is an int whose bits are the slots.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from hashlib import blake2b
from typing import TypeAlias

from pyctrl.cache import SLOTS, Record, slot_of_uid

__all__ = ["SLOTS", "ShardBy", "ShardKey", "all_slots", "by_label", "slot_of_text", "slot_of_uid", "slots_in"]

_SHIFT = 64 - (SLOTS.bit_length() - 1)


class ShardBy(Enum):
    """What divides the requests of a controller among replicas."""

    #: The uid of the object: an object that is deleted and created again may have another replica.
    UID = "uid"
    #: The namespace: all objects of one namespace have the same replica. Those without a namespace have one, too.
    NAMESPACE = "namespace"
    #: The cluster: all objects of one cluster of a fleet have the same replica, and only that one connects to it.
    CLUSTER = "cluster"


#: What divides requests: a `ShardBy`, or a function from an object in the cache to a text. The text of an object must
#: not change while the object exists; "" stands for namespace and name.
ShardKey: TypeAlias = ShardBy | Callable[[Record], str]


def by_label(name: str) -> Callable[[Record], str]:
    """Return the shard key that is the value of a label; for objects without it, their namespace and name.

    The label of an object must not change: else two replicas could reconcile the object at once for a moment.
    """

    def value_of(record: Record) -> str:
        return record.labels.get(name, "")

    return value_of


def slot_of_text(text: str) -> int:
    """Return the slot of any other text. FNV-1a would give texts that differ at their end the same slot."""
    return int.from_bytes(blake2b(text.encode(errors="surrogatepass"), digest_size=8).digest()) >> _SHIFT


def all_slots() -> int:
    """Return the set of all slots."""
    return (1 << SLOTS) - 1


def slots_in(slots: int) -> Iterable[int]:
    """Yield the slots of a set, in ascending order."""
    while slots:
        lowest = slots & -slots
        yield lowest.bit_length() - 1
        slots ^= lowest
