"""Shard selectors: hash ranges of a metadata field, the text of `shardSelector` (KEP-5866)."""

from __future__ import annotations

import dataclasses
import re
from bisect import bisect_right
from collections.abc import Iterable
from typing import Literal, TypeAlias, cast, get_args

from pyctrl.errors import SelectorError

__all__ = ["HASH_SPACE", "ShardField", "ShardRange", "ShardSelector", "hash_field", "merge_ranges", "subtract_ranges"]

#: The fields whose hash can be selected. The server resolves them in each object.
ShardField: TypeAlias = Literal["object.metadata.uid", "object.metadata.namespace"]

HASH_SPACE = 1 << 64  # the number of hashes, and the exclusive end of the last range

_FNV_OFFSET, _FNV_PRIME = 0xCBF29CE484222325, 0x100000001B3  # of FNV-1a with 64 bits
_MASK = HASH_SPACE - 1
_SPACES = r"[ \t\n\r\f]*"
_HEX = r"'(0x[0-9a-f]{16}|0x10000000000000000)'"
_TERM = re.compile(
    _SPACES.join([r"", "shardRange", r"\(", f"({'|'.join(map(re.escape, get_args(ShardField)))})", ","])
    + _SPACES.join(["", _HEX, ",", _HEX, r"\)", ""])
)


def hash_field(text: str) -> int:
    """Return the hash of a field's value: FNV-1a with 64 bits, as the API server computes it."""
    value = _FNV_OFFSET
    for byte in text.encode():
        value = ((value ^ byte) * _FNV_PRIME) & _MASK
    return value


@dataclasses.dataclass(frozen=True, slots=True, order=True)
class ShardRange:
    """The hashes from ``start`` to before ``end``; printed as `0x0000000000000000-0x8000000000000000`.

    Raises:
        SelectorError: The range is empty or outside of the hash space.
    """

    start: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.start < HASH_SPACE or self.end > HASH_SPACE:
            raise SelectorError(f"shard range {self} is not within 0x{0:016x} and 0x{HASH_SPACE:016x}")
        if self.start >= self.end:
            raise SelectorError(f"shard range start 0x{self.start:016x} must be less than end 0x{self.end:016x}")

    @classmethod
    def split(cls, count: int) -> tuple[ShardRange, ...]:
        """Return ``count`` ranges of the same size, which cover all hashes together."""
        size = HASH_SPACE // count
        ends = [size * number for number in range(1, count)] + [HASH_SPACE]
        return tuple(cls(size * number, end) for number, end in enumerate(ends))

    def __contains__(self, hashed: int) -> bool:
        """Return whether a hash is in the range."""
        return self.start <= hashed < self.end

    def __str__(self) -> str:
        return f"0x{self.start:016x}-0x{self.end:016x}"


@dataclasses.dataclass(frozen=True, slots=True)
class ShardSelector:
    """A selection of objects by the hash of their uid or namespace. Immutable, hashable, cheap to match.

    `str()` is the text of the parameter `shardSelector`. It has the ranges as they were given; `merged` has them in
    order and joined.

    Args:
        ranges: The ranges of hashes; an object is selected when its hash is in any of them.
        field: The field whose value is hashed.

    Raises:
        SelectorError: There is no range, or the field cannot be selected.
    """

    ranges: tuple[ShardRange, ...]
    field: ShardField = "object.metadata.uid"
    #: The ranges in order, disjoint, and joined where they touch.
    merged: tuple[ShardRange, ...] = dataclasses.field(init=False, repr=False, compare=False)
    _bounds: tuple[int, ...] = dataclasses.field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.field not in get_args(ShardField):
            supported = ", ".join(get_args(ShardField))
            raise SelectorError(f"unsupported field path {self.field!r} of a shard selector; supported: {supported}")
        if not self.ranges:
            raise SelectorError("a shard selector needs at least one range; without a selector a list is complete")
        object.__setattr__(self, "ranges", tuple(self.ranges))
        object.__setattr__(self, "merged", merge_ranges(self.ranges))
        object.__setattr__(self, "_bounds", tuple(bound for part in self.merged for bound in (part.start, part.end)))

    @classmethod
    def parse(cls, text: str) -> ShardSelector:
        """Parse `shardRange(object.metadata.uid, '0x…', '0x…')`, joined by `||`.

        The bounds have 16 hexadecimal digits in lower case, or are `0x10000000000000000`. A server reads any CEL
        expression of this shape, for example with parentheses; this reads what `str()` prints, with any spaces.

        Raises:
            SelectorError: The text is not such a selector.
        """
        found = [_TERM.fullmatch(term) for term in text.split("||")]
        terms = [match.groups() for match in found if match is not None]
        if len(terms) < len(found):
            raise SelectorError(
                "expected a shard selector like shardRange(object.metadata.uid, '0x0000000000000000', "
                f"'0x8000000000000000'), several joined by ||, got {text!r}"
            )
        fields = list(dict.fromkeys(name for name, _, _ in terms))
        if len(fields) > 1:
            raise SelectorError(f"all shard ranges must use the same field, got {fields[0]!r} and {fields[1]!r}")
        ranges = tuple(ShardRange(int(start, 16), int(end, 16)) for _, start, end in terms)
        return cls(ranges, cast(ShardField, fields[0]))

    def matches(self, value: str) -> bool:
        """Return whether an object with this value of the field is selected."""
        return self.contains(hash_field(value))

    def contains(self, hashed: int) -> bool:
        """Return whether a hash of the field's value is selected."""
        return bisect_right(self._bounds, hashed) % 2 == 1  # between a start and its end

    def __str__(self) -> str:
        return " || ".join(
            f"shardRange({self.field}, '0x{part.start:016x}', '0x{part.end:016x}')" for part in self.ranges
        )


def merge_ranges(ranges: Iterable[ShardRange]) -> tuple[ShardRange, ...]:
    """Return the same hashes as ranges in order, disjoint, and joined where they touch."""
    merged: list[ShardRange] = []
    for part in sorted(ranges):
        if merged and part.start <= merged[-1].end:
            merged[-1] = ShardRange(merged[-1].start, max(merged[-1].end, part.end))
        else:
            merged.append(part)
    return tuple(merged)


def subtract_ranges(ranges: Iterable[ShardRange], removed: Iterable[ShardRange]) -> tuple[ShardRange, ...]:
    """Return the hashes that are in ``ranges`` and not in ``removed``, as ranges in order and disjoint."""
    left: list[ShardRange] = []
    holes = iter(merge_ranges(removed))
    hole = next(holes, None)
    for part in merge_ranges(ranges):
        start = part.start
        while hole is not None and hole.start < part.end:
            if start < hole.start:
                left.append(ShardRange(start, hole.start))
            start = max(start, hole.end)
            if hole.end > part.end:
                break  # it reaches into the next part, too
            hole = next(holes, None)
        if start < part.end:
            left.append(ShardRange(start, part.end))
    return tuple(left)
