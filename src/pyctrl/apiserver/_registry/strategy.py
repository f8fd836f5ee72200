"""Strategies: how objects of one built-in kind are defaulted, prepared, validated and selected, as data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Protocol, TypeAlias

import msgspec

from pyctrl._validation import names
from pyctrl.apiserver._errors import FieldError
from pyctrl.apiserver._meta.validation import MetadataCheck
from pyctrl.apiserver._resources.deletion_strategy import DeletionStrategy, GarbageCollectionPolicy
from pyctrl.apiserver._schema.field_paths import value_at
from pyctrl.apiserver._schema.schema import JSON

if TYPE_CHECKING:
    from pyctrl.apiserver._authn import User
    from pyctrl.apiserver._fieldmanager.fieldset import FieldSet
    from pyctrl.apiserver._storage.storage import Storage, WatchCacheEvent

__all__ = ["Object", "SelectableField", "Strategy", "SubresourceStrategy", "fields_at", "generation_differs"]

Object: TypeAlias = dict[str, JSON]
_Default: TypeAlias = Callable[[Object], None]  # sets missing fields
_Prepare: TypeAlias = Callable[[Object, Object | None], None]  # new, old; old is None on create
_Validate: TypeAlias = Callable[[Object, Object | None], Iterable[FieldError]]
_Warn: TypeAlias = Callable[[Object], Iterable[str]]


class SelectableField(msgspec.Struct, frozen=True, eq=False):
    """The value of a field label.

    Attributes:
        paths: Where the value is; the first path with a value counts.
        zero: The value where no path has one: the zero of the Go type, as text.
    """

    paths: tuple[str, ...]
    zero: str = ""

    def value(self, obj: Mapping[str, JSON]) -> str:
        """Return the value of an object, as a field selector sees it."""
        values = (value_at(obj, path) for path in self.paths)
        found = next((value for value in values if value not in (None, "")), None)
        if isinstance(found, bool):
            return "true" if found else "false"
        return self.zero if found is None else str(found)


def fields_at(*paths: str, zero: str = "") -> dict[str, SelectableField]:
    """Return selectable fields whose labels are the paths of their values."""
    return {path: SelectableField((path,), zero) for path in paths}


def generation_differs(new: Object, old: Object) -> bool:
    """Return whether an update changes the generation, as kinds with pod templates warn only then."""
    return bool(new["metadata"].get("generation") != old["metadata"].get("generation"))


class _Allocate(Protocol):
    """Sets what the server allocates, such as cluster IPs. May raise StatusError: a requested value is taken."""

    def __call__(self, new: Object, old: Object | None, *, is_dry_run: bool) -> None: ...


class SubresourceStrategy(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """The strategy of a subresource that writes a part of the object.

    Attributes:
        keep: Puts the rest of the object back.
        validate: Validates the part.
    """

    keep: _Prepare
    validate: _Validate


class Strategy(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """How objects of one built-in kind are created and updated."""

    name_rule: names.Rule = names.subdomain
    appends_suffix: bool = True  # to the prefix `generateName`; False: the prefix is the name
    has_generation: bool = False
    increments_generation: bool = True  # a change of the spec does
    generation_metadata: tuple[str, ...] = ()  # fields of metadata whose change increments the generation, too
    keeps_status_on_create: bool = False
    allows_unconditional_update: bool = True  # an update without a resourceVersion
    allows_create_on_update: bool = False  # a PUT to a free name
    returns_deleted_object: bool = False  # a DELETE is answered with the object instead of a Status
    #: The validation of metadata on create. None: the name is any path segment, validated after the rest.
    on_create: MetadataCheck | None = MetadataCheck.WHOLE
    on_update: tuple[MetadataCheck, ...] = (MetadataCheck.CHANGE,)
    status_reset_fields: tuple[str, ...] = ()  # fields of metadata that a write to the status does not change
    fields: Mapping[str, SelectableField] = {}  # beside name and namespace
    defaults: tuple[_Default, ...] = ()
    prepares: tuple[_Prepare, ...] = ()  # before validation
    drops: tuple[_Prepare, ...] = ()  # fields of features that are off, after the generation was set
    prepares_creator: Callable[[Object, User], None] | None = None  # writes the user into a new object
    validates: tuple[_Validate, ...] = ()
    validates_status: tuple[_Validate, ...] | None = None  # of a write to the status; None: as a new object
    warns: _Warn | None = None
    warns_before_preparation: _Warn | None = None  # about a new object as the client has sent it
    warns_on_update: Callable[[Object, Object], bool] = lambda _new, _old: True
    deletion: DeletionStrategy | None = None  # None: a deleted object is removed at once unless it has finalizers
    garbage_collection: GarbageCollectionPolicy = GarbageCollectionPolicy.DELETE_DEPENDENTS
    delete_warning: str = ""  # about a delete without a propagation policy
    allocates: tuple[_Prepare, ...] = ()  # after validation
    allocator: _Allocate | None = None  # before validation, after `prepares`
    observes: Callable[[WatchCacheEvent], None] | None = None  # called for each change of the stored objects
    uses: Callable[[Storage], None] | None = None  # gets the storage of the server, to read objects of other kinds
    #: Subresources that write a part of the object. That of the status runs after what holds for every status.
    subresources: Mapping[str, SubresourceStrategy] = {}
    #: The fields that a write to a subresource ("": the object) does not change, and so never owns. By default those
    #: are the status for the object, and everything but the status for the status.
    reset_fields: Mapping[str, FieldSet] = {}

    def default(self, obj: Object) -> None:
        """Set missing fields."""
        for each in self.defaults:
            each(obj)

    def prepare(self, new: Object, old: Object | None, *, is_dry_run: bool = False) -> None:
        """Set the fields that the server decides."""
        for each in self.prepares:
            each(new, old)
        if self.allocator is not None:
            self.allocator(new, old, is_dry_run=is_dry_run)

    def drop(self, new: Object, old: Object | None) -> None:
        """Drop the fields of features that are off."""
        for each in self.drops:
            each(new, old)

    def validate(self, new: Object, old: Object | None) -> list[FieldError]:
        """Return the errors of an object."""
        return [cause for each in self.validates for cause in each(new, old)]

    def warn(self, new: Object) -> Iterable[str]:
        """Return the warnings about an object that is valid."""
        return () if self.warns is None else self.warns(new)

    def validate_status(self, new: Object, old: Object) -> list[FieldError]:
        """Return the errors of a write to the status."""
        if self.validates_status is None:
            return self.validate(new, None)
        return [cause for each in self.validates_status for cause in each(new, old)]

    def validate_update(self, subresource: str | None, new: Object, old: Object) -> Iterable[FieldError]:
        """Return the errors of a write to the object or to a subresource."""
        if strategy := self.subresources.get(subresource or ""):
            return strategy.validate(new, old)
        return self.validate_status(new, old) if subresource == "status" else self.validate(new, old)

    def allocate(self, new: Object, old: Object | None) -> None:
        """Set what the server allocates for an object that is valid.

        Raises:
            StatusError: The object requests a value that is not available.
        """
        for each in self.allocates:
            each(new, old)

    def selectable_fields(self, obj: Mapping[str, JSON], *, namespaced: bool) -> dict[str, str]:
        """Return the values of the field labels of an object."""
        metadata = obj["metadata"]
        found = {"metadata.name": metadata.get("name", "")}
        if namespaced:
            found["metadata.namespace"] = metadata.get("namespace", "")
        return found | {label: each.value(obj) for label, each in self.fields.items()}
