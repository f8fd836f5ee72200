"""Resource type of a custom resource in one version."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from pyctrl._go.text import shown_value
from pyctrl._validation import names
from pyctrl.apiserver import _errors as errors
from pyctrl.apiserver._apiextensions.compiled import CompiledSchema, compile_object
from pyctrl.apiserver._apiextensions.compiled_metadata import metadata_fields
from pyctrl.apiserver._apiextensions.pruning import prune
from pyctrl.apiserver._apiextensions.validator import validate_embedded, validate_scale
from pyctrl.apiserver._fieldmanager.fieldset import FieldSet
from pyctrl.apiserver._meta.generation import bump_generation, same_json
from pyctrl.apiserver._meta.validation import (
    MetadataCheck,
    finalizer_warnings,
    validate_metadata,
    validate_metadata_update,
)
from pyctrl.apiserver._resources.deletion_strategy import DeletionStrategy, GarbageCollectionPolicy
from pyctrl.apiserver._resources.resource_type import ConnectedSubresource, DecodedFields, LongValidation, RESTFactory
from pyctrl.apiserver._resources.served_resources import version_rank
from pyctrl.apiserver._schema.components import OpenAPIComponents
from pyctrl.apiserver._schema.defaulting import apply_defaults, copied, prune_nulls
from pyctrl.apiserver._schema.field_paths import value_at
from pyctrl.apiserver._schema.ratcheting import ABSENT
from pyctrl.apiserver._schema.raw_json import RawPath
from pyctrl.apiserver._schema.schema import JSON, SchemaNode, compile_structural
from pyctrl.apiserver._schema.typed import DecodeFailed, decode
from pyctrl.apiserver._schema.validation import validate, validate_list_types
from pyctrl.apiserver._serializer.strict import report_unknown

if TYPE_CHECKING:
    from pyctrl.apiserver._apiextensions.cel_validation import RuleValidator
    from pyctrl.apiserver._authn import User
    from pyctrl.apiserver._resources.resource_storage import ResourceStorage
    from pyctrl.apiserver._resources.resource_type import ResourceType

__all__ = ["CustomResourceType", "served_types"]


VERBS = ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")
_META = ("core_v1", "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta")


def served_types(definition: Mapping[str, JSON], components: OpenAPIComponents) -> tuple[CustomResourceType, ...]:
    """Return the types of a definition's served versions."""
    spec = definition["spec"]
    accepted = (definition.get("status") or {}).get("acceptedNames") or spec["names"]
    crd_names = accepted if accepted.get("plural") else spec["names"]
    types = {version["name"]: CustomResourceType(spec, crd_names, version, components) for version in spec["versions"]}
    versions = {each.api_version: each for each in types.values()}
    for each in types.values():
        each.versions = versions
        each.storage = types[each.storage_version]
    return tuple(types[version["name"]] for version in spec["versions"] if version["served"])


class CustomResourceType:
    """A custom resource in one version. `ResourceType` documents its interface."""

    appends_suffix: bool = True
    has_generation: bool = True
    is_custom: bool = True
    is_terminating: bool = False
    deletion: DeletionStrategy | None = None
    garbage_collection: GarbageCollectionPolicy = GarbageCollectionPolicy.DELETE_DEPENDENTS
    delete_warning: str = ""
    internal_zeros: Mapping[str, JSON] = {}
    raw_paths: tuple[RawPath, ...] = ()
    verbs: tuple[str, ...] = VERBS
    allows_unconditional_update: bool = False
    allows_create_on_update: bool = False
    returns_deleted_object: bool = False
    rest: Mapping[str, RESTFactory] = MappingProxyType({})  # their subresources are the same for all definitions
    rest_storage: ResourceStorage | None = None
    repeats_columns: bool = False
    has_status_table: bool = True
    cells_are_of_written: bool = False
    row_order: Callable[[dict[str, JSON]], tuple[int, str]] | None = None
    row_conditions: Callable[[dict[str, JSON]], list[JSON]] | None = None
    connected: tuple[ConnectedSubresource, ...] = ()  # subresources that no definition can declare

    def __init__(
        self,
        spec: Mapping[str, JSON],
        crd_names: Mapping[str, JSON],
        version: Mapping[str, JSON],
        components: OpenAPIComponents,
    ) -> None:
        self.spec = spec
        self.group: str = spec["group"]
        self.storage_group: str = self.group
        self.version: str = version["name"]
        self.api_version: str = f"{self.group}/{self.version}"
        self.kind: str = crd_names["kind"]
        self.plural: str = crd_names["plural"]
        self.storage_prefix: str = f"{self.group}/{self.plural}"
        self.singular: str = crd_names.get("singular") or self.kind.lower()
        self.namespaced: bool = spec["scope"] == "Namespaced"
        self.list_kind: str = crd_names.get("listKind") or f"{self.kind}List"
        self.short_names: tuple[str, ...] = tuple(crd_names.get("shortNames") or ())
        self.categories: tuple[str, ...] = tuple(crd_names.get("categories") or ())
        self.described = version
        self.subresources: frozenset[str] = frozenset(version.get("subresources") or {})
        self.parts: frozenset[str] = self.subresources & {"status"}
        self.scale: Mapping[str, str] | None = (version.get("subresources") or {}).get("scale")
        self.storage_version: str = next(each["name"] for each in spec["versions"] if each["storage"])
        self.deprecation: str = _deprecation(version, spec, self.kind)
        self._fields = {
            each["jsonPath"].removeprefix("."): each["jsonPath"] for each in version.get("selectableFields") or ()
        }
        #: Whether a webhook converts between versions.
        self.converts: bool = (spec.get("conversion") or {}).get("strategy") == "Webhook"
        #: The type of the storage version, and the types of all versions, served or not.
        self.storage: CustomResourceType = self
        self.versions: Mapping[str, CustomResourceType] = {self.api_version: self}
        self._components = components
        self._schema: SchemaNode | None = None
        self._metadata_limits: SchemaNode | None = None
        self._compiled: CompiledSchema | None = None
        self._rules: RuleValidator | None = None

    def __repr__(self) -> str:
        return f"<{self.plural}.{self.version}.{self.group}>"

    @property
    def schema(self) -> SchemaNode:
        """The schema of the kind, compiled at first use."""
        if self._schema is None:
            text = (self.described.get("schema") or {}).get("openAPIV3Schema") or {}
            self._schema = node = compile_structural(text)
            node.preserve = node.preserve or bool(self.spec.get("preserveUnknownFields"))
            limits = node.properties.get("metadata")
            self._metadata_limits = limits if limits is not None and limits.properties else None
            node.properties["metadata"] = self._metadata_node
            node.properties.setdefault("apiVersion", SchemaNode(type="string"))
            node.properties.setdefault("kind", SchemaNode(type="string"))
        return self._schema

    @property
    def _compiled_schema(self) -> CompiledSchema:
        if self._compiled is None:
            self._compiled = compile_object(self.schema)
        return self._compiled

    def _decode_fast(self, obj: dict[str, JSON], *, has_declared_types: bool = False) -> FieldSet | None:
        """Apply defaults; return the fields of the object if it is valid and needs no pruning, else None."""
        schema = self._compiled_schema
        if self.scale is not None and any(self._validate_scale(obj)):
            return None
        return schema.decode(obj) if has_declared_types or schema.has_declared_types(obj) else None

    @property
    def rules(self) -> RuleValidator | None:
        """The validation rules of the kind, compiled at first use; None without rules."""
        if self._rules is None and self.schema.rules:
            from pyctrl.apiserver._apiextensions.cel_validation import compile_rules  # lazy: most kinds have no rules

            self._rules = compile_rules(self.described["schema"]["openAPIV3Schema"])
        return self._rules

    @property
    def _metadata_node(self) -> SchemaNode:
        return self._components.node(*_META)

    @property
    def columns(self) -> Sequence[Mapping[str, JSON]]:
        """The column definitions of the kind's table."""
        from pyctrl.apiserver._apiextensions.table_columns import column_definitions  # only kubectl requests tables

        return column_definitions(self.described.get("additionalPrinterColumns") or ())

    def cells(self, obj: dict[str, JSON]) -> list[JSON]:
        """Return the cells of an object's row, in the order of the columns."""
        from pyctrl.apiserver._apiextensions.table_columns import row_cells  # only kubectl requests tables

        return row_cells(self.described.get("additionalPrinterColumns") or (), obj)

    def reset_fields(self, subresource: str | None) -> FieldSet:
        """Return the fields that a write to the object, or to a subresource, neither changes nor owns."""
        if subresource == "status":
            return {"f:metadata": {}, "f:spec": {}}
        return {"f:status": {}} if "status" in self.subresources else {}

    def in_version(self, api_version: str) -> CustomResourceType | None:
        """Return the type of another version, served or not; this one if a webhook converts objects."""
        return self if self.converts and api_version in self.versions else self.versions.get(api_version)

    def converted(self, obj: dict[str, JSON], source: ResourceType) -> dict[str, JSON]:
        """Return an object of another version in this one: only its `apiVersion` changes."""
        return {**obj, "apiVersion": self.api_version}

    def blank(self) -> dict[str, JSON]:
        """Return an empty object: a custom resource has no built-in fields."""
        return {}

    def read_declared(self, body: bytes) -> dict[str, JSON] | None:
        """Decode JSON of this kind with declared keys and types only, in the usual form; None if it is any other."""
        obj = self._compiled_schema.read(body)
        if not isinstance(obj, dict) or (obj.get("kind"), obj.get("apiVersion")) != (self.kind, self.api_version):
            return None
        return obj

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
    ) -> DecodedFields | None:
        """Decode metadata as its Go type, drop unknown fields, and apply defaults.

        Args:
            dropped_by_apply: A list if the object is the result of a server-side apply, whose nulls are kept and
                validated. The unknown fields are added to it.
            kept: Not used: a definition may have changed since these fields were stored.
            is_declared: `read_declared` has returned the object.
        """
        unknown: list[str] = []
        metadata = metadata_fields(obj.get("metadata"), is_namespaced=self.namespaced)
        try:
            if metadata is None:
                obj["metadata"] = self._read_metadata(obj.get("metadata") or {}, "metadata", unknown)
            fields = self._decode_fast(obj, has_declared_types=is_declared)
            if fields is None:
                prune(self.schema, obj, unknown, self._read_embedded)
        except DecodeFailed as failed:
            raise errors.UndecodableBody(self.kind, self.version, str(failed)) from failed
        if unknown or duplicates:
            report_unknown(self.kind, self.version, unknown, [*duplicates], field_validation, warnings)
        if dropped_by_apply is not None:
            dropped_by_apply.extend(unknown)
        if fields is None:
            self._fill(obj, is_applied=dropped_by_apply is not None)
        obj["kind"], obj["apiVersion"] = self.kind, self.api_version
        return None if fields is None else DecodedFields(fields, metadata)

    def _fill(self, obj: dict[str, JSON], *, is_applied: bool) -> None:
        metadata = obj.pop("metadata")
        if not is_applied:  # validation rejects the nulls of an apply configuration
            prune_nulls(self.schema, obj)
        apply_defaults(self.schema, obj)
        obj["metadata"] = metadata

    def _read_embedded(self, key: str, value: JSON, path: str, unknown: list[str]) -> JSON:
        """Return the apiVersion, kind or metadata of an embedded object, decoded."""
        if key == "metadata":
            return self._read_metadata(value, path, unknown)
        if type(value) is not str:
            raise DecodeFailed(f"{path}: Invalid value: {shown_value(value)}: must be a string")
        return value

    def _read_metadata(self, metadata: JSON, path: str, unknown: list[str]) -> JSON:
        found: list[str] = []
        try:
            read = decode(self._metadata_node, metadata, found)
        except DecodeFailed as failed:
            if path == "metadata":
                raise
            raise DecodeFailed(f"{path}: Invalid value: {_sorted_text(metadata)}: {failed}") from None
        unknown.extend(f"{path}.{each}" for each in sorted(found))
        return read

    def prepare_create(
        self,
        obj: dict[str, JSON],
        *,
        warnings: list[str],
        decoded_fields: DecodedFields | None = None,
        user: User | None = None,
        is_dry_run: bool = False,
    ) -> LongValidation | None:
        """Prepare and validate a new object: drop its status, set its generation."""
        metadata, causes = obj["metadata"], list[errors.FieldError]()
        if "status" in self.subresources and obj.pop("status", None) is not None:
            decoded_fields = None  # it may have been required
        metadata["generation"] = 1
        if decoded_fields is None or decoded_fields.metadata is None:
            causes += validate_metadata(
                metadata, namespaced=self.namespaced, name_rule=names.subdomain, standard_finalizers=False
            )
        if self._metadata_limits is not None:
            causes += self._validate_names(metadata, self._metadata_limits)
        if decoded_fields is None:
            causes += self.validate(obj, None)
        return self._evaluate_rules(obj, None, causes, warnings)

    def prepare_update(
        self,
        new: dict[str, JSON],
        old: dict[str, JSON],
        *,
        subresource: str | None,
        warnings: list[str],
        decoded_fields: DecodedFields | None = None,
        is_dry_run: bool = False,
    ) -> LongValidation | None:
        """Prepare and validate an update: keep fields that the endpoint must not change, bump the generation."""
        is_valid = decoded_fields is not None and subresource is None
        if subresource == "status":
            _keep_all_but_status(new, old)
        elif "status" in self.subresources:
            is_valid = is_valid and same_json(new.pop("status", None), old.get("status"))
            if "status" in old:
                new["status"] = old["status"]
        bump_generation(new, old, with_status="status" not in self.subresources)
        causes = validate_metadata_update(
            new["metadata"], old["metadata"], (MetadataCheck.PLAIN_CHANGE,), is_namespaced=self.namespaced
        )
        found = [] if is_valid else self.validate(new, old)
        causes += _of_status(found) if subresource == "status" else found
        return self._evaluate_rules(new, old, causes, warnings)

    def _evaluate_rules(
        self,
        new: dict[str, JSON],
        old: dict[str, JSON] | None,
        causes: list[errors.FieldError],
        warnings: list[str],
    ) -> LongValidation | None:
        """End a validation: evaluate the rules, raise all errors. Return the end of a validation that takes long."""
        rules = self.rules
        if rules is None:
            self._end_validation(new, old, causes, warnings)
            return None
        found = rules.validate_short(new, old, causes, warnings)
        if found is not None:
            self._end_validation(new, old, causes + found, warnings)
            return None

        def end() -> None:
            self._end_validation(new, old, causes + rules.validate(new, old, causes, warnings), warnings)

        return end

    def _end_validation(
        self,
        new: Mapping[str, JSON],
        old: Mapping[str, JSON] | None,
        causes: list[errors.FieldError],
        warnings: list[str],
    ) -> None:
        self._raise_invalid(new, causes)
        if "finalizers" in new["metadata"]:
            warnings.extend(finalizer_warnings(new["metadata"], None if old is None else old["metadata"]))

    def _validate_names(self, metadata: Mapping[str, JSON], limits: SchemaNode) -> list[errors.FieldError]:
        """Validate the name of a new object against the definition, which may restrict no other metadata."""
        limited = {key: metadata[key] for key in limits.properties if key in metadata}
        return validate(SchemaNode(properties={"metadata": limits}), {"metadata": limited})

    def validate(self, obj: dict[str, JSON], old: dict[str, JSON] | None) -> list[errors.FieldError]:
        """Validate an object, which replaces `old`, against the schema."""
        checked = copied(obj) if self.schema.has_defaults else obj  # a check sets defaults
        return [] if self._decode_fast(checked) is not None else self._schema_causes(obj, old)

    def _schema_causes(self, obj: dict[str, JSON], old: dict[str, JSON] | None) -> list[errors.FieldError]:
        """Return the errors of values, scale, embedded objects and list types."""
        schema = self.schema
        metadata = obj.pop("metadata")
        causes = validate(schema, obj, old=ABSENT if old is None else old)
        causes = [each for each in causes if each.field != "metadata"]  # removed above; a schema may require it
        causes += self._validate_scale(obj)
        causes += validate_embedded(schema, obj)
        causes += self._validate_list_types(obj, old)
        obj["metadata"] = metadata
        return causes

    def _validate_list_types(self, obj: dict[str, JSON], old: dict[str, JSON] | None) -> list[errors.FieldError]:
        """Return duplicate items; none if the old object has duplicates anywhere (ratcheting)."""
        causes = validate_list_types(self.schema, obj)
        return [] if causes and old is not None and validate_list_types(self.schema, old) else causes

    def _validate_scale(self, obj: Mapping[str, JSON]) -> Iterable[errors.FieldError]:
        return validate_scale(obj, self.scale) if self.scale is not None else ()

    def _raise_invalid(self, obj: Mapping[str, JSON], causes: list[errors.FieldError]) -> None:
        if causes:
            raise errors.invalid(self.kind, obj["metadata"].get("name", ""), causes, group=self.group)

    def selectable_fields(self, obj: Mapping[str, JSON]) -> Mapping[str, str]:
        """Return name, namespace, and the selectable fields of the definition."""
        metadata = obj["metadata"]
        found = {"metadata.name": metadata.get("name", "")}
        if self.namespaced:
            found["metadata.namespace"] = metadata.get("namespace", "")
        for field, path in self._fields.items():
            value = value_at(obj, path)
            found[field] = "" if value is None else value if isinstance(value, str) else json.dumps(value)
        return found

    def on_read(self, obj: dict[str, JSON]) -> dict[str, JSON]:
        """Return a stored object in this version.

        Fields that the version that it was stored in no longer has are dropped, and its current defaults are applied.
        Then fields that this version does not have are dropped.
        """
        written = self.versions.get(obj["apiVersion"], self)
        written.prune(obj)
        if written.schema.has_defaults:
            apply_defaults(written.schema, obj)
        if written is not self:
            self.prune(obj)
        return obj

    def stored(self, obj: dict[str, JSON]) -> dict[str, JSON]:
        """Return an object of this version in the storage version, for kinds without a conversion webhook."""
        if self.storage is self:
            return obj
        stored: dict[str, JSON] = copied(obj)
        self.storage.prune(stored)
        return stored

    def prune(self, obj: dict[str, JSON]) -> None:
        """Set kind and apiVersion of this version on an object of another version, and drop unknown fields."""
        metadata = obj.pop("metadata")
        prune(self.schema, obj, [], self._read_embedded)
        obj["kind"], obj["apiVersion"], obj["metadata"] = self.kind, self.api_version, metadata


def _sorted_text(value: JSON) -> str:
    return shown_value(json.loads(json.dumps(value, sort_keys=True)))


def _deprecation(version: Mapping[str, JSON], spec: Mapping[str, JSON], kind: str) -> str:
    """Return the warning of a deprecated version, with the best version to use instead."""
    if not version.get("deprecated"):
        return ""
    if version.get("deprecationWarning"):
        return str(version["deprecationWarning"])
    group, name = spec["group"], version["name"]
    current = [each["name"] for each in spec["versions"] if each["served"] and not each.get("deprecated")]
    better = [each for each in current if version_rank(each) < version_rank(name)]
    successor = f"; use {group}/{min(better, key=version_rank)} {kind}" if better else ""
    return f"{group}/{name} {kind} is deprecated{successor}"


def _of_status(causes: list[errors.FieldError]) -> list[errors.FieldError]:
    """Return the errors in the status, with messages relative to it, for the status subresource."""
    inside = (cause for cause in causes if cause.field.removeprefix(".").startswith("status"))
    return [
        cause._replace(
            message=cause.message.replace(f"{cause.field} in body", f"{cause.field.removeprefix('status.')} in body")
        )
        for cause in inside
    ]


def _keep_all_but_status(new: dict[str, JSON], old: Mapping[str, JSON]) -> None:
    status, managed = new.get("status"), new["metadata"].get("managedFields")
    new.clear()
    new.update(old)
    new["metadata"] = {key: value for key, value in old["metadata"].items() if key != "managedFields"}
    if managed is not None:
        new["metadata"]["managedFields"] = managed
    if status is not None:
        new["status"] = status
    else:
        new.pop("status", None)
