"""System fields of metadata: uid, timestamps and generated names (upstream rest.FillObjectMetaSystemFields)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from pyctrl._clock import now

__all__ = [
    "fill_system_fields",
    "generated_name",
    "keep_system_fields",
    "new_uid",
    "omit_empty",
    "timestamp",
    "wipe_system_fields",
]

_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"  # apimachinery's: no vowels, no similar characters
_SUFFIX = 5
_FIXED = 0x4 << 76 | 0x8 << 60  # version 4, variant of RFC 9562
_NOT_FIXED = ~(0xF << 76 | 0xC << 60)
_NAME_LIMIT = 63  # generated names fit a label


def new_uid(random: Random) -> str:
    """Return a random uid (version 4), drawn from `random`."""
    digits = f"{random.getrandbits(128) & _NOT_FIXED | _FIXED:032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def generated_name(prefix: str, random: Random) -> str:
    """Return `metadata.generateName` with a random suffix."""
    return prefix[: _NAME_LIMIT - _SUFFIX] + "".join(random.choices(_ALPHABET, k=_SUFFIX))


class _TimestampCache:
    """Text of the current second, formatted once per second."""

    def __init__(self) -> None:
        self._start = self._end = datetime.max.replace(tzinfo=UTC)
        self._text = ""

    def text(self, moment: datetime) -> str:
        if not self._start <= moment < self._end:
            self._start = moment.astimezone(UTC).replace(microsecond=0)
            self._end = self._start + timedelta(seconds=1)
            self._text = self._start.strftime("%Y-%m-%dT%H:%M:%SZ")
        return self._text


_timestamps = _TimestampCache()


def timestamp(moment: datetime | None = None) -> str:
    """Return a time, by default the current one, as metadata has it: whole seconds in UTC."""
    return _timestamps.text(moment or now())


_OPTIONAL = frozenset({"controller", "blockOwnerDeletion", "deletionGracePeriodSeconds"})  # pointers: zero is a value


def omit_empty(metadata: dict[str, Any]) -> None:
    """Drop fields that Go's ObjectMeta omits: nulls, empty strings, lists and maps."""
    if all(metadata.values()):
        return
    for name, value in list(metadata.items()):
        if value is None or (not value and name not in _OPTIONAL):
            del metadata[name]


_OF_SERVER = frozenset(("uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"))


def wipe_system_fields(metadata: dict[str, Any]) -> None:
    """Drop the system fields that a client set in a new object."""
    for name in _OF_SERVER.intersection(metadata):
        del metadata[name]
    omit_empty(metadata)


def fill_system_fields(metadata: dict[str, Any], random: Random) -> None:
    """Set the system fields of a new object."""
    metadata["creationTimestamp"] = timestamp()
    metadata["uid"] = new_uid(random)


def keep_system_fields(new: dict[str, Any], old: dict[str, Any]) -> None:
    """Restore the system fields that an update must not change."""
    if "creationTimestamp" in old:
        new["creationTimestamp"] = old["creationTimestamp"]
    else:  # an object that the storage of an extension API server computes
        new.pop("creationTimestamp", None)
    for name in ("uid", "generation"):
        if name in old and (name == "generation" or not new.get(name)):
            new[name] = old[name]
    if "generation" not in old:
        new.pop("generation", None)
    if "deletionTimestamp" in old:
        new["deletionTimestamp"] = old["deletionTimestamp"]
        if new.get("deletionGracePeriodSeconds") is None and "deletionGracePeriodSeconds" in old:
            new["deletionGracePeriodSeconds"] = old["deletionGracePeriodSeconds"]
    new.pop("selfLink", None)
    omit_empty(new)
