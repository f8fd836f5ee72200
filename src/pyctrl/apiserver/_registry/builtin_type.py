"""A built-in resource: decoded by its Go type's rules, defaulted and checked by its kind's strategy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from pyctrl._validation import names
from pyctrl.apiserver import _errors as answers
from pyctrl.apiserver._meta.generation import bump_generation, keep_metadata
from pyctrl.apiserver._meta.validation import MetadataCheck, validate_metadata, validate_metadata_update
from pyctrl.apiserver._registry.conversions import convert
from pyctrl.apiserver._registry.strategy import Strategy
from pyctrl.apiserver._resources.resource_type import DecodedFields
from pyctrl.apiserver._schema.components import OpenAPIComponents
from pyctrl.apiserver._schema.schema import JSON, SchemaNode
from pyctrl.apiserver._schema.typed import DecodeFailed, decode, empty
from pyctrl.apiserver._serializer.strict import report_unknown

if TYPE_CHECKING:
    from pyctrl.apiserver._authn import User

Described: TypeAlias = Mapping[str, Any]  # a resource as the aggregated discovery document has it

_DEPRECATED = {
    ("", "ComponentStatus"): "v1 ComponentStatus is deprecated in v1.19+",
    ("", "Endpoints"): "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
}


class BuiltinResourceType:
    """One built-in resource in one version. See `ResourceType` for what is promised."""

    converts: bool = False
    is_custom: bool = False

    def __init__(
        self, group: str, version: str, described: Described, components: OpenAPIComponents, strategy: Strategy
    ) -> None:
        self.group = group
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
        self.deprecation: str = _DEPRECATED.get((group, self.kind), "")
        self.parts: frozenset[str] = self.subresources & {"status", *strategy.doors}
        self.strategy = strategy
        self.has_generation: bool = self.strategy.has_generation
        self.begin_deletion: Callable[[dict[str, JSON]], None] | None = strategy.begin_deletion
        # Where objects of this kind are kept:
        self.storage_group: str = "" if group == "events.k8s.io" else group
        self.storage_version: str = self.strategy.storage_version or version
        self.document: str = f"{group or 'core'}_{version}"
        self._components = components
        self._schema: SchemaNode | None = None
        self._blank: dict[str, JSON] | None = None

    def __repr__(self) -> str:
        return f"<{self.plural}.{self.version}.{self.group}>"

    @property
    def api_version(self) -> str:
        """`apps/v1`, or `v1` for the core group."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def schema(self) -> SchemaNode:
        """The node of the kind, compiled when it is first asked for."""
        if self._schema is None:
            found = self._components.kind(self.document, self.group, self.version, self.kind)
            self._schema = found if found is not None else SchemaNode(open=True)
        return self._schema

    @property
    def storage(self) -> BuiltinResourceType:
        """This type: built-in objects are stored in the version in which they were written."""
        return self

    @property
    def columns(self) -> Sequence[Mapping[str, JSON]]:
        """The columns of the kind's table."""
        root = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        return self._components.columns(f"{root}/{self.plural}")

    def blank(self) -> dict[str, JSON]:
        """What an object of this kind is before anything is set: Go's zero, which a create is compared with."""
        if self._blank is None:
            self._blank = empty(self.schema)
        return self._blank

    def decode(
        self,
        obj: dict[str, JSON],
        *,
        field_validation: str,
        warnings: list[str],
        duplicates: Sequence[str] = (),
        is_applied: bool = False,
    ) -> None:
        """Bring the object into the form of its Go type and fill defaults; unknown fields are refused or dropped."""
        unknown: list[str] = []
        try:
            read = decode(self.schema, obj, unknown)
        except DecodeFailed as failed:
            raise answers.UndecodableBody(self.kind, self.version, str(failed), converted=failed.converted) from failed
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
        settled: DecodedFields | None = None,
        user: User | None = None,
    ) -> None:
        """Strip what only the server writes, decide what it decides, and check."""
        strategy, metadata = self.strategy, obj["metadata"]
        if self.has_generation:
            metadata["generation"] = 1
        if "status" in self.subresources and not strategy.keeps_status_on_create:
            self._reset_status(obj)
        if strategy.sets_creator is not None and user is not None:
            strategy.sets_creator(obj, user)
        strategy.complete(obj, None)
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
        strategy.store(obj, None)
        warnings.extend(strategy.warn(obj))

    def _reset_status(self, obj: dict[str, JSON]) -> None:
        obj.pop("status", None)
        node = self.schema.properties.get("status")
        if node is not None and self.schema.go is not None and "status" in self.schema.go.structs:
            obj["status"] = empty(node)

    def prepare_update(
        self, new: dict[str, JSON], old: dict[str, JSON], *, subresource: str | None, warnings: list[str]
    ) -> None:
        """Keep what this door may not change, count the generation, and check."""
        strategy = self.strategy
        door = strategy.doors.get(subresource or "")
        if subresource == "status":
            self._keep_all_but_status(new, old)
        elif door is None and "status" in self.subresources and "status" in old:
            new["status"] = old["status"]
        if door is not None:
            door.keep(new, old)
        strategy.complete(new, old)
        if self.has_generation:
            bump_generation(new, old, annotations_too=strategy.annotations_count and subresource is None)
        causes = validate_metadata_update(
            new["metadata"], old["metadata"], strategy.on_update, is_namespaced=self.namespaced
        )
        self._refuse(new, [*causes, *strategy.validate_through(subresource, new, old)])
        if subresource is None:
            strategy.store(new, old)
        if subresource is None:
            warnings.extend(strategy.warn(new))

    def _keep_all_but_status(self, new: dict[str, JSON], old: Mapping[str, JSON]) -> None:
        for key in [key for key in new if key not in ("metadata", "status", "kind", "apiVersion")]:
            if key not in old:
                del new[key]
        new.update({key: value for key, value in old.items() if key not in ("metadata", "status")})
        keep_metadata(new["metadata"], old["metadata"], self.strategy.status_keeps)

    def _refuse(self, obj: Mapping[str, JSON], causes: list[answers.FieldError]) -> None:
        if causes:
            raise answers.invalid(self.kind, obj["metadata"].get("name", ""), causes, group=self.storage_group)

    def selectable_fields(self, obj: Mapping[str, JSON]) -> Mapping[str, str]:
        """The values field selectors may ask for; the keys are the fields this kind supports."""
        return self.strategy.selectable_fields(obj, namespaced=self.namespaced)

    def stored(self, obj: dict[str, JSON]) -> dict[str, JSON]:
        """Return the object in the version of `storage`."""
        return obj

    def on_read(self, obj: dict[str, JSON]) -> dict[str, JSON]:
        """Serve a stored object in this version; defaulting happened when it was written."""
        if obj.get("apiVersion") == self.api_version:
            return obj
        read: dict[str, JSON] = decode(self.schema, convert(obj, self.api_version), [])
        return read
