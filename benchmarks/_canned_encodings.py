"""Encodings of the canned server: JSON, and protobuf for built-in kinds if the client accepts it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from struct import pack
from typing import Any, Protocol

import _canned_protobuf as protobuf
from _canned_objects import Kind
from _prepared_server import encoded

Metadata = Mapping[str, Any]


class Encoding(Protocol):
    """An encoding of one kind."""

    list_type: str
    watch_type: str

    def item(self, data: bytes) -> bytes:
        """Return an object as stored, without its kind, from its JSON."""

    def changed(self, item: bytes, before: int, after: int) -> bytes:
        """Return the object with another version, and another status if it has one."""

    def listed(self, metadata: Metadata, items: Iterable[bytes]) -> bytes:
        """Return a list."""

    def event(self, name: str, item: bytes) -> bytes:
        """Return a framed watch event."""

    def bookmark(self, metadata: Metadata) -> bytes:
        """Return a bookmark event, which has only a version."""

    def refusal(self, status: Mapping[str, Any]) -> bytes:
        """Return an error event."""


class Json:
    """JSON, for every kind. In lists, custom resources have their kind, built-in kinds do not."""

    list_type = watch_type = "application/json"

    def __init__(self, kind: Kind) -> None:
        self._kind = kind

    def item(self, data: bytes) -> bytes:
        """Return the object unchanged."""
        return data

    def changed(self, item: bytes, before: int, after: int) -> bytes:
        """Change the version, in the metadata at the front, and a number in the status."""
        versioned = item.replace(b'"resourceVersion":"%d"' % before, b'"resourceVersion":"%d"' % after, 1)
        return versioned.replace(b'"readyReplicas":3', b'"readyReplicas":2', 1)

    def listed(self, metadata: Metadata, items: Iterable[bytes]) -> bytes:
        """Join the items."""
        head = {"kind": f"{self._kind.kind}List", "apiVersion": self._kind.api_version, "metadata": metadata}
        each = map(self._named, items) if self._kind.group else items
        return encoded(head)[:-1] + b',"items":[' + b",".join(each) + b"]}\n"

    def event(self, name: str, item: bytes) -> bytes:
        """Write a line."""
        return b'{"type":"%s","object":%s}\n' % (name.encode(), self._named(item))

    def bookmark(self, metadata: Metadata) -> bytes:
        """Write a line with metadata only."""
        return self.event("BOOKMARK", encoded({"metadata": metadata}))

    def refusal(self, status: Mapping[str, Any]) -> bytes:
        """Write a line with a Status."""
        return encoded({"type": "ERROR", "object": status}) + b"\n"

    def _named(self, item: bytes) -> bytes:
        names = (self._kind.api_version.encode(), self._kind.kind.encode())
        return b'{"apiVersion":"%s","kind":"%s",%s' % (*names, item[1:])


class Protobuf:
    """Protobuf for pods."""

    list_type = "application/vnd.kubernetes.protobuf"
    watch_type = f"{list_type};stream=watch"

    def item(self, data: bytes) -> bytes:
        """Encode the object."""
        return protobuf.pod(data)

    def changed(self, item: bytes, before: int, after: int) -> bytes:
        """Change the version, field 6 of the metadata at the front."""
        return item.replace(protobuf.text(6, str(before)), protobuf.text(6, str(after)), 1)

    def listed(self, metadata: Metadata, items: Iterable[bytes]) -> bytes:
        """Join the items, each as a field of the list."""
        each = (protobuf.delimited(2, item) for item in items)
        return protobuf.known("v1", "PodList", b"".join((protobuf.LIST_META(1, metadata), *each)))

    def event(self, name: str, item: bytes) -> bytes:
        """Write a frame with a pod."""
        return self._frame(name, protobuf.known("v1", "Pod", item))

    def bookmark(self, metadata: Metadata) -> bytes:
        """Write a frame with a pod that has metadata only."""
        return self.event("BOOKMARK", protobuf.pod(encoded({"metadata": metadata})))

    def refusal(self, status: Mapping[str, Any]) -> bytes:
        """Write a frame with a Status."""
        told = {name: value for name, value in status.items() if name not in {"kind", "apiVersion"}}
        return self._frame("ERROR", protobuf.known("v1", "Status", protobuf.status(told)))

    @staticmethod
    def _frame(name: str, item: bytes) -> bytes:
        """Write a `WatchEvent` after its length."""
        event = protobuf.text(1, name) + protobuf.delimited(2, protobuf.delimited(1, item))
        return pack(">I", len(event)) + event


def encodings(kind: Kind) -> list[Encoding]:
    """Return the encodings of kube-apiserver for a kind, JSON first."""
    return [Json(kind)] if kind.group else [Json(kind), Protobuf()]
