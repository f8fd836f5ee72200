"""JSON Schemas of kinds, with which editors complete and validate YAML."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from pyctrl.api import GroupVersionKind

__all__ = ["json_schema", "json_schema_index", "json_schema_path"]

Schema = Mapping[str, Any]

DRAFT = "http://json-schema.org/draft-07/schema#"  # yaml-language-server and kubeconform read no later draft
OBJECT_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"

_KEPT = (
    *("description", "title", "type", "format", "enum", "default", "minimum", "maximum", "multipleOf"),
    *("minLength", "maxLength", "pattern", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties"),
)
_BOUNDS = {"minimum": "exclusiveMinimum", "maximum": "exclusiveMaximum"}
_INTEGER_OR_STRING = [{"type": "integer"}, {"type": "string"}]
_HEADER = ("apiVersion", "kind", "metadata")
_ONLY_IN_GO = re.compile(r"\(\?[a-zA-Z]|\\[AzQEC]|\\[pP]|\[\[:")  # syntax of RE2 that JavaScript rejects


def json_schema_path(kind: GroupVersionKind) -> str:
    """Return the file name of a kind's schema, as in the CRDs catalog: ``apps.example.com/podset_v1.json``.

    Kinds without a group have no directory, so that one template of kubeconform finds all files.
    """
    return f"{kind.group}/{kind.kind}_{kind.version}.json".lower().removeprefix("/")


def json_schema(
    kind: GroupVersionKind, schema: Schema, components: Mapping[str, Schema], *, is_builtin: bool = False
) -> dict[str, Any]:
    """Return the JSON Schema (draft 7) of a kind, with which an editor reports what the API server would reject.

    Unknown fields are rejected, as in strict field validation. Fields with a default are not required. What JSON Schema
    cannot express, such as validation rules, is left out.

    Args:
        kind: the kind.
        schema: its OpenAPI schema: ``openAPIV3Schema`` of a CustomResourceDefinition, or a published schema.
        components: the published schemas that it refers to, and that of ObjectMeta, by name.
        is_builtin: the schema is published by the server, where a zero default means that the field is required.
    """
    definitions = _Definitions(components)
    root = definitions.convert(schema, is_builtin=is_builtin)
    fields = root.setdefault("properties", {})
    for name, value in (("apiVersion", kind.api_version), ("kind", kind.kind)):
        fields[name] = {**fields.get(name, {}), "type": "string", "enum": [value]}
    fields["metadata"] = definitions.metadata(schema.get("properties", {}).get("metadata", {}))
    root["required"] = list(dict.fromkeys([*_HEADER, *root.get("required", ())]))
    root["properties"] = {**{name: fields[name] for name in _HEADER}, **fields}
    return {"$schema": DRAFT, **root, "definitions": definitions.named}


def json_schema_index(kinds: Iterable[GroupVersionKind]) -> dict[str, Any]:
    """Return a schema that applies the schema of each object's kind, so that an editor needs one entry for all files.

    Objects of other kinds are accepted. The schema refers to the files of `json_schema_path` beside it.
    """
    ordered = sorted(kinds, key=json_schema_path)
    names = {
        "apiVersion": dict.fromkeys(each.api_version for each in ordered),
        "kind": dict.fromkeys(each.kind for each in ordered),
    }
    return {
        "$schema": DRAFT,
        "type": "object",
        # The first alternative is completed, and the second accepts objects of other kinds.
        "properties": {name: {"anyOf": [{"enum": list(found)}, {"type": "string"}]} for name, found in names.items()},
        "allOf": [_if_kind(each) for each in ordered],
    }


def _if_kind(kind: GroupVersionKind) -> dict[str, Any]:
    header = {"apiVersion": {"const": kind.api_version}, "kind": {"const": kind.kind}}
    return {"if": {"properties": header, "required": [*header]}, "then": {"$ref": json_schema_path(kind)}}


class _Definitions:
    """Converts OpenAPI schemas, and the schemas that they refer to, which it collects in `named`."""

    def __init__(self, components: Mapping[str, Schema]) -> None:
        self._components = components
        self.named: dict[str, Any] = {}

    def metadata(self, own: Schema) -> dict[str, Any]:
        """Return the schema of ObjectMeta, with the restrictions of a CustomResourceDefinition."""
        reference = {"$ref": self._reference(OBJECT_META)}
        if "properties" not in own:
            return reference
        return {"allOf": [reference, {"properties": self._fields(own, is_builtin=False, is_closed=False)}]}

    def convert(self, schema: Schema, *, is_builtin: bool, is_closed: bool = True) -> dict[str, Any]:
        """Return the JSON Schema of an OpenAPI schema.

        Args:
            schema: the OpenAPI schema.
            is_builtin: see `json_schema`.
            is_closed: reject unknown fields; False in alternatives, which have only some of an object's fields.
        """
        if reference := schema.get("$ref"):
            return {"$ref": self._reference(str(reference).rpartition("/")[2])}
        result = {key: schema[key] for key in _KEPT if key in schema}
        if "properties" in schema:
            result["properties"] = self._fields(schema, is_builtin=is_builtin, is_closed=is_closed)
        for key in ("items", "additionalProperties"):
            if isinstance(schema.get(key), Mapping):
                result[key] = self.convert(schema[key], is_builtin=is_builtin, is_closed=is_closed)
        for key in ("allOf", "anyOf", "oneOf"):
            if key in schema:
                result[key] = [self.convert(each, is_builtin=is_builtin, is_closed=False) for each in schema[key]]
        if "not" in schema:
            result["not"] = self.convert(schema["not"], is_builtin=is_builtin, is_closed=False)
        _require(result, schema, is_builtin=is_builtin)
        _narrow(result, schema)
        if is_closed:
            self._close(result, schema, is_builtin=is_builtin)
        return _nullable(result) if schema.get("nullable") else result

    def _fields(self, schema: Schema, *, is_builtin: bool, is_closed: bool) -> dict[str, Any]:
        return {
            name: self.convert(field, is_builtin=is_builtin, is_closed=is_closed)
            for name, field in schema["properties"].items()
        }

    def _close(self, result: dict[str, Any], schema: Schema, *, is_builtin: bool) -> None:
        """Reject unknown fields of an object, unless it keeps them; add the fields of an object inside another one."""
        if schema.get("x-kubernetes-embedded-resource"):
            header = {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": self.metadata({})}
            result["properties"] = {**header, **result.get("properties", {})}
            result["required"] = list(dict.fromkeys(["apiVersion", "kind", *result.get("required", ())]))
        is_empty = schema.get("type") == "object" and not is_builtin  # built-in kinds have objects of any content
        is_kept = schema.get("x-kubernetes-preserve-unknown-fields") or "additionalProperties" in schema
        if ("properties" in schema or is_empty) and not is_kept:
            result["additionalProperties"] = False

    def _reference(self, name: str) -> str:
        if name not in self.named:
            self.named[name] = {}  # a schema may refer to itself
            self.named[name] = self.convert(self._components[name], is_builtin=True)
        return f"#/definitions/{name}"


def _require(result: dict[str, Any], schema: Schema, *, is_builtin: bool) -> None:
    """Require fields, except those that the server sets to a default."""
    fields, required = result.get("properties", {}), []
    for name in schema.get("required", ()):
        field = fields.get(name, {})
        if is_builtin and not field.get("default", True):
            del field["default"]
        if "default" not in field:
            required.append(name)
    if required:
        result["required"] = required


def _narrow(result: dict[str, Any], schema: Schema) -> None:
    """Translate restrictions that OpenAPI and Kubernetes spell differently."""
    for bound, exclusive in _BOUNDS.items():
        if schema.get(exclusive) is True and bound in result:
            result[exclusive] = result.pop(bound)
    if schema.get("x-kubernetes-int-or-string") or schema.get("format") == "int-or-string":
        for key in ("anyOf", "oneOf", "format"):
            if schema.get(key) in (_INTEGER_OR_STRING, "int-or-string"):
                del result[key]
        result["type"] = ["integer", "string"]
    if schema.get("x-kubernetes-list-type") == "set":
        result["uniqueItems"] = True
    if _ONLY_IN_GO.search(schema.get("pattern", "")):
        del result["pattern"]


def _nullable(result: dict[str, Any]) -> dict[str, Any]:
    kinds = result.get("type", [])
    if kinds:
        result["type"] = [*([kinds] if isinstance(kinds, str) else kinds), "null"]
    if "enum" in result and None not in result["enum"]:
        result["enum"] = [*result["enum"], None]
    return result
