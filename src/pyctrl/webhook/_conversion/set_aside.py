"""Values that break a rule of the schema, removed before a conversion and restored after it.

An API server converts an object before it validates it: for webhooks of another version, and for managed fields. If the
conversion failed on such a value, the user would get an internal error instead of the server's own 422, and a list
would fail because of one object that was stored before the rule existed.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from pyctrl.api import KubernetesObject
from pyctrl.errors import DecodeError
from pyctrl.webhook._conversion.same_fields import model_in, named

__all__ = ["SetAside"]

#: pydantic's error types for rules that schemas have too. Other errors, such as a wrong type, fail the conversion.
_RULES = frozenset(
    (
        *("enum", "literal_error", "multiple_of", "string_pattern_mismatch"),
        *("greater_than", "greater_than_equal", "less_than", "less_than_equal"),
        *("string_too_short", "string_too_long", "too_short", "too_long"),
    )
)


@dataclass(frozen=True, slots=True)
class SetAside:
    """An object without its invalid values, and those values by their paths on the wire."""

    rest: dict[str, Any]
    values: Mapping[tuple[str, ...], Any]

    @classmethod
    def of(cls, obj: Mapping[str, Any], error: DecodeError) -> SetAside | None:
        """Remove the invalid values that ``error`` reports; None if it reports anything but broken rules of fields."""
        cause = error.__cause__
        if not isinstance(cause, ValidationError):
            return None
        rest, values = deepcopy(dict(obj)), {}
        for each in cause.errors(include_url=False, include_context=False):
            path = tuple(part for part in each["loc"] if isinstance(part, str))
            parent = _at(rest, path[:-1])
            if each["type"] not in _RULES or len(path) != len(each["loc"]) or parent is None or path[-1] not in parent:
                return None
            values[path] = parent.pop(path[-1])
        return cls(rest, values)

    def put_back(self, wire: dict[str, Any], kind: type[KubernetesObject]) -> bool:
        """Restore the values in an object of another version. Return False if it lacks one of the fields."""
        for path, value in self.values.items():
            parent = _at(wire, path[:-1])
            if parent is None or not _has_field(kind, path):
                return False
            parent[path[-1]] = value
        return True


def _at(obj: Any, path: tuple[str, ...]) -> dict[str, Any] | None:
    for name in path:
        obj = obj.get(name) if isinstance(obj, dict) else None
    return obj if isinstance(obj, dict) else None


def _has_field(kind: type[KubernetesObject], path: tuple[str, ...]) -> bool:
    cls: Any = kind
    for step in path:
        if cls is None:
            return False
        try:
            name, _ = named(cls, step, ".".join(path))
        except ValueError:
            return False
        cls = model_in(cls.__pydantic_fields__[name].annotation)
    return True
