"""Modules, classes and fields of `pyctrl.kinds`, derived from the OpenAPI documents."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pydantic.alias_generators import to_camel

from pyctrl import _schemas
from pyctrl.api import KubernetesObject, Model

Schema = dict[str, Any]

_META = "io.k8s.apimachinery.pkg.apis.meta.v1."

# Definitions without a class: their Python type, and the value of an absent one when it is required.
_TYPES: dict[str, tuple[str, str | None]] = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": ("Quantity", "Quantity(0)"),
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": ("IntOrString", "0"),
    "io.k8s.apimachinery.pkg.runtime.RawExtension": ("dict[str, Any]", None),
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON": ("Any", None),
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrArray": (
        "JSONSchemaProps | list[JSONSchemaProps]",
        None,
    ),
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrBool": ("JSONSchemaProps | bool", None),
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrStringArray": (
        "JSONSchemaProps | list[str]",
        None,
    ),
    f"{_META}FieldsV1": ("dict[str, Any]", None),
    f"{_META}MicroTime": ("MicroTime", None),
    f"{_META}Time": ("Time", None),
}
# Hand-written classes of `pyctrl.api`.
_OF_API = {f"{_META}{name}": name for name in ("Condition", "ListMeta", "ObjectMeta", "OwnerReference")}
# The content of the four definitions above, which OpenAPI does not describe.
_HIDDEN_REFERENCES = {
    name: "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps"
    for name in _TYPES
    if "JSONSchemaPropsOr" in name
}
_SCALARS = {"string": "str", "integer": "int", "boolean": "bool", "number": "float"}
_TYPE_NAMES = {*_SCALARS.values(), "list", "dict"}  # a field of such a name would hide the type
_ZEROS = {"str": '""', "int": "0", "bool": "False", "float": "0.0"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A field of a class: `default` is Python source; with `factory` it is called for each object."""

    name: str
    alias: str | None
    type: str
    default: str
    factory: bool = False
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """How discovery lists a kind."""

    plural: str
    singular: str
    namespaced: bool
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    subresources: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class Class:
    """A class to generate; `gvk` is set for kinds, `served` for kinds that discovery lists."""

    reference: str
    fields: list[Field]
    needs: set[str]
    description: str
    gvk: tuple[str, str, str] | None = None
    served: Served | None = None

    @property
    def name(self) -> str:
        return self.reference.rpartition(".")[2]

    @property
    def module(self) -> str:
        """The module below `pyctrl.kinds`: the last two parts of the definition's package."""
        return ".".join(self.reference.split(".")[-3:-1])


def classes() -> dict[str, Class]:
    """Return all classes by the name of their definition: every kind that is not a list, and all classes they need."""
    definitions: dict[str, Schema] = {}
    found: dict[str, Class] = {}
    for name in _schemas.GROUP_VERSIONS:
        definitions |= _schemas.load(name)["schemas"]
    served, texts = dict(_served()), _schemas.descriptions()
    waiting = sorted(name for name, schema in definitions.items() if _is_kind(schema))
    while waiting:
        reference = waiting.pop()
        if reference not in found and reference not in _OF_API and reference not in _TYPES:
            found[reference] = _class(reference, definitions[reference], served, texts[reference])
            waiting.extend(found[reference].needs)
        elif reference in _HIDDEN_REFERENCES:
            waiting.append(_HIDDEN_REFERENCES[reference])
    return dict(sorted(found.items()))


def _served() -> Iterator[tuple[tuple[str, str, str], Served]]:
    for groups in _schemas.load("discovery").values():
        for group in groups:
            for version in group["versions"]:
                for resource in version["resources"]:
                    gvk = (group["metadata"].get("name", ""), version["version"], resource["responseKind"]["kind"])
                    yield (
                        gvk,
                        Served(
                            plural=resource["resource"],
                            singular=resource["singularResource"],
                            namespaced=resource["scope"] == "Namespaced",
                            short_names=tuple(resource.get("shortNames", ())),
                            categories=tuple(resource.get("categories", ())),
                            subresources=tuple(sub["subresource"] for sub in resource.get("subresources", ())),
                        ),
                    )


def _is_kind(schema: Schema) -> bool:
    metadata = schema.get("properties", {}).get("metadata", {})
    return len(schema.get("x-kubernetes-group-version-kind", ())) == 1 and _reference(metadata) == f"{_META}ObjectMeta"


def _class(
    reference: str, schema: Schema, served: dict[tuple[str, str, str], Served], texts: Mapping[str, str]
) -> Class:
    properties = dict(schema.get("properties", {}))
    gvk = None
    if _is_kind(schema):
        names = schema["x-kubernetes-group-version-kind"][0]
        gvk = (names["group"], names["version"], names["kind"])
        for inherited in ("apiVersion", "kind", "metadata"):
            del properties[inherited]
    parent = KubernetesObject if gvk else Model
    required = schema.get("required", ())
    return Class(
        reference=reference,
        fields=[
            replace(_field(name, part, name in required, parent), description=texts.get(name, ""))
            for name, part in properties.items()
        ],
        needs=set(_references(properties)),
        description=texts[""],
        gvk=gvk,
        served=served.get(gvk) if gvk else None,
    )


def _field(wire: str, schema: Schema, required: bool, parent: type[Model]) -> Field:
    name = python_name(wire, parent)
    alias = None if to_camel(name) == wire else wire
    type_ = _type(schema)
    if type_.startswith(("list[", "dict[")):
        return Field(name=name, alias=alias, type=type_, default=type_.partition("[")[0], factory=True)
    if type_ in _ZEROS and (required or "default" in schema):
        return Field(name=name, alias=alias, type=type_, default=_literal(schema.get("default"), _ZEROS[type_]))
    reference = _reference(schema)
    if reference in _TYPES:
        zero = _TYPES[reference][1]
        if required and zero is not None:
            return Field(name=name, alias=alias, type=type_, default=zero)
    elif reference and (required or "default" in schema):
        return Field(name=name, alias=alias, type=type_, default=type_, factory=True)
    return Field(name=name, alias=alias, type=type_ if type_ == "Any" else f"{type_} | None", default="None")


def python_name(wire: str, parent: type[Model]) -> str:
    """Return a wire name in snake case, with a trailing underscore if Python or pydantic reserves the name."""
    name = re.sub(r"([A-Z]{2,})s(?![a-z])", lambda match: match[1].title() + "s", wire)  # podIPs → podIps
    name = name.replace("-", "_").replace("APIV3", "API_V3").lstrip("$")
    name = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name)
    name = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).lower()
    taken = keyword.iskeyword(name) or hasattr(parent, name) or name in _TYPE_NAMES
    return f"{name}_" if taken else name


def _type(schema: Schema) -> str:
    reference = _reference(schema)
    if reference in _TYPES:
        return _TYPES[reference][0]
    if reference:
        return _OF_API.get(reference) or reference.rpartition(".")[2]
    match schema.get("type"):
        case "array":
            return f"list[{_type(schema['items'])}]"
        case "object":
            return (
                f"dict[str, {_type(schema['additionalProperties'])}]"
                if "additionalProperties" in schema
                else "dict[str, Any]"
            )
        case scalar:
            return _SCALARS[str(scalar)]


def _literal(value: object, zero: str) -> str:
    return zero if value is None else f'"{value}"' if isinstance(value, str) else repr(value)


def _reference(schema: Schema) -> str:
    target = schema.get("$ref") or next((part["$ref"] for part in schema.get("allOf", ()) if "$ref" in part), "")
    return str(target).rpartition("/")[2]


def _references(schema: object) -> Iterator[str]:
    if isinstance(schema, dict):
        if isinstance(schema.get("$ref"), str):
            yield schema["$ref"].rpartition("/")[2]
        for part in schema.values():
            yield from _references(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from _references(part)


def in_order(group: Iterable[Class]) -> list[Class]:
    """Sort classes alphabetically, but each after the classes it needs."""
    waiting = {c.reference: c for c in sorted(group, key=lambda c: c.name)}
    ordered: dict[str, Class] = {}

    def place(current: Class, path: tuple[str, ...]) -> None:
        for needed in needed_by(current):
            if needed in waiting and needed not in ordered and needed not in path:
                place(waiting[needed], (*path, current.reference))
        ordered.setdefault(current.reference, current)

    for current in waiting.values():
        place(current, (current.reference,))
    return list(ordered.values())


def needed_by(cls: Class) -> list[str]:
    """Return the classes that a class refers to, also through definitions without a class."""
    return [_HIDDEN_REFERENCES.get(reference, reference) for reference in sorted(cls.needs)]
