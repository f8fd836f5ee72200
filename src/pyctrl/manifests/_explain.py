"""Explanations of schema fields in text, as kubectl explain."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyctrl.errors import PyctrlError

__all__ = ["ExplainedField", "NoSuchField", "Schemas"]

Schema = Mapping[str, Any]

_BOUNDS = (
    ("minimum", "exclusiveMinimum", "at least", "more than"),
    ("maximum", "exclusiveMaximum", "at most", "less than"),
)
_COUNTS = {
    "string": ("minLength", "maxLength", "character"),
    "array": ("minItems", "maxItems", "item"),
    "object": ("minProperties", "maxProperties", "key"),
}
_ALTERNATIVES = ("allOf", "anyOf", "oneOf", "not")
_USUAL_FORMATS = ("int-or-string", "double", "int32", "int64")  # they add little to the type
_FEW = 8  # fields named in an error


class NoSuchField(PyctrlError):
    """Raised for a path that does not exist; the message has the fields that do, or suggests a similar one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedField:
    """A field: its name, type, description, whether it is required, and the restrictions on its values.

    `rules` are texts for people. `schema` is the server's schema, with references left unresolved.
    """

    name: str
    type: str
    is_required: bool
    description: str
    rules: tuple[str, ...]
    schema: Schema
    has_fields: bool

    def to_wire(self) -> dict[str, Any]:
        """Return the explanation as JSON-ready data."""
        return {"name": self.name, "type": self.type, "required": self.is_required, "schema": dict(self.schema)}


class Schemas:
    """The schemas of an OpenAPI v3 document, which refer to each other."""

    def __init__(self, components: Mapping[str, Schema]) -> None:
        self._components = components

    def kind(self, group: str, version: str, kind: str) -> Schema | None:
        """Return the schema of a kind, or None."""
        wanted = {"group": group, "version": version, "kind": kind}
        return next(
            (each for each in self._components.values() if wanted in each.get("x-kubernetes-group-version-kind", ())),
            None,
        )

    def find(self, root: Schema, path: Sequence[str], *, name: str) -> ExplainedField:
        """Return the explanation of the field at a path, through the items of lists and the values of maps.

        Args:
            root: the schema of the kind.
            path: the names of the fields.
            name: the kind's name in messages.

        Raises:
            NoSuchField: the path does not exist.
        """
        found, is_required, seen = root, False, name
        for key in path:
            inner = self._inner(found)
            properties = inner.get("properties") or {}
            if key not in properties:
                raise NoSuchField(_nothing(seen, key, list(properties), inner))
            found, is_required, seen = properties[key], key in (inner.get("required") or ()), f"{seen}.{key}"
        return self._explained(path[-1] if path else name, found, is_required=is_required)

    def fields(self, of: Schema) -> Iterator[ExplainedField]:
        """Yield explanations of the fields of an object, or of the items of a list or map; required fields first."""
        inner = self._inner(of)
        required, properties = inner.get("required") or (), inner.get("properties") or {}
        is_whole = "apiVersion" in properties and "metadata" in properties
        for key, each in sorted(properties.items(), key=lambda item: not is_whole and item[0] not in required):
            yield self._explained(key, each, is_required=key in required)

    def _explained(self, name: str, schema: Schema, *, is_required: bool) -> ExplainedField:
        resolved = self._resolved(schema)
        return ExplainedField(
            name=name,
            type=self._type(schema),
            is_required=is_required,
            description=str(resolved.get("description") or ""),
            rules=tuple(_rules(resolved, self._inner(schema), is_required=is_required)),
            schema=schema,
            has_fields=bool(self._inner(schema).get("properties")),
        )

    def _resolved(self, schema: Schema) -> Schema:
        """Return a schema merged with the one it refers to; its own keys take precedence."""
        reference = _reference(schema)
        if reference is None:
            return schema
        own = {key: value for key, value in schema.items() if key not in ("$ref", "allOf") and value != {}}
        return {**self._resolved(self._components.get(reference, {})), **own}

    def _inner(self, schema: Schema) -> Schema:
        """Return the schema of the innermost items of lists and maps."""
        resolved = self._resolved(schema)
        additional = resolved.get("additionalProperties")
        if isinstance(resolved.get("items"), Mapping):
            return self._inner(resolved["items"])
        if isinstance(additional, Mapping) and not resolved.get("properties"):
            return self._inner(additional)
        return resolved

    def _type(self, schema: Schema) -> str:
        resolved, reference = self._resolved(schema), _reference(schema)
        additional = resolved.get("additionalProperties")
        if isinstance(resolved.get("items"), Mapping):
            return f"[]{self._type(resolved['items'])}"
        if isinstance(additional, Mapping):
            return f"map[string]{self._type(additional)}"
        if resolved.get("x-kubernetes-int-or-string") or resolved.get("format") == "int-or-string":
            return "integer or string"
        if resolved.get("type") in (None, "object"):
            name = (reference or "").rpartition(".")[2]
            return name or ("Object" if resolved.get("type") else "any")
        return str(resolved["type"])


def _reference(schema: Schema) -> str | None:
    found = schema.get("$ref")
    if found is None and len(schema.get("allOf") or ()) == 1:
        found = schema["allOf"][0].get("$ref")
    return None if found is None else str(found).rpartition("/")[2]


def _nothing(seen: str, key: str, fields: Sequence[str], schema: Schema) -> str:
    if not fields:
        kept = schema.get("x-kubernetes-preserve-unknown-fields") or not schema.get("type")
        why = "accepts any fields and describes none" if kept else "has no fields"
        return f"{seen} {why}: there is no {seen}.{key}"
    near = difflib.get_close_matches(key, fields, n=3) or [each for each in fields if each.lower() == key.lower()]
    if near:
        return f"{seen} has no field {key!r}; did you mean {' or '.join(near)}?"
    more = f" and {len(fields) - _FEW} more" if len(fields) > _FEW else ""
    return f"{seen} has no field {key!r}; it has {', '.join(fields[:_FEW])}{more}"


# -- restrictions on values
# ---------------------------------------------------------------------------------------------


def _rules(schema: Schema, inner: Schema, *, is_required: bool) -> Iterator[str]:
    is_zero = schema.get("default") == "" and is_required  # of built-in kinds, where it has no meaning
    if schema.get("default") not in (None, {}) and not is_zero:
        yield f"default: {_shown(schema['default'])}"
    yield from _values(schema, "")
    if inner is not schema and not inner.get("properties"):
        yield from _values(inner, "each: ")
    yield from _lists(schema)
    if schema.get("nullable"):
        yield "may be null"
    if schema.get("x-kubernetes-embedded-resource"):
        yield "a whole object, with apiVersion, kind and metadata"
    if schema.get("x-kubernetes-preserve-unknown-fields"):
        yield "keeps unknown fields"
    for each in (schema, inner) if inner is not schema else (schema,):
        for rule in each.get("x-kubernetes-validations") or ():
            yield f"rule: {' '.join(rule['rule'].split())}{' -- ' + rule['message'] if rule.get('message') else ''}"


def _values(schema: Schema, before: str) -> Iterator[str]:
    if schema.get("enum"):
        yield f"{before}one of {', '.join(map(_shown, schema['enum']))}"
    if schema.get("format") and schema["format"] not in _USUAL_FORMATS:
        yield f"{before}format {schema['format']}"
    bounds = [
        f"{exclusive if schema.get(flag) else inclusive} {_number(schema[key])}"
        for key, flag, inclusive, exclusive in _BOUNDS
        if schema.get(key) is not None
    ]
    least, most, what = _COUNTS.get(str(schema.get("type")), ("", "", ""))
    for key, words in ((least, "at least"), (most, "at most")):
        if schema.get(key) is not None:
            bounds.append(f"{words} {schema[key]} {what}{'' if schema[key] == 1 else 's'}")
    if bounds:
        yield before + ", ".join(bounds)
    if schema.get("multipleOf") is not None:
        yield f"{before}a multiple of {_number(schema['multipleOf'])}"
    if schema.get("pattern"):
        yield f"{before}matches {schema['pattern']}"
    for key in _ALTERNATIVES:
        found = schema.get(key)
        if found and not (isinstance(found, list) and all(set(each) <= {"type", "$ref"} for each in found)):
            yield f"{before}{key}: {json.dumps(found, ensure_ascii=False)}"


def _number(value: float) -> str:
    """Format a number without a needless fraction: servers publish 2.0 for 2."""
    return str(int(value)) if float(value).is_integer() else str(value)


def _lists(schema: Schema) -> Iterator[str]:
    kind = schema.get("x-kubernetes-list-type")
    if kind == "set":
        yield "a set: items are unique"
    elif kind == "map":
        yield f"items are identified by {', '.join(schema.get('x-kubernetes-list-map-keys') or ())}"
    elif kind == "atomic" or schema.get("x-kubernetes-map-type") == "atomic":
        yield "has one owner as a whole"


def _shown(value: Any) -> str:
    return value if isinstance(value, str) and value and value.isprintable() else json.dumps(value, ensure_ascii=False)
