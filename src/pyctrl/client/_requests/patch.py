"""Patches: what is sent to change a part of an object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import msgspec

from pyctrl.api import Object, merge_patch_diff

__all__ = ["JsonPatch", "MergeFrom", "MergePatch", "Patch", "StrategicMergePatch", "merge_from"]


class Patch(Protocol):
    """A change that the server makes; implement it for a kind of patch that is not here."""

    @property
    def content_type(self) -> str:
        """The media type that says what kind of patch it is."""
        ...

    def body(self, after: Object | None) -> bytes:
        """Return what is sent; ``after`` is the object that `patch` was called with, None when called with a key."""
        ...


class _Document:
    """A patch that is known when it is made."""

    content_type: str

    def __init__(self, document: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> None:
        self._body = msgspec.json.encode(document)

    def body(self, after: Object | None) -> bytes:
        """Return the document; the object does not matter."""
        return self._body

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._body.decode()})"


class MergePatch(_Document):
    """RFC 7396: members replace members, null removes, lists are replaced whole. For every kind."""

    content_type = "application/merge-patch+json"

    def __init__(self, document: Mapping[str, Any]) -> None:
        super().__init__(document)


class StrategicMergePatch(_Document):
    """A merge patch that merges lists by their key, such as containers by name. For built-in kinds only."""

    content_type = "application/strategic-merge-patch+json"

    def __init__(self, document: Mapping[str, Any]) -> None:
        super().__init__(document)


class JsonPatch(_Document):
    """RFC 6902: a list of operations, all or none; ``test`` makes it conditional. For every kind."""

    content_type = "application/json-patch+json"

    def __init__(self, operations: Sequence[Mapping[str, Any]]) -> None:
        super().__init__(operations)


class MergeFrom:
    """A merge patch of the difference between an object as it was and as it is when the patch is sent."""

    content_type: str = MergePatch.content_type

    def __init__(self, before: Object, *, optimistic_lock: bool = False) -> None:
        self._before = before.to_json()  # a snapshot: the object may be changed in place from here on
        self._version = before.metadata.resource_version if optimistic_lock else ""
        if optimistic_lock and not self._version:
            raise ValueError(f"{before.kind} {before.key} has no resource version to lock on: read it from the server")

    def body(self, after: Object | None) -> bytes:
        """Return the difference to ``after``."""
        if after is None:
            raise TypeError("merge_from() needs the changed object: call patch(obj, merge_from(before))")
        patch = _difference(self._before, after.to_json())
        if self._version:
            patch.setdefault("metadata", {})["resourceVersion"] = self._version
        return msgspec.json.encode(patch)


_MEMBERS = msgspec.json.Decoder(dict[str, msgspec.Raw])


def _difference(before: bytes, after: bytes) -> dict[str, Any]:
    """Return the merge patch between two objects. Members that are written alike are not looked into."""
    old, new = _MEMBERS.decode(before), _MEMBERS.decode(after)
    for name in [name for name, raw in old.items() if new.get(name) == raw]:
        del old[name], new[name]
    return merge_patch_diff(_read(old), _read(new))


def _read(members: Mapping[str, msgspec.Raw]) -> dict[str, Any]:
    return {name: msgspec.json.decode(raw) for name, raw in members.items()}


def merge_from(before: Object, *, optimistic_lock: bool = False) -> MergeFrom:
    """Remember an object, to send later only what was changed since.

        patch = merge_from(pod)
        pod.metadata.labels["seen"] = "yes"
        await client.patch(pod, patch)

    With ``optimistic_lock`` the patch is refused with `Conflict` when somebody else has changed the object in the
    meantime. Use it whenever a list is changed, since lists are replaced whole.
    """
    return MergeFrom(before, optimistic_lock=optimistic_lock)
