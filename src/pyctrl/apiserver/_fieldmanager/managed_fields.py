"""Managed fields: the owner of each field, recorded in the metadata of every object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from pyctrl._fields_v1 import UNOWNED_METADATA, field_element
from pyctrl.apiserver._fieldmanager.fieldset import (
    Comparison,
    FieldSet,
    all_fields,
    difference,
    is_readable,
    ordered,
    ordered_level,
    recursive_difference,
    union,
)
from pyctrl.apiserver._fieldmanager.versions import Comparisons, ConversionError, VersionedObject, convert
from pyctrl.apiserver._meta.system_fields import timestamp
from pyctrl.apiserver._schema.schema import JSON

if TYPE_CHECKING:
    from pyctrl.apiserver._resources.resource_type import DecodedFields, ResourceType

__all__ = [
    "Managed",
    "ManagedEntry",
    "ManagerIdentifier",
    "strip_meta",
    "update_managed_fields",
    "without_managed_fields",
]

MAX_UPDATE_MANAGERS = 10  # as in kube-apiserver; older ones are merged into "ancient-changes"
ANCIENT_CHANGES = "ancient-changes"
_STRIPPED: FieldSet = {
    "f:apiVersion": {},
    "f:kind": {},
    "f:metadata": {".": {}, **{field_element(name): {} for name in UNOWNED_METADATA}},
}


class ManagerIdentifier(NamedTuple):
    """Identity of a manager: its name, operation, API version and subresource."""

    name: str
    operation: str
    api_version: str
    subresource: str

    @property
    def identity(self) -> ManagerIdentifier:
        """What makes two managers the same: for Apply the version does not matter."""
        return self._replace(api_version="") if self.operation == "Apply" else self

    def is_same(self, other: ManagerIdentifier) -> bool:
        """Return whether this is the same manager."""
        if self.operation == "Apply":
            return self._replace(api_version=other.api_version) == other
        return self == other

    def __str__(self) -> str:
        text = f'"{self.name}"'
        if self.subresource:
            text += f' with subresource "{self.subresource}"'
        return f"{text} using {self.api_version}" if self.operation == "Update" else text


@dataclass(slots=True, kw_only=True)
class ManagedEntry:
    """The fields of one manager, in order, and the time of its last write."""

    manager: ManagerIdentifier
    fields: FieldSet
    time: str | None


class Managed:
    """The managed fields of one object, while a write changes them."""

    def __init__(self, metadata: Mapping[str, JSON]) -> None:
        entries = [_read(each) for each in metadata.get("managedFields") or () if each.get("fieldsV1") is not None]
        if len(entries) > 1:  # the last entry of each manager
            entries = list({each.manager.identity: each for each in entries}.values())
        self.entries = entries

    def find(self, manager: ManagerIdentifier) -> ManagedEntry | None:
        """Return the entry of a manager, or None."""
        return next((each for each in self.entries if manager.is_same(each.manager)), None)

    def others(self, manager: ManagerIdentifier) -> list[ManagedEntry]:
        """Return the entries of all other managers."""
        return [each for each in self.entries if not manager.is_same(each.manager)]

    def put(self, manager: ManagerIdentifier, fields: FieldSet, time: str | None) -> None:
        """Replace the entry of a manager. The fields are in order."""
        entry = ManagedEntry(manager=manager, fields=fields, time=time)
        self.entries = [*self.others(manager), entry]

    def remove_from_others(self, manager: ManagerIdentifier, comparisons: Comparisons) -> None:
        """Remove the fields that a write changes or removes from the entries of all other managers.

        Entries of a version that the kind does not have are removed.

        Raises:
            ConversionError: The objects cannot be compared in the version of an entry.
        """
        kept = list[ManagedEntry]()
        for entry in self.entries:
            if not manager.is_same(entry.manager):
                if (found := comparisons.at(entry.manager.api_version)) is None:
                    continue
                changed, removed = found
                entry.fields = difference(difference(entry.fields, changed), removed)
                if not entry.fields:
                    continue
            kept.append(entry)
        self.entries = kept

    def has_other_versions(self, api_version: str) -> bool:
        """Return whether an entry has another API version."""
        return any(each.manager.api_version != api_version for each in self.entries)

    def drop_unknown_versions(self, live: VersionedObject) -> None:
        """Remove the entries of versions that the kind does not have.

        Raises:
            ConversionError: The object cannot be converted to the version of an entry.
        """
        self.entries = [each for each in self.entries if convert(live, each.manager.api_version) is not None]

    def write(self, metadata: dict[str, JSON]) -> None:
        """Write the entries to metadata, in kube-apiserver's order."""
        self._merge_old_updaters()
        entries = sorted(self.entries, key=_order)
        written = [_written(each.manager, each.fields, each.time) for each in entries if each.fields]
        if written:
            metadata["managedFields"] = written
        else:
            metadata.pop("managedFields", None)

    def _merge_old_updaters(self) -> None:
        updaters = sorted((each for each in self.entries if each.manager.operation == "Update"), key=_order)
        for oldest in updaters[: max(0, len(updaters) - MAX_UPDATE_MANAGERS)]:
            bucket = oldest.manager._replace(name=ANCIENT_CHANGES, subresource="")
            self.entries.remove(oldest)
            earlier = self.find(bucket)
            self.put(bucket, union(earlier.fields if earlier else {}, oldest.fields), oldest.time)


def _read(entry: Mapping[str, JSON]) -> ManagedEntry:
    manager = ManagerIdentifier(
        name=entry.get("manager", ""),
        operation=entry.get("operation", ""),
        api_version=entry.get("apiVersion", ""),
        subresource=entry.get("subresource", ""),
    )
    return ManagedEntry(manager=manager, fields=entry["fieldsV1"], time=entry.get("time"))


def _written(manager: ManagerIdentifier, fields: FieldSet, time: str | None) -> dict[str, JSON]:
    name, operation, api_version, subresource = manager
    written: dict[str, JSON] = {"manager": name, "operation": operation, "apiVersion": api_version, "time": time}
    if not all(written.values()):
        written = {key: value for key, value in written.items() if value}
    written["fieldsType"], written["fieldsV1"] = "FieldsV1", fields
    if subresource:
        written["subresource"] = subresource
    return written


def _order(entry: ManagedEntry) -> tuple[str, str, str, str, str]:
    manager = entry.manager
    return manager.operation, entry.time or "", manager.name, manager.api_version, manager.subresource


def update_managed_fields(
    new: dict[str, JSON],
    old: dict[str, JSON] | None,
    *,
    manager: str,
    operation: str,
    api_version: str,
    subresource: str | None,
    type: ResourceType,
    decoded_fields: DecodedFields | None = None,
) -> None:
    """Record in `new` the manager of the fields that differ from `old`, for every write except an apply.

    Call it when the object is decoded and defaulted, before the server sets fields of its own, which have no owner.

    Args:
        decoded_fields: The fields of `new`, if they were collected while it was decoded; used when `old` is None.
    """
    identifier = ManagerIdentifier(manager, operation, api_version, subresource or "")
    if old is None and "managedFields" not in new["metadata"]:
        if added := _new_fields(new, type, subresource, decoded_fields):
            new["metadata"]["managedFields"] = [_written(identifier, added, timestamp())]
        return
    managed = Managed(_effective_entries(new["metadata"], old, is_subresource=bool(subresource)))
    new["metadata"].pop("managedFields", None)
    if old is not None and not managed.entries:
        return  # as upstream: an object without managed fields is not tracked before it is applied
    before = None if old is None else without_managed_fields(old)
    comparisons = Comparisons(type, before, new, subresource)
    try:
        if before is not None:
            managed.drop_unknown_versions(VersionedObject(type, before))
        added, removed = _difference(new, old, type, subresource, comparisons)
        if added or removed or managed.has_other_versions(type.api_version):
            managed.remove_from_others(identifier, comparisons)
    except ConversionError:
        return  # as upstream: the objects cannot be compared in that version, and all entries are lost
    if added or removed:
        earlier = managed.find(identifier)
        fields = union(difference(earlier.fields, removed), added) if earlier else added
        managed.put(identifier, fields, timestamp() if added else earlier.time if earlier else None)
    managed.write(new["metadata"])


def _difference(
    new: Mapping[str, JSON],
    old: Mapping[str, JSON] | None,
    type: ResourceType,
    subresource: str | None,
    comparisons: Comparisons,
) -> tuple[FieldSet, FieldSet]:
    """Return the changed fields, in order, and the removed fields, without those that the subresource cannot own."""
    if old is None and not type.blank():
        return _new_fields(new, type, subresource), {}
    found = comparisons.at(type.api_version)
    assert found is not None, "a kind has its own version"
    return strip_meta(found[0]), found[1]


def _new_fields(
    new: Mapping[str, JSON], type: ResourceType, subresource: str | None, decoded: DecodedFields | None = None
) -> FieldSet:
    """Return the fields of a new object, in order, without those that the subresource cannot own."""
    reset = type.reset_fields(subresource)
    if blank := type.blank():
        return strip_meta(recursive_difference(Comparison(type.schema, blank, new).changed, reset))
    fields = dict(_content(new, type) if decoded is None else decoded.content)
    metadata = _metadata(new, type) if decoded is None or decoded.metadata is None else decoded.metadata
    if metadata:
        fields["f:metadata"] = metadata
    return ordered_level(recursive_difference(fields, reset))


def _content(new: Mapping[str, JSON], type: ResourceType) -> FieldSet:
    content = {key: value for key, value in new.items() if key not in ("apiVersion", "kind", "metadata")}
    return all_fields(type.schema, content)


def _metadata(new: Mapping[str, JSON], type: ResourceType) -> FieldSet:
    metadata = {key: value for key, value in new["metadata"].items() if key not in UNOWNED_METADATA}
    return all_fields(type.schema.properties["metadata"], metadata)


def _effective_entries(
    metadata: Mapping[str, JSON], old: Mapping[str, JSON] | None, *, is_subresource: bool
) -> Mapping[str, JSON]:
    """Return the metadata with the effective entries: those that the client sent, or those of the live object."""
    sent = metadata.get("managedFields") or []
    if sent == [{}] or metadata.get("managedFields") == []:
        return {} if old is None or not is_subresource else old["metadata"]
    live: Mapping[str, JSON] = {} if old is None else old["metadata"]
    if old is not None and (is_subresource or not sent or sent == live.get("managedFields")):
        return live
    if not all(map(_is_readable, sent)):
        return live
    return {"managedFields": [{**each, "fieldsV1": ordered(each["fieldsV1"])} for each in sent]}


def _is_readable(entry: Mapping[str, JSON]) -> bool:
    """Return whether an entry of a client is complete; an incomplete entry invalidates all of them."""
    fields = entry.get("fieldsV1")
    if entry.get("operation") not in ("Apply", "Update"):
        return False
    return bool(entry.get("apiVersion")) and entry.get("fieldsType") == "FieldsV1" and is_readable(fields)


def without_managed_fields(obj: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return the object without its managed fields."""
    metadata = {key: value for key, value in obj["metadata"].items() if key != "managedFields"}
    return {**obj, "metadata": metadata}


def strip_meta(fields: FieldSet) -> FieldSet:
    """Return the fields without those that have no owner: identity, versions, the kind."""
    return difference(fields, _STRIPPED)
