"""Strict field validation: unknown fields and duplicate fields of request bodies."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from pyctrl._go.text import quoted
from pyctrl.apiserver import _errors as answers

__all__ = ["DuplicateFields", "duplicate_field_errors", "duplicate_fields", "report_unknown"]


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
    if unknown_errors and isinstance(duplicates, DuplicateFields):
        unknown_errors = duplicates.in_order([*duplicate_errors, *unknown_errors])
        duplicate_errors = []
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


class DuplicateFields(list[str]):
    """Errors about the duplicate fields of a JSON text, in the order of the document."""

    def __init__(self, repeated: Sequence[str], places: Mapping[str, int]) -> None:
        super().__init__(f"duplicate field {quoted(path)}" for path in repeated)
        self._places = places

    def in_order(self, errors: Sequence[str]) -> list[str]:
        """Sort errors about fields by the places of the fields: Go's decoder finds them so."""
        return sorted(errors, key=lambda error: self._places.get(error, 0))


def duplicate_fields(body: bytes) -> list[str]:
    """Return the paths of duplicate keys in a JSON text, in document order."""
    return _read(body)[0]


def duplicate_field_errors(body: bytes) -> DuplicateFields:
    """Return errors about the duplicate fields in a JSON text."""
    return DuplicateFields(*_read(body))


def _read(body: bytes) -> tuple[list[str], dict[str, int]]:
    """Return the paths of duplicate keys, and the places of the errors about all keys."""
    found, places = dict[str, None](), dict[str, int]()
    if _may_repeat(body):
        _walk(json.loads(body, object_pairs_hook=_Pairs), "", found, places)
    return list(found), places


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


def _walk(value: object, path: str, found: dict[str, None], places: dict[str, int]) -> None:
    """Collect the paths of repeated keys, and the places of the errors about each key."""
    if isinstance(value, _Pairs):
        seen: set[str] = set()
        for key, item in value:
            here = f"{path}.{key}" if path else key
            places.setdefault(f"unknown field {quoted(here)}", len(places))
            if key in seen:
                found[here] = None
                places.setdefault(f"duplicate field {quoted(here)}", len(places))
            seen.add(key)
            _walk(item, here, found, places)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            _walk(item, f"{path}[{index}]", found, places)
