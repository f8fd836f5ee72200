"""Mask: the paths of objects that do not count, because they differ between runs without faults."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from pyctrl.simulation._history import ObjectId

__all__ = ["Mask"]

Json = dict[str, Any]
Path = tuple[str, ...]

_ITEM = "[]"
_ANY = "<any>"


class Mask:
    """The paths of objects that do not count, by the canonical name of the object."""

    def __init__(self) -> None:
        self._paths: dict[ObjectId, set[Path]] = {}
        self._unordered: dict[ObjectId, set[Path]] = {}

    def __len__(self) -> int:
        return sum(len(paths) for paths in (*self._paths.values(), *self._unordered.values()))

    def paths(self, canonical: ObjectId) -> frozenset[Path]:
        """Return the paths of an object that do not count; an item of a list is ``[]``."""
        return frozenset(self._paths.get(canonical, ()))

    def learn(self, canonical: ObjectId, one: Json, other: Json) -> None:
        """Add the paths at which two forms of an object differ."""
        self._compare(canonical, one, other, ())

    def _compare(self, canonical: ObjectId, one: Any, other: Any, path: Path) -> None:
        if one == other:
            return
        if isinstance(one, dict) and isinstance(other, dict):
            for key in one.keys() | other.keys():
                if key in one and key in other:
                    self._compare(canonical, one[key], other[key], (*path, key))
                else:
                    self._paths.setdefault(canonical, set()).add((*path, key))
        elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
            if sorted(map(_encoded, one)) == sorted(map(_encoded, other)):
                self._unordered.setdefault(canonical, set()).add(path)
            else:
                for first, second in zip(one, other, strict=True):
                    self._compare(canonical, first, second, (*path, _ITEM))
        else:
            self._paths.setdefault(canonical, set()).add(path)

    def apply(self, canonical: ObjectId, tree: Json) -> Json:
        """Return a tree without what does not count."""
        paths, unordered = self._paths.get(canonical, ()), self._unordered.get(canonical, ())
        if not paths and not unordered:
            return tree
        masked = _masked(tree, paths, unordered)
        return masked if isinstance(masked, dict) else {}


def _masked(value: Any, paths: Iterable[Path], unordered: Iterable[Path]) -> Any:
    if () in paths:
        return _ANY
    if isinstance(value, dict):
        below = {key: _masked(item, _under(key, paths), _under(key, unordered)) for key, item in value.items()}
        return {key: item for key, item in below.items() if item != _ANY}
    if isinstance(value, list):
        items = [_masked(item, _under(_ITEM, paths), _under(_ITEM, unordered)) for item in value]
        return sorted(items, key=_encoded) if () in unordered else items
    return value


def _under(key: str, paths: Iterable[Path]) -> tuple[Path, ...]:
    return tuple(path[1:] for path in paths if path and path[0] == key)


def _encoded(value: Any) -> bytes:
    return msgspec.json.encode(value, order="sorted")
