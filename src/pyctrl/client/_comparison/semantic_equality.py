"""Semantic equality: values that mean the same to an API server although they are written differently."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from pyctrl._json import json_equal
from pyctrl.api import GroupVersionKind, Quantity
from pyctrl.errors import QuantityError
from pyctrl.kinds import BUILTIN_KINDS

__all__ = ["Path", "is_empty_value", "semantically_equal", "without_empty"]

#: The names of the fields that lead to a value; list items add none.
Path: TypeAlias = tuple[str, ...]

# Quantities of the built-in kinds: the last names of the path, "*" for the key of a map. Servers write them in their
# canonical form (1000m as 1). Quantities of custom resources are not changed.
_QUANTITIES = {
    *((parent, name, "*") for parent in ("resources", "hard") for name in ("limits", "requests")),
    *(("spec", name, "*") for name in ("capacity", "hard", "overhead")),
    *(("limits", name, "*") for name in ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio")),
    ("emptyDir", "sizeLimit"),
    ("resourceFieldRef", "divisor"),
    ("target", "averageValue"),
    ("target", "value"),
}
# Defaults of the built-in kinds inside values that are owned as a whole, which field sets do not show.
_DEFAULTS: dict[Path, Any] = {
    ("fieldRef", "apiVersion"): "v1",
    ("resourceFieldRef", "divisor"): "0",
    ("serviceAccountToken", "expirationSeconds"): 3600,
    ("ports", "protocol"): "TCP",
}
# Maps. Structures are different: an empty structure is significant.
_MAPS = frozenset(
    {
        *("labels", "annotations", "matchLabels", "nodeSelector"),
        *("data", "binaryData", "stringData", "limits", "requests"),
    }
)


def semantically_equal(kind: GroupVersionKind, wanted: Any, found: Any, path: Path) -> bool:
    """Return whether the server's value is equal to a desired one, for a value that is owned as a whole.

    Null equals absent. In built-in kinds quantities are compared by their number, and defaults that the server filled
    in inside the value are ignored.
    """
    is_builtin = kind in BUILTIN_KINDS
    return _equal_values(wanted, found, path, is_builtin=is_builtin)


def is_empty_value(value: Any) -> bool:
    """Return whether Go's ``omitempty`` omits a value: null, "", 0, false, an empty list or map."""
    return not value


def _equal_values(wanted: Any, found: Any, path: Path, *, is_builtin: bool) -> bool:
    if isinstance(wanted, Mapping) and isinstance(found, Mapping):
        names = {*wanted, *found}
        return all(_equal_members(wanted, found, (*path, name), is_builtin=is_builtin) for name in names)
    if isinstance(wanted, list) and isinstance(found, list):
        pairs = zip(wanted, found, strict=True) if len(wanted) == len(found) else [(1, 2)]
        return all(_equal_values(left, right, path, is_builtin=is_builtin) for left, right in pairs)
    if json_equal(wanted, found):
        return True
    return is_builtin and _is_quantity(path) and _equal_quantities(wanted, found)


def _equal_members(wanted: Mapping[str, Any], found: Mapping[str, Any], path: Path, *, is_builtin: bool) -> bool:
    name = path[-1]
    value, other = wanted.get(name), found.get(name)
    if value is None and other is not None:
        return is_builtin and path[-2:] in _DEFAULTS and json_equal(other, _DEFAULTS[path[-2:]])
    return _equal_values(value, other, path, is_builtin=is_builtin)


def _is_quantity(path: Path) -> bool:
    return path[-2:] in _QUANTITIES or (*path[-3:-1], "*") in _QUANTITIES


def _equal_quantities(left: Any, right: Any) -> bool:
    try:
        return Quantity(left) == Quantity(right)
    except QuantityError:
        return False


def without_empty(kind: GroupVersionKind, document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document in normal form, to compare an object before and after a change.

    Nulls are removed. In metadata and in built-in kinds empty lists and maps are removed too. Quantities of built-in
    kinds are in canonical form. Empty structures stay: ``emptyDir: {}`` is significant.
    """
    is_builtin = kind in BUILTIN_KINDS
    members = {name: _normalised(each, (name,), is_builtin or name == "metadata") for name, each in document.items()}
    return {name: each for name, each in members.items() if each is not None}


def _normalised(value: Any, path: Path, is_builtin: bool) -> Any:
    if isinstance(value, Mapping):
        members = {name: _normalised(each, (*path, name), is_builtin) for name, each in value.items()}
        return {name: each for name, each in members.items() if not _is_left_out(name, each, is_builtin)}
    if isinstance(value, list):
        return [_normalised(each, path, is_builtin) for each in value]
    return _canonical(value) if is_builtin and _is_quantity(path) else value


def _canonical(value: Any) -> Any:
    try:
        return str(Quantity(value))
    except QuantityError:
        return value


def _is_left_out(name: str, value: Any, is_builtin: bool) -> bool:
    return value is None or (is_builtin and (value == [] or (value == {} and name in _MAPS)))
