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


def describe(old: Mapping[str, Any], new: Mapping[str, Any], of: str) -> str:
    """Return the changes in words: ``change spec.size of PodSet default/web from 3 to 4``.

    Args:
        old: The manifest before.
        new: The manifest after.
        of: The object's kind and name.
    """
    changes = [*_changes(old, new, "")]
    texts = []
    for number, (path, before, after) in enumerate(changes[:NAMED]):
        target = f"{path} of {of}" if number == 0 else path
        if before is ABSENT:
            texts.append(f"set {target} to {_shown(after)}")
        elif after is ABSENT:
            texts.append(f"remove {target}")
        else:
            texts.append(f"change {target} from {_shown(before)} to {_shown(after)}")
    if len(changes) > NAMED:
        texts.append(f"{len(changes) - NAMED} more")
    return ", ".join(texts) or f"apply {of} without a change"


def _changes(old: Any, new: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    """Yield path, value before and value after of each field that differs."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for name in dict.fromkeys((*old, *new)):
            inner = f"{path}.{name}" if path else name
            yield from _changes(old.get(name, ABSENT), new.get(name, ABSENT), inner)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for place, (before, after) in enumerate(zip(old, new, strict=True)):
            yield from _changes(before, after, f"{path}[{place}]")
    elif not _same(old, new):
        yield path, old, new


def _same(old: Any, new: Any) -> bool:
    return type(old) is type(new) and bool(old == new)  # 1, 1.0 and True are equal in Python


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
