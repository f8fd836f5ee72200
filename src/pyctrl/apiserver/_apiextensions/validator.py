"""Validation of scale fields, with the errors of Go's accessors, and of embedded objects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pyctrl._go.text import go_text
from pyctrl._validation import names
from pyctrl.apiserver._errors import FieldError, invalid_value
from pyctrl.apiserver._meta.validation import validate_metadata
from pyctrl.apiserver._schema.schema import JSON, SchemaNode

__all__ = ["validate_embedded", "validate_scale"]


MAX_REPLICAS = 2**31 - 1  # int32

_MISSING = object()
_GO_TYPES: dict[type, str] = {
    bool: "bool",
    int: "int64",
    float: "float64",
    str: "string",
    list: "[]interface {}",
    dict: "map[string]interface {}",
    type(None): "<nil>",
}


def validate_scale(obj: Mapping[str, JSON], scale: Mapping[str, str]) -> Iterator[FieldError]:
    """Validate the numbers of replicas and the selector, if they are set."""
    for name in ("specReplicasPath", "statusReplicasPath"):
        path = scale[name]
        value, problem = _find(obj, path)
        if value is _MISSING:
            continue
        if problem or not isinstance(value, int) or isinstance(value, bool):
            yield invalid_value(path, 0, problem or _accessor_error(path, value, "int64"))
        elif value < 0:
            yield invalid_value(path, value, "should be a non-negative integer")
        elif value > MAX_REPLICAS:
            yield invalid_value(path, value, f"should be less than or equal to {MAX_REPLICAS}")
    if selector := scale.get("labelSelectorPath"):
        found, problem = _find(obj, selector)
        if found is not _MISSING and (problem or not isinstance(found, str)):
            yield invalid_value(selector, "", problem or _accessor_error(selector, found, "string"))


def _find(obj: Mapping[str, JSON], path: str) -> tuple[Any, str]:
    """Return the value at a path, or `_MISSING`, and the error of a path through a value that is not an object."""
    value: Any = obj
    keys = path.strip(".").split(".")
    for index, key in enumerate(keys):
        if not isinstance(value, dict):
            return None, _accessor_error("." + ".".join(keys[: index + 1]), value, "map[string]interface{}")
        value = value.get(key, _MISSING)
        if value is _MISSING:
            break
    return value, ""


def _accessor_error(path: str, value: JSON, expected: str) -> str:
    kind = _GO_TYPES.get(type(value), type(value).__name__)
    return f"{path} accessor error: {go_text(value)} is of the type {kind}, expected {expected}"


def validate_embedded(node: SchemaNode, value: JSON, path: str = "") -> Iterator[FieldError]:
    """Yield the errors of embedded objects in a value. Missing kinds are errors of the schema validation."""
    if not node.embeds:
        return
    if isinstance(value, dict):
        if node.embedded:
            yield from _embedded(value, path)
        for key, item in value.items():
            child = node.child(key)
            if child is not None and isinstance(item, (dict, list)):
                yield from validate_embedded(child, item, f"{path}.{key}" if path else key)
    elif isinstance(value, list) and node.items is not None:
        for index, item in enumerate(value):
            yield from validate_embedded(node.items, item, f"{path}[{index}]")


def _embedded(value: Mapping[str, JSON], path: str) -> Iterator[FieldError]:
    version, kind, metadata = value.get("apiVersion"), value.get("kind"), value.get("metadata")
    if version == "":
        yield invalid_value(f"{path}.apiVersion", "", "must not be empty")
    elif isinstance(version, str) and version.count("/") > 1:
        yield invalid_value(f"{path}.apiVersion", version, f"unexpected GroupVersion string: {version}")
    if kind == "":
        yield invalid_value(f"{path}.kind", "", "must not be empty")
    elif isinstance(kind, str) and (why := names.label_1035(kind.lower())):
        message = "may have mixed case, but should otherwise match: " + ",".join(why)
        yield invalid_value(f"{path}.kind", kind, message)
    if isinstance(metadata, dict):
        yield from _metadata(metadata, path)


def _metadata(metadata: Mapping[str, JSON], path: str) -> Iterator[FieldError]:
    """Yield the errors of an embedded object's metadata. A name is not required: a template may have none."""
    is_namespaced = bool(metadata.get("namespace"))
    causes = validate_metadata(
        metadata, namespaced=is_namespaced, name_rule=names.path_segment, standard_finalizers=False
    )
    for cause in causes:
        if cause.reason != "FieldValueRequired":
            yield cause._replace(field=f"{path}.{cause.field}")
