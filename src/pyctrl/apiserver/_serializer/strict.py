"""Strict field validation: unknown fields and duplicate fields of request bodies."""

from __future__ import annotations

import json
from collections.abc import Sequence

from pyctrl._go.text import quoted
from pyctrl.apiserver import _errors as answers

__all__ = ["duplicate_fields", "report_unknown"]


def report_unknown(
    kind: str,
    version: str,
    unknown: Sequence[str],
    duplicates: Sequence[str],
    field_validation: str,
    warnings: list[str],
) -> None:
    """Refuse (Strict), warn about (Warn) or ignore (Ignore) unknown and duplicate fields."""
    if field_validation == "Ignore" or not (unknown or duplicates):
        return
    unknown_errors = [f"unknown field {quoted(path)}" for path in unknown]
    duplicate_errors = [each for each in duplicates if not _is_unknown(each, unknown)]
    if field_validation == "Strict":
        raise answers.UndecodableBody(
            kind,
            version,
            f"strict decoding error: {', '.join([*_joined_yaml_errors(duplicate_errors), *unknown_errors])}",
        )
    warnings.extend([*duplicate_errors, *unknown_errors])


def _is_unknown(error: str, unknown: Sequence[str]) -> bool:
    """Return whether a duplicate field is unknown or inside an unknown field, which is reported instead."""
    path = error.removeprefix('duplicate field "').removesuffix('"')
    return any(path == each or path.startswith((f"{each}.", f"{each}[")) for each in unknown)


def _joined_yaml_errors(duplicates: Sequence[str]) -> list[str]:
    """Join errors about lines of YAML, as go-yaml does."""
    lines = [f"\n  {each}" for each in duplicates if each.startswith("line ")]
    return [f"yaml: unmarshal errors:{''.join(lines)}"] if lines else list(duplicates)


def duplicate_fields(body: bytes) -> list[str]:
    """Return the paths of duplicate keys in a JSON text, in document order."""
    if not _may_repeat(body):
        return []
    found: list[str] = []
    _walk(json.loads(body, object_pairs_hook=_Pairs), "", found)
    return list(dict.fromkeys(found))


class _Pairs(list[tuple[str, object]]):
    """The members of an object with repeated keys."""


def _may_repeat(body: bytes) -> bool:
    """Return whether an object has a key twice: a cheap check before the walk."""
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
