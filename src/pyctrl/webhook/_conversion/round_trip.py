"""A test of conversions: what goes to another version and back is what it was."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from pyctrl.api import KubernetesObject, Model, PreserveUnknownFields
from pyctrl.webhook._conversion.conversion import Conversion
from pyctrl.webhook._json_diff import json_diff

__all__ = ["check_round_trip"]


def check_round_trip(conversion: Conversion[Any], obj: KubernetesObject) -> None:
    """Convert an object to each other version of its kind and back, and compare.

    For one example, or for what Hypothesis makes up::

        @given(st.builds(PodSetV1, metadata=st.just(ObjectMeta(name="a")), spec=st.builds(PodSetV1Spec, ...)))
        def test_conversion_loses_nothing(obj: PodSetV1) -> None:
            check_round_trip(CONVERSION, obj)

    What means the same to an API server and to programs is equal: a field that is absent and its default, null and an
    empty list or map (as `equality.Semantic` of apimachinery has it), quantities of one value, times of one moment, and
    sets in any order. Fields that the class does not name are not compared, since a server prunes them, unless the
    class or the field has `PreserveUnknownFields`.

    Raises:
        AssertionError: something was lost or changed on the way; it says which version and which fields.
        ConversionFailed: see `Conversion.convert`.
    """
    wire: dict[str, Any] = msgspec.json.decode(obj.to_json())
    kind, own = type(obj), obj.gvk.version
    before = _normalised(kind.from_wire(wire))
    versions = [conversion.hub.gvk.version, *(spoke.kind.gvk.version for spoke in conversion.spokes)]
    for version in versions:
        if version == own:
            continue
        there = conversion.convert(wire, version)
        changes = json_diff(before, _normalised(kind.from_wire(conversion.convert(there, own))))
        if changes:
            told = "\n".join(f"  {_sentence(before, change)}" for change in changes)
            raise AssertionError(
                f"{obj.gvk.group_kind} {own} → {version} → {own} is not what it was:\n{told}\n"
                f"as {version} it was {msgspec.json.encode(there).decode()}"
            )


def _normalised(value: Any, *, keeps_unknown: bool = False) -> Any:
    """Return a value as documents of Python values, with defaults, in which what means the same is equal."""
    if isinstance(value, Model):
        found = {}
        for name, field in type(value).__pydantic_fields__.items():
            keeps = any(isinstance(each, PreserveUnknownFields) for each in field.metadata)
            found[field.serialization_alias or name] = _normalised(getattr(value, name), keeps_unknown=keeps)
        marks = (mark for cls in type(value).__mro__ for mark in getattr(cls, "schema_marks", ()))
        if keeps_unknown or any(isinstance(mark, PreserveUnknownFields) for mark in marks):
            found |= {name: _normalised(each) for name, each in (value.__pydantic_extra__ or {}).items()}
        return {name: each for name, each in found.items() if each is not None}
    if isinstance(value, Mapping):
        return {str(key): _normalised(each) for key, each in value.items()} or None
    if isinstance(value, list | tuple):
        return [_normalised(each) for each in value] or None
    if isinstance(value, set | frozenset):
        return sorted(map(_normalised, value), key=str) or None
    return value


def _sentence(before: Any, change: Any) -> str:
    """Say what became of one field."""
    path = change["path"]
    if change["op"] == "add":
        return f"{path} was not there, came back as {change['value']!r}"
    was: Any = before
    for part in path.split("/")[1:]:
        part = part.replace("~1", "/").replace("~0", "~")
        was = was[int(part)] if isinstance(was, list) else was[part]
    return f"{path} was {was!r}, " + ("is gone" if change["op"] == "remove" else f"came back as {change['value']!r}")
