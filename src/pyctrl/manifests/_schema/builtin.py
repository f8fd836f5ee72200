"""Schemas of built-in kinds and their parts, from Kubernetes' own OpenAPI documents, for use in custom kinds."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from msgspec import UNSET, UnsetType

from pyctrl import _schemas
from pyctrl.api import ObjectMeta
from pyctrl.manifests._schema.scalars import INT_OR_STRING, QUANTITY
from pyctrl.manifests._schema.schema import JSON, Schema

__all__ = ["OBJECT_META", "builtin_schema", "builtin_schema_by_name", "is_builtin"]

_KINDS = "pyctrl.kinds."
_META = "io.k8s.apimachinery.pkg.apis.meta.v1."
_TEXTS = Schema(type="object", additional_properties=Schema(type="string"))
#: Fields of an embedded object's metadata that are kept: those that its author sets.
OBJECT_META = Schema(
    type="object",
    properties={
        "annotations": _TEXTS,
        "finalizers": Schema(type="array", items=Schema(type="string")),
        "labels": _TEXTS,
        "name": Schema(type="string"),
        "namespace": Schema(type="string"),
    },
)
_ANYTHING = Schema(preserve_unknown_fields=True)
_KNOWN = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": QUANTITY,
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": INT_OR_STRING,
    "io.k8s.apimachinery.pkg.runtime.RawExtension": Schema(type="object", preserve_unknown_fields=True),
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON": _ANYTHING,
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps": _ANYTHING,
    f"{_META}FieldsV1": Schema(type="object", preserve_unknown_fields=True),
    f"{_META}ObjectMeta": OBJECT_META,
}


def is_builtin(cls: type[object]) -> bool:
    """Return whether a class is one of Kubernetes' built-in types."""
    return cls.__module__.startswith(_KINDS) and not cls.__module__.startswith(f"{_KINDS}_")


def builtin_schema(cls: type[object]) -> Schema | None:
    """Return the schema of a built-in class; None for any other."""
    if cls is ObjectMeta:
        return OBJECT_META
    if not is_builtin(cls):
        return None
    return builtin_schema_by_name(cls.__module__, cls.__name__)


def builtin_schema_by_name(module: str, name: str) -> Schema | None:
    """Return the schema of a built-in class by its module and name; None if there is none."""
    group, version = module.removeprefix(_KINDS).split(".")
    found = _references().get((group, version, name))
    return None if found is None else _component(found)


@cache
def _components() -> dict[str, Mapping[str, JSON]]:
    documents = (_schemas.load(name)["schemas"] for name in _schemas.GROUP_VERSIONS)
    return {name: schema for document in documents for name, schema in document.items()}


@cache
def _references() -> dict[tuple[str, str, str], str]:
    """Return component names by group, version and class: ``io.k8s.api.core.v1.PodSpec`` is core, v1, PodSpec."""
    found = {}
    for name in _components():
        *_, group, version, kind = name.split(".")
        found[group, version, kind] = name
    return found


@cache
def _component(name: str) -> Schema:
    return _KNOWN.get(name) or _converted(_components()[name])


def _converted(raw: Mapping[str, JSON]) -> Schema:
    reference = raw.get("$ref") or next((each["$ref"] for each in raw.get("allOf", ()) if "$ref" in each), None)
    if reference:
        return _component(reference.rpartition("/")[2])
    required = tuple(raw.get("required", ()))
    additional = raw.get("additionalProperties")
    return Schema(
        type=raw.get("type", ""),
        format=raw.get("format", ""),
        default=_default(raw),
        items=_converted(raw["items"]) if "items" in raw else None,
        additional_properties=_converted(additional) if isinstance(additional, Mapping) else None,
        properties={key: _property(key, each, required) for key, each in raw.get("properties", {}).items()},
        required=tuple(sorted(required)),
        preserve_unknown_fields=not raw.get("type"),
        list_type=raw.get("x-kubernetes-list-type", ""),
        list_map_keys=tuple(raw.get("x-kubernetes-list-map-keys", ())),
        map_type=raw.get("x-kubernetes-map-type", ""),
    )


def _property(key: str, raw: Mapping[str, JSON], required: tuple[str, ...]) -> Schema:
    """Return the schema of a field. The default of a required field is dropped: it is Go's zero value."""
    return _converted({name: value for name, value in raw.items() if name != "default" or key not in required})


def _default(raw: Mapping[str, JSON]) -> JSON | UnsetType:
    default = raw.get("default", UNSET)
    return UNSET if default == {} else default
