"""Protocol of a resource type: one resource in one version."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

import msgspec

from pyctrl.apiserver._schema.raw_json import RawPath
from pyctrl.apiserver._schema.schema import JSON, SchemaNode

if TYPE_CHECKING:
    from pyctrl.apiserver._resources.deletion_strategy import DeletionStrategy, GarbageCollectionPolicy
    from pyctrl.apiserver._resources.resource_storage import ResourceStorage
    from pyctrl.apiserver._user import User

__all__ = [
    "ConnectedSubresource",
    "DecodedFields",
    "LongValidation",
    "RESTFactory",
    "ResourceType",
    "is_event",
    "with_type_meta",
]


#: Makes the handler of a subresource from the RESTContext of a server.
RESTFactory: TypeAlias = Callable[[Any], object]
#: The end of a validation that takes long. It raises `StatusError`, and may run in a thread.
LongValidation: TypeAlias = Callable[[], None]


class DecodedFields(msgspec.Struct, frozen=True, eq=False):
    """Field sets of a valid object, collected while it was decoded.

    `_fieldmanager.fieldset` describes the form of a field set. They are in the order of managed fields.
    """

    content: dict[str, JSON]  # of everything but apiVersion, kind and metadata
    metadata: dict[str, JSON] | None  # None: metadata was not checked and may be invalid


class ConnectedSubresource(NamedTuple):
    """A subresource as discovery describes it: its kind in the group version of the resource, and its verbs."""

    name: str
    kind: str
    verbs: tuple[str, ...]


class ResourceType(Protocol):
    """One resource in one version: its names, and how its objects are decoded, defaulted, validated and converted.

    A write calls, in this order: `decode` for what the client sent, field management, mutating admission, the system
    fields of metadata, then `prepare_create` or `prepare_update`, which sets what only the server may set and
    validates. All of them change the object in place and raise `StatusError` when it is not acceptable. A validation
    that takes long ends in the function that `prepare_create` and `prepare_update` return then.

    `read_declared` returns the object in JSON whose keys and types a schema declares, None for other JSON, and for
    kinds that check them in `decode`.

    `decode` returns the fields of an object that is valid as it is. `prepare_create` and `prepare_update` get them as
    `decoded_fields` and skip the validation of the object, unless admission changed it in between.
    """

    group: str
    version: str
    kind: str
    plural: str
    singular: str
    namespaced: bool
    list_kind: str
    short_names: tuple[str, ...]
    categories: tuple[str, ...]
    verbs: tuple[str, ...]
    subresources: frozenset[str]
    parts: frozenset[str]  # subresources that are read, replaced and patched like the object, such as status
    has_generation: bool
    is_custom: bool  # defined by a CustomResourceDefinition
    is_terminating: bool  # the definition is being deleted, so that no object is created
    storage_group: str  # the group objects are stored under: the core group for events of events.k8s.io
    storage_prefix: str  # of the keys that kube-apiserver has in etcd
    storage_version: str  # the version objects are stored in; the same for all versions of one resource
    converts: bool  # whether conversion between versions needs a webhook
    deprecation: str  # the Warning header for requests to this version, or ""
    allows_unconditional_update: bool  # an update may leave out the resourceVersion
    allows_create_on_update: bool  # a PUT to a name that does not exist creates the object
    returns_deleted_object: bool  # the response to a completed DELETE is the object, not a Status
    cells_are_of_written: bool  # the cells of a table are those of objects as they were written, in any version
    row_order: Callable[[dict[str, JSON]], tuple[int, str]] | None  # the sort key of rows of a table; None: as listed
    repeats_columns: bool  # each line of a watch as tables has the columns
    has_status_table: bool  # the status is served as a table
    row_conditions: (
        Callable[[dict[str, JSON]], list[JSON]] | None
    )  # the conditions of an object's row; None: no row has any
    rest: Mapping[str, RESTFactory]  # the handlers of subresources by name
    rest_storage: ResourceStorage | None  # None: the storage of the server
    deletion: DeletionStrategy | None  # None: a deleted object is removed at once unless it has finalizers
    garbage_collection: GarbageCollectionPolicy
    delete_warning: str  # about a delete without a propagation policy, or ""
    raw_paths: tuple[RawPath, ...]  # of the values that are kept as they were sent

    @property
    def api_version(self) -> str: ...
    @property
    def schema(self) -> SchemaNode: ...
    @property
    def storage(self) -> ResourceType:
        """The type in whose version `stored` returns objects."""
        ...

    @property
    def columns(self) -> Sequence[Mapping[str, JSON]]: ...
    def cells(self, obj: dict[str, JSON]) -> list[JSON]: ...
    def reset_fields(self, subresource: str | None) -> dict[str, JSON]: ...
    def in_version(self, api_version: str) -> ResourceType | None:
        """Return the type of the same objects in another version; None if the kind does not have the version.

        It is this type if the objects have the same form in both versions, or if a webhook converts them.
        """
        ...

    def converted(self, obj: dict[str, JSON], source: ResourceType) -> dict[str, JSON]:
        """Return an object of another version in this one, for kinds without a conversion webhook."""
        ...

    def read_declared(self, body: bytes) -> dict[str, JSON] | None: ...
    def decode(
        self,
        obj: dict[str, JSON],
        *,
        field_validation: str,
        warnings: list[str],
        duplicates: Sequence[str] = (),
        dropped_by_apply: list[str] | None = None,
        kept: Collection[str] = (),
        is_declared: bool = False,
    ) -> DecodedFields | None: ...
    def prepare_create(
        self,
        obj: dict[str, JSON],
        *,
        warnings: list[str],
        decoded_fields: DecodedFields | None = None,
        user: User | None = None,
        is_dry_run: bool = False,
    ) -> LongValidation | None: ...
    def prepare_update(
        self,
        new: dict[str, JSON],
        old: dict[str, JSON],
        *,
        subresource: str | None,
        warnings: list[str],
        decoded_fields: DecodedFields | None = None,
        is_dry_run: bool = False,
    ) -> LongValidation | None: ...
    @property
    def internal_zeros(self) -> Mapping[str, JSON]:
        """What a bookmark has besides `blank`."""
        ...

    @property
    def appends_suffix(self) -> bool:
        """Whether a generated name is `generateName` with a random suffix, or without."""
        ...

    def blank(self) -> dict[str, JSON]: ...
    def selectable_fields(self, obj: Mapping[str, JSON]) -> Mapping[str, str]: ...
    def stored(self, obj: dict[str, JSON]) -> dict[str, JSON]: ...
    def on_read(self, obj: dict[str, JSON]) -> dict[str, JSON]: ...


def is_event(resource: ResourceType) -> bool:
    """Return whether a resource has the events, the only objects that kube-apiserver does not read from a cache."""
    return resource.plural == "events" and not resource.storage_group


def with_type_meta(obj: dict[str, JSON], resource: ResourceType) -> dict[str, JSON]:
    """Return the object with kind, apiVersion and metadata in front, as kube-apiserver writes them."""
    found = {"kind": "", "apiVersion": "", "metadata": {}, **obj}
    found["kind"], found["apiVersion"] = resource.kind, resource.api_version
    return found
