"""Objects and events of a storage: one version of one object, and one change of a collection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec

from pyctrl.api import hash_field
from pyctrl.apiserver._schema.raw_json import keep_texts
from pyctrl.apiserver._storage.encoding import encode_object

if TYPE_CHECKING:
    from pyctrl.apiserver._resources.resource_type import ResourceType

__all__ = ["EventType", "NotConverted", "StoredObject", "WatchCacheEvent", "key_of"]

EventType = Literal["ADDED", "MODIFIED", "DELETED"]

_decode = msgspec.json.decode


class NotConverted(Exception):
    """A webhook has to convert an object before it can be read in the version of a resource."""

    def __init__(self, stored: StoredObject, resource: ResourceType) -> None:
        super().__init__(f"{stored.key} has to be converted for {resource}")
        self.stored = stored
        self.resource = resource


def key_of(namespace: str, name: str) -> str:
    """Return the key that lists sort by: `namespace/name`, or the name of a cluster-scoped object."""
    return f"{namespace}/{name}" if namespace else name


class StoredObject:
    """One version of one object, encoded once and immutable."""

    __slots__ = (
        "_fields",
        "_shown",
        "_uid_hash",
        "_view",
        "_view_type",
        "data",
        "key",
        "labels",
        "name",
        "namespace",
        "uid",
        "version",
    )

    def __init__(
        self, obj: dict[str, Any], version: int, view_type: ResourceType | None, data: bytes | None = None
    ) -> None:
        meta = obj["metadata"]
        self.namespace: str = meta.get("namespace", "")
        self.name: str = meta["name"]
        self.key: str = key_of(self.namespace, self.name)
        self.uid: str = meta.get("uid", "")
        self.labels: dict[str, str] = meta.get("labels") or {}
        self.version: int = version
        self.data: bytes = encode_object(obj) if data is None else data
        self._view: bytes = self.data
        self._view_type = view_type
        self._fields: tuple[ResourceType, dict[str, str]] | None = None
        self._uid_hash: int | None = None
        self._shown: dict[ResourceType, bytes] | None = None  # the object as a conversion webhook converted it

    @property
    def uid_hash(self) -> int:
        """The hash of the uid, by which shard selectors select; computed on first use."""
        if self._uid_hash is None:
            self._uid_hash = hash_field(self.uid)
        return self._uid_hash

    def decode(self) -> dict[str, Any]:
        """Decode the object as it was written; each call returns a new one."""
        obj: dict[str, Any] = _decode(self.data)
        return obj

    def read(self, resource: ResourceType) -> dict[str, Any]:
        """Decode the object in the version of `resource`."""
        obj: dict[str, Any] = _decode(self.view(resource))
        if resource.raw_paths:
            keep_texts(obj, self.view(resource), resource.raw_paths)
        return obj

    def view(self, resource: ResourceType) -> bytes:
        """Encode the object in the version of `resource`; the last result is cached.

        Raises:
            NotConverted: A webhook has to convert the object first.
        """
        if self._shown is not None and resource in self._shown:
            return self._shown[resource]
        if self._view_type is not resource:
            if self.lacks(resource):
                raise NotConverted(self, resource)
            shown = encode_object(resource.on_read(self.decode()))
            self._view = self.data if shown == self.data else shown
            self._view_type = resource
        return self._view

    def is_stored_as_read(self, resource: ResourceType) -> bool:
        """Return whether the object is stored as it is read in the version of `resource`."""
        return self.view(resource) is self.data

    def lacks(self, resource: ResourceType, *, again: bool = False) -> bool:
        """Return whether a webhook has to convert the object for `resource`; `again` ignores earlier conversions."""
        if not resource.converts or self._view_type is resource:
            return False
        if not again and resource in (self._shown or ()):
            return False
        written: str = self.decode()["apiVersion"]
        return written != resource.api_version

    def show_as(self, resource: ResourceType, data: bytes) -> None:
        """Cache the object as a webhook converted it."""
        self._shown = {**(self._shown or {}), resource: data}

    def show_like(self, other: StoredObject) -> None:
        """Copy the conversions of another state of the object, of which only metadata differs."""
        mine = self.decode()["metadata"]
        for resource, data in (other._shown or {}).items():
            shown = _decode(data)
            theirs = {key: value for key, value in shown["metadata"].items() if key in ("labels", "annotations")}
            rest = {key: value for key, value in mine.items() if key not in ("labels", "annotations")}
            shown["metadata"] = {**rest, **theirs}
            self.show_as(resource, encode_object(shown))

    def fields(self, resource: ResourceType) -> dict[str, str]:
        """Return the values of the field labels of `resource`, computed on first use."""
        if self._fields is None or self._fields[0] is not resource:
            self._fields = (resource, dict(resource.selectable_fields(self.read(resource))))
        return self._fields[1]

    def at(self, version: int) -> StoredObject:
        """Return the object with another resource version, as events have an object that was removed."""
        obj: dict[str, Any] = _decode(self._view)
        obj["metadata"]["resourceVersion"] = str(version)
        moved = StoredObject(obj, version, self._view_type)
        moved.show_like(self)
        return moved


class WatchCacheEvent:
    """One change in a collection: the object before and after it."""

    __slots__ = ("_gone", "current", "lines", "previous", "type", "version")

    def __init__(
        self, type_: EventType, version: int, current: StoredObject | None, previous: StoredObject | None
    ) -> None:
        self.type = type_
        self.version: int = version
        self.current: StoredObject | None = current
        self.previous: StoredObject | None = previous
        self._gone: StoredObject | None = None
        # Encoded watch lines, shared by all watchers that see this event alike; see `_endpoints.watch`.
        self.lines: dict[tuple[object, ...], bytes] = {}

    @property
    def state(self) -> StoredObject:
        """The object after the event, or before it if it was removed; of which uid and namespace never change."""
        state = self.current or self.previous
        assert state is not None  # an event is of an object
        return state

    @property
    def gone(self) -> StoredObject:
        """The previous state with the version of this event, which DELETED events carry."""
        if self._gone is None:
            assert self.previous is not None  # only an object that existed can be removed
            self._gone = self.previous.at(self.version)
        return self._gone
