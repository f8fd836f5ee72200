"""Field validation: what happens to fields the schema does not know, and to fields that are written twice."""

from __future__ import annotations

import json
from collections.abc import Sequence

from pyctrl._go.text import quoted
from pyctrl.apiserver import _errors as answers


def report_unknown(
    kind: str,
    version: str,
    unknown: Sequence[str],
    duplicates: Sequence[str],
    field_validation: str,
    warnings: list[str],
) -> None:
    """Refuse (Strict), warn about (Warn) or overlook (Ignore) unknown and duplicate fields."""
    if field_validation == "Ignore" or not (unknown or duplicates):
        return
    said = [f"unknown field {quoted(path)}" for path in unknown]
    twice = [each for each in duplicates if not _is_unknown(each, unknown)]
    if field_validation == "Strict":
        raise answers.UndecodableBody(kind, version, f"strict decoding error: {', '.join([*_together(twice), *said])}")
    warnings.extend([*twice, *said])


def _is_unknown(told: str, unknown: Sequence[str]) -> bool:
    """What is twice in an unknown place, or is unknown itself, is told as unknown only."""
    path = told.removeprefix('duplicate field "').removesuffix('"')
    return any(path == each or path.startswith((f"{each}.", f"{each}[")) for each in unknown)


def _together(duplicates: Sequence[str]) -> list[str]:
    """Complaints about lines of YAML are one error."""
    lines = [f"\n  {each}" for each in duplicates if each.startswith("line ")]
    return [f"yaml: unmarshal errors:{''.join(lines)}"] if lines else list(duplicates)


def duplicate_fields(body: bytes) -> list[str]:
    """Give the paths of keys that a JSON text has twice in one object, in the order they are met."""
    if not _may_repeat(body):
        return []
    found: list[str] = []
    _walk(json.loads(body, object_pairs_hook=_Pairs), "", found)
    return list(dict.fromkeys(found))


class _Pairs(list[tuple[str, object]]):
    """An object as the text has it: repeated keys and all."""


def _may_repeat(body: bytes) -> bool:
    """Cheap look before the walk: does any object have a key twice?"""
    seen_twice = False

    def look(pairs: list[tuple[str, object]]) -> None:
        nonlocal seen_twice
        seen_twice = seen_twice or len({key for key, _ in pairs}) != len(pairs)

    json.loads(body, object_pairs_hook=look)
    return seen_twice


def _walk(value: object, path: str, found: list[str]) -> None:
    if isinstance(value, _Pairs):
        seen: set[str] = set()
        for key, item in value:
            here = f"{path}.{key}" if path else key
            if key in seen:
                found.append(here)
            seen.add(key)
            _walk(item, here, found)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            _walk(item, f"{path}[{index}]", found)
