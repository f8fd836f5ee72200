"""A short JSON patch between two documents, with only add, remove and replace operations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["json_diff"]


def json_diff(before: Any, after: Any) -> tuple[Mapping[str, Any], ...]:
    """Return the operations of a JSON patch (RFC 6902) that turn `before` into `after`; none when they are equal.

    Objects are compared member by member. Lists are compared item by item between their common beginning and common
    end, so that one inserted item is one operation. The patch shares its values with `after`.
    """
    return tuple(_between("", before, after))


def _between(path: str, before: Any, after: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        yield from _between_objects(path, before, after)
    elif isinstance(before, list) and isinstance(after, list):
        yield from _between_lists(path, before, after)
    elif not _same(before, after):
        yield {"op": "replace", "path": path, "value": after}


def _between_objects(path: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for name in before:
        if name not in after:
            yield {"op": "remove", "path": _below(path, name)}
    for name, value in after.items():
        if name in before:
            yield from _between(_below(path, name), before[name], value)
        else:
            yield {"op": "add", "path": _below(path, name), "value": value}


def _between_lists(path: str, before: list[Any], after: list[Any]) -> Iterator[Mapping[str, Any]]:
    if len(before) == len(after):
        start, end = 0, 0
    else:
        start = _in_common(before, after)
        end = _in_common(before[start:][::-1], after[start:][::-1])
    old, new = before[start : len(before) - end], after[start : len(after) - end]
    for offset, (was, now) in enumerate(zip(old, new, strict=False)):
        yield from _between(f"{path}/{start + offset}", was, now)
    for index in range(len(old) - 1, len(new) - 1, -1):  # backwards: a removal shifts the items behind it
        yield {"op": "remove", "path": f"{path}/{start + index}"}
    for index in range(len(old), len(new)):
        yield {"op": "add", "path": f"{path}/{start + index}", "value": new[index]}


def _in_common(before: list[Any], after: list[Any]) -> int:
    """Return the length of the common beginning of two lists."""
    pairs = zip(before, after, strict=False)
    return next((at for at, (was, now) in enumerate(pairs) if not _same(was, now)), min(len(before), len(after)))


def _same(before: Any, after: Any) -> bool:
    """Compare as JSON does: `true` is not 1."""
    for container in (Mapping, list):
        if isinstance(before, container) and isinstance(after, container):
            return next(_between("", before, after), None) is None
    return isinstance(before, bool) is isinstance(after, bool) and bool(before == after)


def _below(path: str, name: str) -> str:
    return f"{path}/{name.replace('~', '~0').replace('/', '~1')}"
