"""Memo of applies and their results, which recognises an apply that would change nothing.

The managed fields do not decide every case: not how the server normalises a value, nor whether the server filled in an
empty structure. An earlier apply does: if the same document was applied and the object is as its answer was, applying
the document again changes nothing.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any, NamedTuple, TypeAlias

import msgspec

from pyctrl.api import GroupVersionKind, Key

__all__ = ["ApplyKey", "ApplyMemo"]

CAPACITY = 10_000  # about 3 MB; the least recently used are dropped, and cost one more apply


class ApplyKey(NamedTuple):
    """Object and owner of an apply."""

    kind: GroupVersionKind
    key: Key
    field_owner: str


class _RememberedApply(NamedTuple):
    desired: bytes
    version: str
    content: bytes


Document: TypeAlias = Mapping[str, Any]


class ApplyMemo:
    """Remembers the last apply of each object and the object after it. Shared by derived clients."""

    def __init__(self) -> None:
        self._applies: OrderedDict[ApplyKey, _RememberedApply] = OrderedDict()

    def remember(self, key: ApplyKey, desired: Document, answer: Document, *, has_status: bool) -> None:
        """Record what was applied, and the object as the server answered."""
        version = (answer.get("metadata") or {}).get("resourceVersion") or ""
        self._applies[key] = _RememberedApply(_digest(desired), version, _content(answer, has_status=has_status))
        self._applies.move_to_end(key)
        if len(self._applies) > CAPACITY:
            self._applies.popitem(last=False)

    def is_applied(self, key: ApplyKey, desired: Document, live: Document, *, has_status: bool) -> bool:
        """Return whether this was applied last, and the object has not changed since, except in its status."""
        last = self._applies.get(key)
        if last is None or last.desired != _digest(desired):
            return False
        self._applies.move_to_end(key)
        metadata = live.get("metadata") or {}
        if last.version and metadata.get("resourceVersion") == last.version:
            return True
        # Without managed fields, a value that was removed and set again by another owner would look unchanged.
        return bool(metadata.get("managedFields")) and last.content == _content(live, has_status=has_status)


def _content(document: Document, *, has_status: bool) -> bytes:
    left_out = {"metadata", "status"} if has_status else {"metadata"}
    metadata = {name: value for name, value in document["metadata"].items() if name != "resourceVersion"}
    metadata["managedFields"] = [
        {name: value for name, value in entry.items() if name != "time"}
        for entry in metadata.get("managedFields") or ()
        if not (has_status and entry.get("subresource") == "status")
    ]
    return _digest({**{name: value for name, value in document.items() if name not in left_out}, "metadata": metadata})


def _digest(document: Document) -> bytes:
    return blake2b(msgspec.json.encode(document, order="deterministic"), digest_size=16).digest()
