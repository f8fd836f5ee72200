"""`BuiltinResourceType`: a built-in kind in one version, decoded by its OpenAPI schema and handled by its strategy."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from pyctrl._go.durations import age
from pyctrl._validation import names
from pyctrl.apiserver import _errors as answers
from pyctrl.apiserver._fieldmanager.fieldset import FieldSet
from pyctrl.apiserver._meta.generation import bump_generation, keep_metadata
from pyctrl.apiserver._meta.table_columns import DEFAULT_COLUMNS, described_column
from pyctrl.apiserver._meta.validation import MetadataCheck, validate_metadata, validate_metadata_update
from pyctrl.apiserver._registry.builtin_resource import BuiltinResource, RESTFactory
from pyctrl.apiserver._registry.strategy import Strategy
from pyctrl.apiserver._registry.table_cells import NONE, Cells
from pyctrl.apiserver._resources.resource_type import DecodedFields
from pyctrl.apiserver._resources.unserved_kinds import UNSERVED_KINDS
from pyctrl.apiserver._schema.components import OpenAPIComponents
from pyctrl.apiserver._schema.raw_json import RawPath, raw_path
from pyctrl.apiserver._schema.required_lists import RequiredLists
from pyctrl.apiserver._schema.schema import JSON, SchemaNode
from pyctrl.apiserver._schema.typed import DecodeFailed, decode, empty
from pyctrl.apiserver._serializer.strict import report_unknown

if TYPE_CHECKING:
    from pyctrl.apiserver._authn import User
    from pyctrl.apiserver._resources.deletion_strategy import DeletionStrategy, GarbageCollectionPolicy
    from pyctrl.apiserver._resources.resource_storage import ResourceStorage
    from pyctrl.apiserver._resources.resource_type import ResourceType

__all__ = ["BuiltinResourceType", "Described"]

Described: TypeAlias = Mapping[str, Any]  # a resource as the aggregated discovery document has it


class BuiltinResourceType:
    """A built-in kind in one version. `ResourceType` has the contract."""

    converts: bool = False
    is_custom: bool = False
    is_terminating: bool = False
    #: The types of the same objects in other versions, by `apiVersion`, where these have another form.
    other_versions: Mapping[str, BuiltinResourceType] = MappingProxyType({})

    def __init__(
        self,
        resource: BuiltinResource,
        version: str,
        described: Described,
        components: OpenAPIComponents,
        strategy: Strategy | None = None,
    ) -> None:
        self.resource = resource
        self.group = resource.group
        self.version = version
        self.described = described
        self.kind: str = described["responseKind"]["kind"]
        self.plural: str = described["resource"]
        self.singular: str = described["singularResource"]
        self.namespaced: bool = described["scope"] == "Namespaced"
        self.list_kind: str = f"{self.kind}List"
        self.short_names: tuple[str, ...] = tuple(described.get("shortNames", ()))
        self.categories: tuple[str, ...] = tuple(described.get("categories", ()))
        self.verbs: tuple[str, ...] = tuple(described["verbs"])
        self.subresources: frozenset[str] = frozenset(each["subresource"] for each in described.get("subresources", ()))
        self.deprecation: str = resource.deprecation
        self.strategy: Strategy = strategy or resource.new_strategy()
        self.parts: frozenset[str] = self.subresources & {"status", *self.strategy.subresources}
        self.rest: Mapping[str, RESTFactory] = resource.rest
        self.cells_are_of_written: bool = resource.cells_are_of_written
        self.row_order: Callable[[dict[str, JSON]], tuple[int, str]] | None = resource.row_order
        self.row_conditions: Callable[[dict[str, JSON]], list[JSON]] | None = resource.row_conditions
        self.repeats_columns: bool = resource.repeats_columns
        self.has_status_table: bool = resource.has_status_table
        self.rest_storage: ResourceStorage | None = None
        self.has_generation: bool = self.strategy.has_generation
        self.deletion: DeletionStrategy | None = self.strategy.deletion
        self.garbage_collection: GarbageCollectionPolicy = self.strategy.garbage_collection
        self.delete_warning: str = self.strategy.delete_warning
        self.allows_unconditional_update: bool = self.strategy.allows_unconditional_update
        self.allows_create_on_update: bool = self.strategy.allows_create_on_update
        self.returns_deleted_object: bool = self.strategy.returns_deleted_object
        self.storage_group: str = self.group if resource.storage_group is None else resource.storage_group
        self.storage_version: str = resource.storage_version or version
        self.raw_paths: tuple[RawPath, ...] = tuple(map(raw_path, resource.raw_fields))
        self.storage_prefix: str = resource.storage_prefix or self.plural
        self.document: str = f"{self.group or 'core'}_{version}"  # the OpenAPI document that describes the kind
        self._components = components
        self._schema: SchemaNode | None = None
        self._blank: dict[str, JSON] | None = None
        self._required_lists: RequiredLists | None = None

    def __repr__(self) -> str:
        return f"<{self.plural}.{self.version}.{self.group}>"

    @property
    def api_version(self) -> str:
        """`apps/v1`, or `v1` for the core group."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def schema(self) -> SchemaNode:
        """The schema of the kind, compiled on first use."""
        if self._schema is None:
            found = self._components.kind(self.document, self.group, self.version, self.kind)
            self._schema = found if found is not None else SchemaNode(open=True)
        return self._schema

    @property
    def required_lists(self) -> RequiredLists:
        """The lists that are written even if the object does not have them."""
        if self._required_lists is None:
            self._required_lists = RequiredLists(self.schema)
        return self._required_lists

    @property
    def storage(self) -> BuiltinResourceType:
        """This type: built-in objects are stored in the version in which they were written."""
        return self

    @property
    def columns(self) -> Sequence[Mapping[str, JSON]]:
        """The column definitions of the kind's table."""
        return [described_column(each) for each in self._columns]

    def cells(self, obj: dict[str, JSON]) -> list[JSON]:
        """Return the cells of an object's row, in the order of the columns."""
        metadata = obj["metadata"]
        created = metadata.get("creationTimestamp")
        cells: Cells = {"Name": metadata.get("name", ""), "Age": age(created), "Created At": created}
        if self.resource.cells is not None:
            cells.update(self.resource.cells(obj))
        names = (*(column["name"] for column in self._columns), *self.resource.extra_cells)
        return [cells.get(each, NONE) for each in names]

    @property
    def _columns(self) -> Sequence[Mapping[str, JSON]]:
        root = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        return self._components.columns(f"{root}/{self.plural}") or DEFAULT_COLUMNS

    def reset_fields(self, subresource: str | None) -> FieldSet:
        """Return the fields that a write to the object, or to a subresource, neither changes nor owns."""
        if (resets := self.strategy.reset_fields.get(subresource or "")) is not None:
            return resets
        if subresource == "status":
            kept: FieldSet = {f"f:{name}": {} for name in self.strategy.status_reset_fields}
            others: FieldSet = {
                f"f:{name}": {} for name in self.schema.properties if name not in ("metadata", "status")
            }
            return {**others, **({"f:metadata": kept} if kept else {})}
        return {"f:status": {}} if "status" in self.subresources else {}

    def in_version(self, api_version: str) -> BuiltinResourceType | None:
        """Return the type of another version that kube-apiserver's scheme has."""
        if api_version == self.api_version or self.kind in UNSERVED_KINDS.get(api_version, ()):
            return self
        return self.other_versions.get(api_version)

    def converted(self, obj: dict[str, JSON], source: ResourceType) -> dict[str, JSON]:
        """Convert an object of another version, which may lack fields that every stored object has."""
        return self.on_read(decode(source.schema, {**obj, "apiVersion": source.api_version}, []))

    @property
    def internal_zeros(self) -> Mapping[str, JSON]:
        """What a bookmark has besides `blank`."""
        return self.resource.internal_zeros

    @property
    def appends_suffix(self) -> bool:
        """Whether a generated name is `generateName` with a random suffix."""
        return self.strategy.appends_suffix

    def blank(self) -> dict[str, JSON]:
        """Return an object with the zero values of its Go type."""
        if self._blank is None:
            self._blank = empty(self.schema)
        return self._blank

    def read_declared(self, body: bytes) -> None:
        """Return None: `decode` reads every object."""

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
    ) -> None:
        """Decode an object by its Go type and fill defaults; unknown fields are refused or dropped.

        Args:
            kept: Fields that are decoded and defaulted already.
        """
        unknown: list[str] = []
        try:
            read = decode(self.schema, obj, unknown, kept)
        except DecodeFailed as failed:
            unfit = answers.UndecodableBody(self.kind, self.version, str(failed), converted=failed.converted)
            if failed.wrapped is not None:
                unfit.wrapped = failed.place, failed.wrapped
            raise unfit from failed
        report_unknown(self.kind, self.version, unknown, duplicates, field_validation, warnings)
        obj.clear()
        obj.update(read)
        obj["kind"], obj["apiVersion"] = self.kind, self.api_version
        self.strategy.default(obj)

    def prepare_create(
        self,
        obj: dict[str, JSON],
        *,
        warnings: list[str],
        decoded_fields: DecodedFields | None = None,
        user: User | None = None,
        is_dry_run: bool = False,
    ) -> None:
        """Set the fields that the server decides, and validate a new object."""
        strategy, metadata = self.strategy, obj["metadata"]
        if self.has_generation:
            metadata["generation"] = 1
        if "status" in self.subresources and not strategy.keeps_status_on_create:
            self._reset_status(obj)
        if strategy.prepares_creator is not None and user is not None:
            strategy.prepares_creator(obj, user)
        if strategy.warns_before_preparation is not None:
            warnings.extend(strategy.warns_before_preparation(obj))
        strategy.prepare(obj, None, is_dry_run=is_dry_run)
        strategy.drop(obj, None)
        if strategy.on_create is not None:
            is_strict = strategy.on_create is MetadataCheck.WHOLE
            causes = validate_metadata(
                metadata, namespaced=self.namespaced, name_rule=strategy.name_rule, standard_finalizers=is_strict
            )
            self._refuse(obj, [*causes, *strategy.validate(obj, None)])
        else:
            self._refuse(obj, strategy.validate(obj, None))
            rule = names.path_segment
            self._refuse(
                obj,
                validate_metadata(metadata, namespaced=self.namespaced, name_rule=rule, standard_finalizers=False),
            )
        strategy.allocate(obj, None)
        warnings.extend(strategy.warn(obj))
        self.required_lists.take(obj)

    def _reset_status(self, obj: dict[str, JSON]) -> None:
        obj.pop("status", None)
        node = self.schema.properties.get("status")
        if node is not None and self.schema.go is not None and "status" in self.schema.go.structs:
            obj["status"] = empty(node)

    def prepare_update(
        self,
        new: dict[str, JSON],
        old: dict[str, JSON],
        *,
        subresource: str | None,
        warnings: list[str],
        decoded_fields: DecodedFields | None = None,
        is_dry_run: bool = False,
    ) -> None:
        """Put back the fields that this write may not change, set the generation, and validate."""
        strategy = self.strategy
        part = strategy.subresources.get(subresource or "")
        if subresource == "status":
            self._keep_all_but_status(new, old)
        elif part is None and "status" in self.subresources and "status" in old:
            new["status"] = old["status"]
        if part is not None:
            part.keep(new, old)
        empty = self.required_lists.take(new)  # they are no change
        strategy.prepare(new, old, is_dry_run=is_dry_run)
        if self.has_generation and not strategy.increments_generation:
            keep_metadata(new["metadata"], old["metadata"], ("generation",))
        elif self.has_generation:
            bump_generation(new, old, metadata=() if subresource else strategy.generation_metadata)
        strategy.drop(new, old)
        with empty.shown():
            self._validate_update(new, old, subresource)
        if subresource is None:
            strategy.allocate(new, old)
            if strategy.warns_on_update(new, old):
                warnings.extend(strategy.warn(new))

    def _validate_update(self, new: dict[str, JSON], old: dict[str, JSON], subresource: str | None) -> None:
        strategy = self.strategy
        causes = validate_metadata_update(
            new["metadata"],
            old["metadata"],
            strategy.on_update,
            is_namespaced=self.namespaced,
            name_rule=strategy.name_rule,
        )
        self._refuse(new, [*causes, *strategy.validate_update(subresource, new, old)])

    def _keep_all_but_status(self, new: dict[str, JSON], old: Mapping[str, JSON]) -> None:
        for key in [key for key in new if key not in ("metadata", "status", "kind", "apiVersion")]:
            if key not in old:
                del new[key]
        new.update({key: value for key, value in old.items() if key not in ("metadata", "status")})
        keep_metadata(new["metadata"], old["metadata"], self.strategy.status_reset_fields)

    def _refuse(self, obj: Mapping[str, JSON], causes: list[answers.FieldError]) -> None:
        if causes:
            raise answers.invalid(self.kind, obj["metadata"].get("name", ""), causes, group=self.storage_group)

    def selectable_fields(self, obj: Mapping[str, JSON]) -> Mapping[str, str]:
        """Return the values of the field labels that selectors may use."""
        return self.strategy.selectable_fields(obj, namespaced=self.namespaced)

    def stored(self, obj: dict[str, JSON]) -> dict[str, JSON]:
        """Return the object in the version of `storage`."""
        return obj

    def on_read(self, obj: dict[str, JSON]) -> dict[str, JSON]:
        """Convert a stored object to this version; defaults were set when it was written."""
        if obj.get("apiVersion") == self.api_version:
            return obj
        read: dict[str, JSON] = decode(self.schema, self.resource.convert(obj, self.api_version), [])
        return read
