"""Arithmetic of cost estimation: sizes as ranges and costs as maxima, saturated at the largest 64-bit number."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

__all__ = ["MAX", "UNKNOWN", "Size", "capped", "fixed", "scaled"]


MAX: Final = 2**64 - 1


def capped(number: int) -> int:
    """Return a number, at most `MAX`."""
    return min(number, MAX)


def scaled(number: int, factor: float) -> int:
    """Return the product with a factor, rounded up."""
    product = float(number) * factor
    return MAX if product >= 2.0**64 else math.ceil(product)


class Size(NamedTuple):
    """The estimated size of a string, bytes, list or map: what `size()` returns."""

    least: int
    most: int

    def plus(self, other: Size) -> Size:
        """Return the sum of two sizes."""
        return Size(capped(self.least + other.least), capped(self.most + other.most))

    def times(self, other: Size) -> Size:
        """Return the product of two sizes."""
        return Size(capped(self.least * other.least), capped(self.most * other.most))

    def union(self, other: Size) -> Size:
        """Return the range that includes both sizes."""
        return Size(min(self.least, other.least), max(self.most, other.most))

    def cost(self, factor: float) -> int:
        """Return the maximum cost of a traversal, with this cost for one element."""
        return scaled(self.most, factor)


def fixed(size: int) -> Size:
    """Return the size of a value whose size is known."""
    return Size(size, size)


UNKNOWN: Final = Size(0, MAX)
