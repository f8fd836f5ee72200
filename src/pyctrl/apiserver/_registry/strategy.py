"""What distinguishes one built-in kind from another, as data: a `Strategy`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from pyctrl._validation import names
from pyctrl.apiserver._errors import FieldError
from pyctrl.apiserver._meta.validation import MetadataCheck
from pyctrl.apiserver._schema.field_paths import value_at
from pyctrl.apiserver._schema.schema import JSON

if TYPE_CHECKING:
    from pyctrl.apiserver._authn import User
    from pyctrl.apiserver._fieldmanager.fieldset import FieldSet

Object: TypeAlias = dict[str, JSON]
Default: TypeAlias = Callable[[Object], None]  # sets what is missing
Prepare: TypeAlias = Callable[[Object, Object | None], None]  # what the server decides; old is None on create
Validate: TypeAlias = Callable[[Object, Object | None], Iterable[FieldError]]
Warn: TypeAlias = Callable[[Object], Iterable[str]]  # what is allowed and probably not meant


@dataclass(frozen=True, slots=True, kw_only=True)
class SubresourceStrategy:
    """A sub-resource that writes a part of the object itself: puts the rest back, and checks the part."""

    keep: Prepare
    validate: Validate


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """How one built-in kind is created and updated."""

    has_generation: bool = False
    annotations_count: bool = False  # a change of annotations moves the generation, as for Deployments
    keeps_status_on_create: bool = False
    name_rule: names.Rule = names.subdomain
    on_create: MetadataCheck | None = (
        MetadataCheck.WHOLE
    )  # of metadata; None: any name that fits a path, looked at after the rest
    on_update: tuple[MetadataCheck, ...] = (MetadataCheck.CHANGE,)
    storage_version: str = ""  # when not the version asked for
    status_keeps: tuple[str, ...] = ()  # metadata that the status door may not change
    #: Field selectors beside name and namespace, with the path of the value, or several: the first that is there.
    fields: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict)
    defaults: tuple[Default, ...] = ()
    completes: tuple[Prepare, ...] = ()
    validates: tuple[Validate, ...] = ()
    validates_status: tuple[Validate, ...] | None = None  # of the status door; None: what holds of the object
    #: By the name of the sub-resource; that of the status comes after what holds of every status.
    doors: Mapping[str, SubresourceStrategy] = field(default_factory=dict)
    #: What a write through a sub-resource, "" for the object itself, does not change and so never owns. By default the
    #: object's is the status, and the status's everything else.
    resets: Mapping[str, FieldSet] = field(default_factory=dict)
    sets_creator: Callable[[Object, User], None] | None = None  # writes into a new object who creates it
    warns: Warn | None = None
    #: Marks an object that a controller empties before it is removed, such as a definition with its objects.
    begin_deletion: Callable[[Object], None] | None = None
    stored: tuple[Prepare, ...] = ()  # what the server hands out to an object that is fine

    def default(self, obj: Object) -> None:
        """Set what is missing."""
        for each in self.defaults:
            each(obj)

    def complete(self, new: Object, old: Object | None) -> None:
        """Set what the server decides."""
        for each in self.completes:
            each(new, old)

    def validate(self, new: Object, old: Object | None) -> list[FieldError]:
        """Check what the kind asks for."""
        return [cause for each in self.validates for cause in each(new, old)]

    def warn(self, new: Object) -> Iterable[str]:
        """Tell of what is allowed and probably not meant."""
        return () if self.warns is None else self.warns(new)

    def validate_status(self, new: Object, old: Object) -> list[FieldError]:
        """Check what is written through the status door."""
        if self.validates_status is None:
            return self.validate(new, None)
        return [cause for each in self.validates_status for cause in each(new, old)]

    def validate_through(self, subresource: str | None, new: Object, old: Object) -> Iterable[FieldError]:
        """Check what is written through a sub-resource, or through none."""
        if door := self.doors.get(subresource or ""):
            return door.validate(new, old)
        return self.validate_status(new, old) if subresource == "status" else self.validate(new, old)

    def store(self, new: Object, old: Object | None) -> None:
        """Hand out what the server has to give; raises `Refused` when that is not to be had."""
        for each in self.stored:
            each(new, old)

    def selectable_fields(self, obj: Mapping[str, JSON], *, namespaced: bool) -> dict[str, str]:
        """Give the values of the fields that selectors may name."""
        metadata = obj["metadata"]
        found = {"metadata.name": metadata.get("name", "")}
        if namespaced:
            found["metadata.namespace"] = metadata.get("namespace", "")
        for label, paths in self.fields.items():
            values = (value_at(obj, path) for path in ((paths,) if isinstance(paths, str) else paths))
            value = next((value for value in values if value not in (None, "")), None)
            found[label] = _ZEROS.get(label, "") if value is None else _text(value)
        return found


# What selectors see of booleans and numbers that are absent: the zeros of their Go types.
_ZEROS = {
    "spec.hostNetwork": "false",
    "spec.unschedulable": "false",
    "status.replicas": "0",
    "status.successful": "0",
}


def _text(value: JSON) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
