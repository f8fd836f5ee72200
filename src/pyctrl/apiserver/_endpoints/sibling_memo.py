"""Memo of the object that was created last with a generated name, because its siblings have the same body."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from pyctrl.apiserver._meta.system_fields import timestamp
from pyctrl.apiserver._request.options import WriteOptions
from pyctrl.apiserver._request.request import ResourceRequest
from pyctrl.apiserver._resources.resource_type import ResourceType

__all__ = ["SiblingMemo"]


class _Key(NamedTuple):
    """Everything that decides how a body is decoded, defaulted and tracked."""

    resource: ResourceType
    path: str
    content_type: str
    field_validation: str
    manager: str
    body: bytes


class SiblingMemo:
    """The object that was created last with a generated name, as it was before admission.

    A controller creates the pods of a ReplicaSet one after the other, with the same body. So all but the first need not
    be decoded by their schema, defaulted and compared for their managed fields. Only built-in kinds are remembered: the
    definition of a custom kind may change.
    """

    def __init__(self) -> None:
        self._key: _Key | None = None
        self._data = b""

    def find(self, request: ResourceRequest, options: WriteOptions) -> dict[str, Any] | None:
        """Return the object of a request, with its managed fields, if the last one was created by the same request."""
        if self._key is None or len(self._key.body) != len(request.body) or self._key != _key(request, options):
            return None
        obj: dict[str, Any] = msgspec.json.decode(self._data)
        for entry in obj["metadata"].get("managedFields", ()):
            entry["time"] = timestamp()
        return obj

    def remember(self, request: ResourceRequest, options: WriteOptions, obj: dict[str, Any]) -> None:
        """Remember an object that is decoded, defaulted and tracked, unless its siblings would differ from it."""
        if "generateName" not in obj["metadata"] or request.method != "POST" or request.resource.is_custom:
            return
        if not request.warnings and b'"managedFields"' not in request.body:  # which the siblings must have, too
            self._key, self._data = _key(request, options), msgspec.json.encode(obj)


def _key(request: ResourceRequest, options: WriteOptions) -> _Key:
    content_type = request.headers.get("content-type", "")
    return _Key(request.resource, request.path, content_type, options.field_validation, request.manager, request.body)
