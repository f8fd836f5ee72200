"""A test of conversions: what goes to another version and back is what it was."""

from __future__ import annotations

from typing import Any

import msgspec

from pyctrl.api import KubernetesObject

from ._conversion import Conversion
from ._json_diff import json_diff

__all__ = ["check_round_trip"]


def check_round_trip(conversion: Conversion[Any], obj: KubernetesObject) -> None:
    """Convert an object to each other version of its kind and back, and compare.

    For one example, or for what Hypothesis makes up::

        @given(st.builds(PodSetV1, metadata=st.just(ObjectMeta(name="a")), spec=st.builds(PodSetV1Spec, ...)))
        def test_conversion_loses_nothing(obj: PodSetV1) -> None:
            check_round_trip(CONVERSION, obj)

    Raises:
        AssertionError: something was lost or changed on the way; it says which version and which fields.
        ConversionFailed: see `Conversion.convert`.
    """
    before: dict[str, Any] = msgspec.json.decode(obj.to_json())
    own = obj.gvk.version
    versions = [conversion.hub.gvk.version, *(spoke.kind.gvk.version for spoke in conversion.spokes)]
    for version in versions:
        if version == own:
            continue
        there = conversion.convert(before, version)
        back = conversion.convert(there, own)
        changes = json_diff(_settled(before), _settled(back))
        if changes:
            told = "\n".join(f"  {_sentence(before, change)}" for change in changes)
            raise AssertionError(
                f"{obj.gvk.group_kind} {own} → {version} → {own} is not what it was:\n{told}\n"
                f"as {version} it was {msgspec.json.encode(there).decode()}"
            )


def _settled(obj: dict[str, Any]) -> dict[str, Any]:
    """Leave out labels and annotations that are empty: the API server knows no difference."""
    metadata = obj.get("metadata") or {}
    kept = {name: value for name, value in metadata.items() if value or name not in ("labels", "annotations")}
    return {**obj, "metadata": kept}


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
