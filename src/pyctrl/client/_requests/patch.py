"""Patches: JSON patch, merge patch, strategic merge patch, and the difference to an earlier state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import msgspec

from pyctrl.api import Model, Object, ObjectLike, as_object, merge_patch_diff, model_diff

__all__ = ["JsonPatch", "MergeFrom", "MergePatch", "Patch", "StrategicMergePatch", "merge_from"]


class Patch(Protocol):
    """A patch of an object; implement it for a patch type that this module lacks."""

    @property
    def content_type(self) -> str:
        """The media type of the patch."""
        ...

    def body(self, after: Object | None) -> bytes:
        """Return the request body; ``after`` is the object that `patch` was called with, None after kind and key."""
        ...


class _Document:
    """A patch whose document is known when it is constructed."""

    content_type: str

    def __init__(self, document: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> None:
        self._body = msgspec.json.encode(document)

    def body(self, after: Object | None) -> bytes:
        """Return the document."""
        return self._body

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._body.decode()})"


class MergePatch(_Document):
    """JSON merge patch (RFC 7396): members replace members, null removes, lists are replaced whole. For every kind."""

    content_type = "application/merge-patch+json"

    def __init__(self, document: Mapping[str, Any]) -> None:
        super().__init__(document)


class StrategicMergePatch(_Document):
    """Merge patch that merges lists by key, such as containers by name. For built-in kinds only."""

    content_type = "application/strategic-merge-patch+json"

    def __init__(self, document: Mapping[str, Any]) -> None:
        super().__init__(document)


class JsonPatch(_Document):
    """JSON patch (RFC 6902): operations of which all or none apply; ``test`` makes it conditional. For every kind."""

    content_type = "application/json-patch+json"

    def __init__(self, operations: Sequence[Mapping[str, Any]]) -> None:
        super().__init__(operations)


class MergeFrom:
    """Merge patch of the difference between an object's earlier state and its state when the patch is sent."""

    content_type: str = MergePatch.content_type

    def __init__(self, before: ObjectLike, *, optimistic_lock: bool = False) -> None:
        before = as_object(before)
        # A snapshot: the object may be changed in place from here on. What is not decoded yet stays so in a copy.
        self._before = before.deep_copy() if isinstance(before, Model) else before.to_json()
        self._version = before.metadata.resource_version if optimistic_lock else ""
        if optimistic_lock and not self._version:
            raise ValueError(f"{before.kind} {before.key} has no resource version to lock on: read it from the server")

    def body(self, after: Object | None) -> bytes:
        """Return the difference from the earlier state to ``after``."""
        if after is None:
            raise TypeError("merge_from() needs the changed object: call patch(obj, merge_from(before))")
        if isinstance(self._before, bytes):
            patch = _difference(self._before, after.to_json())
        elif isinstance(after, Model):
            patch = model_diff(self._before, after)
        else:
            patch = _difference(self._before.to_json(), after.to_json())
        if self._version:
            patch.setdefault("metadata", {})["resourceVersion"] = self._version
        return msgspec.json.encode(patch)


_MEMBERS = msgspec.json.Decoder(dict[str, msgspec.Raw])


def _difference(before: bytes, after: bytes) -> dict[str, Any]:
    """Return the merge patch between two objects. Members with equal bytes are not decoded."""
    old, new = _MEMBERS.decode(before), _MEMBERS.decode(after)
    for name in [name for name, raw in old.items() if new.get(name) == raw]:
        del old[name], new[name]
    return merge_patch_diff(_read(old), _read(new))


def _read(members: Mapping[str, msgspec.Raw]) -> dict[str, Any]:
    return {name: msgspec.json.decode(raw) for name, raw in members.items()}


def merge_from(before: ObjectLike, *, optimistic_lock: bool = False) -> MergeFrom:
    """Return a patch that will contain the changes made to an object from now on.

        patch = merge_from(pod)
        pod.metadata.labels["seen"] = "yes"
        await client.patch(pod, patch)

    With ``optimistic_lock`` the server refuses the patch with `Conflict` when another client changed the object in
    the meantime. Use it whenever a list is changed, since lists are replaced whole.
    """
    return MergeFrom(before, optimistic_lock=optimistic_lock)
