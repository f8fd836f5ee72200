"""What the server gives to every object: uid, creation time, a generated name, and metadata without empty fields."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from pyctrl._clock import now

_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"  # apimachinery's: no vowels, nothing that looks like something else
_SUFFIX = 5
_FIXED = 0x4 << 76 | 0x8 << 60  # version 4, variant of RFC 9562
_NOT_FIXED = ~(0xF << 76 | 0xC << 60)
_NAME_LIMIT = 63  # generated names fit a label


def new_uid(random: Random) -> str:
    """Make a random (version 4) uid from the server's own randomness."""
    digits = f"{random.getrandbits(128) & _NOT_FIXED | _FIXED:032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def generated_name(prefix: str, random: Random) -> str:
    """Append a random suffix to `metadata.generateName`."""
    return prefix[: _NAME_LIMIT - _SUFFIX] + "".join(random.choices(_ALPHABET, k=_SUFFIX))


class _Second:
    """One second, printed once: every object that is made in it has the same text."""

    def __init__(self) -> None:
        self._start = self._end = datetime.max.replace(tzinfo=UTC)
        self._text = ""

    def printed(self, moment: datetime) -> str:
        if not self._start <= moment < self._end:
            self._start = moment.astimezone(UTC).replace(microsecond=0)
            self._end = self._start + timedelta(seconds=1)
            self._text = self._start.strftime("%Y-%m-%dT%H:%M:%SZ")
        return self._text


_second = _Second()


def timestamp(moment: datetime | None = None) -> str:
    """Print a time (the present one) as metadata has it: whole seconds, UTC."""
    return _second.printed(moment or now())


_OPTIONAL = frozenset({"controller", "blockOwnerDeletion", "deletionGracePeriodSeconds"})  # pointers: zero is a value


def omit_empty(metadata: dict[str, Any]) -> None:
    """Drop what a typed ObjectMeta does not write: nulls, empty strings, lists and maps."""
    for name, value in list(metadata.items()):
        if value is None or (not value and name not in _OPTIONAL):
            del metadata[name]


_OF_SERVER = ("uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink")


def wipe_system_fields(metadata: dict[str, Any]) -> None:
    """Take from a new object the system fields that a client wrote, before anybody sees them."""
    for name in _OF_SERVER:
        metadata.pop(name, None)
    omit_empty(metadata)


def fill_system_fields(metadata: dict[str, Any], random: Random) -> None:
    """Give a new object its system fields."""
    metadata["creationTimestamp"] = timestamp()
    metadata["uid"] = new_uid(random)


def keep_system_fields(new: dict[str, Any], old: dict[str, Any]) -> None:
    """Give a changed object the system fields that no update may change."""
    new["creationTimestamp"] = old["creationTimestamp"]
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
