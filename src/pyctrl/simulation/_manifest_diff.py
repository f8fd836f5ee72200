"""Difference of two versions of a manifest: as a merge patch, and in words."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["ABSENT", "describe", "merge_diff"]

Json = dict[str, Any]

ABSENT: Any = type("Absent", (), {"__repr__": lambda _: "ABSENT"})()
"""The value of a field that is not there; None is a value."""

NAMED = 3  # changes that are described; of more, the number is
LONGEST = 40  # characters of a value


def merge_diff(old: Mapping[str, Any], new: Mapping[str, Any]) -> Json:
    """Return the JSON merge patch (RFC 7396) that makes ``new`` of ``old``; lists are replaced whole."""
    found: Json = {name: None for name in old if name not in new}
    for name, value in new.items():
        before = old.get(name, ABSENT)
        if isinstance(before, Mapping) and isinstance(value, Mapping):
            if part := merge_diff(before, value):
                found[name] = part
        elif not _same(before, value):
            found[name] = value
    return found


def describe(old: Mapping[str, Any], new: Mapping[str, Any], of: str, base: Mapping[str, Any] | None = None) -> str:
    """Return the changes in words: ``change spec.size of PodSet default/web from 3 to 4, spec.image back``.

    Args:
        old: The manifest before.
        new: The manifest after.
        of: The object's kind and name.
        base: The manifest to which some changes go back; they come last.
    """
    changes = [*_changes(old, new, "")]
    away = {path for path, *_ in _changes(base, new, "")} if base is not None else {path for path, *_ in changes}
    found = [_worded(path, before, after, of) for path, before, after in changes if path in away]
    for path, *_ in changes:
        if path not in away:
            found.append(f"{path} back" if found else f"change {path} of {of} back")
    if len(found) > NAMED:
        found[NAMED:] = [f"{len(found) - NAMED} more"]
    return ", ".join(found) or f"apply {of} without a change"


def _worded(path: str, before: Any, after: Any, of: str) -> str:
    field = f"{path} of {of}"
    if before is ABSENT:
        return f"set {field} to {_shown(after)}"
    if after is ABSENT:
        return f"remove {field}"
    if isinstance(before, list) and isinstance(after, list) and after[:-1] == before:
        return f"add {_shown(after[-1])} to {field}"
    if isinstance(before, list) and isinstance(after, list) and before[:-1] == after:
        return f"remove {_shown(before[-1])} from {field}"
    return f"change {field} from {_shown(before)} to {_shown(after)}"


def _changes(old: Any, new: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    """Yield path, value before and value after of each field that differs."""
    old, new = _filled(old, new), _filled(new, old)
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for name in dict.fromkeys((*old, *new)):
            inner = f"{path}.{name}" if path else name
            yield from _changes(old.get(name, ABSENT), new.get(name, ABSENT), inner)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for place, (before, after) in enumerate(zip(old, new, strict=True)):
            yield from _changes(before, after, f"{path}[{place}]")
    elif not _same(old, new):
        yield path, old, new


def _filled(value: Any, other: Any) -> Any:
    """Return {} for an absent object, so that its fields are named."""
    return {} if value is ABSENT and isinstance(other, Mapping) and other else value


def _same(old: Any, new: Any) -> bool:
    """Return whether two values are the same in JSON. In Python 1, 1.0 and True are equal."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        return old.keys() == new.keys() and all(_same(old[name], new[name]) for name in old)
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(map(_same, old, new))
    return type(old) is type(new) and bool(old == new)


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
