"""What the fields that a definition names for its scale must hold; the texts are those of Go's accessors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pyctrl.apiserver._answers import Cause, invalid_value
from pyctrl.apiserver._go_text import go_text
from pyctrl.apiserver._schema import JSON

LARGEST = 2**31 - 1  # a number of replicas is an int32

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


def validate_scale(obj: Mapping[str, JSON], scale: Mapping[str, str]) -> Iterator[Cause]:
    """Check numbers of replicas and the selector, where there are any."""
    for name in ("specReplicasPath", "statusReplicasPath"):
        path = scale[name]
        value, problem = _find(obj, path)
        if value is _MISSING:
            continue
        if problem or not isinstance(value, int) or isinstance(value, bool):
            yield invalid_value(path, 0, problem or _accessor_error(path, value, "int64"))
        elif value < 0:
            yield invalid_value(path, value, "should be a non-negative integer")
        elif value > LARGEST:
            yield invalid_value(path, value, f"should be less than or equal to {LARGEST}")
    if selector := scale.get("labelSelectorPath"):
        found, problem = _find(obj, selector)
        if found is not _MISSING and (problem or not isinstance(found, str)):
            yield invalid_value(selector, "", problem or _accessor_error(selector, found, "string"))


def _find(obj: Mapping[str, JSON], path: str) -> tuple[Any, str]:
    """Give the value at a path, `_MISSING` when it is not there, or else why the way there is none."""
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
