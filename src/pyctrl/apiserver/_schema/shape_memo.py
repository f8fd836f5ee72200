"""Memo of what depends on the keys of a value only: objects of one kind have the same few keys again and again."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

__all__ = ["ShapeMemo"]

T = TypeVar("T")

_KEYS = 64
_CHARACTERS = 2048  # of all keys together


class ShapeMemo(dict[tuple[str, ...], T]):
    """Results of a function of keys; ``memo[keys]`` computes a missing one.

    Results for more than 64 keys or 2048 characters are not kept, because maps with free keys can have any number. A
    full memo is cleared.
    """

    def __init__(self, compute: Callable[[tuple[str, ...]], T], *, size: int = 256) -> None:
        super().__init__()
        self._compute = compute
        self._size = size

    def __missing__(self, keys: tuple[str, ...]) -> T:
        found = self._compute(keys)
        if len(keys) <= _KEYS and sum(map(len, keys)) <= _CHARACTERS:
            if len(self) >= self._size:
                self.clear()
            self[keys] = found
        return found
