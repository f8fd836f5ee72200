"""Estimated costs of the operators and functions of the standard library."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from pyctrl.cel._estimates import MAX, UNKNOWN, Size, capped, fixed, scaled
from pyctrl.cel._library.costs import REGEX, TRAVERSAL, CallEstimate, Operand

__all__ = ["standard_estimate"]


_Estimate: TypeAlias = Callable[[Sequence[Operand]], CallEstimate]


def standard_estimate(
    function: str, signature: str, target: Operand | None, arguments: Sequence[Operand]
) -> CallEstimate:
    """Return the estimate of a call of one overload of a standard function, 1 for most."""
    estimate = _ESTIMATES.get((function, signature))
    if estimate is None:
        return CallEstimate(1)
    return estimate(arguments if target is None else [target, *arguments])


def _size(operand: Operand) -> Size:
    return operand.size or UNKNOWN


def _traversal(operands: Sequence[Operand]) -> CallEstimate:
    return CallEstimate(_size(operands[0]).cost(TRAVERSAL))


def _prefix(operands: Sequence[Operand]) -> CallEstimate:
    return CallEstimate(_size(operands[1]).cost(TRAVERSAL))


def _to_bytes(operands: Sequence[Operand]) -> CallEstimate:
    size = _size(operands[0])
    return CallEstimate(size.cost(TRAVERSAL), Size(size.least, size.most * 4 & MAX))


def _to_string(operands: Sequence[Operand]) -> CallEstimate:
    size = _size(operands[0])
    return CallEstimate(size.cost(TRAVERSAL), Size(size.least // 4, size.most))


def _quote(operands: Sequence[Operand]) -> CallEstimate:
    size = _size(operands[0])
    return CallEstimate(size.cost(TRAVERSAL), Size(size.least + 2, size.most * 2 + 2 & MAX))


def _in_list(operands: Sequence[Operand]) -> CallEstimate:
    return CallEstimate(_size(operands[1]).most)


def _matches(operands: Sequence[Operand]) -> CallEstimate:
    text = _size(operands[0]).plus(fixed(1)).cost(TRAVERSAL)
    return CallEstimate(capped(text * _size(operands[1]).cost(REGEX)))


def _contains(operands: Sequence[Operand]) -> CallEstimate:
    return CallEstimate(capped(_size(operands[0]).cost(TRAVERSAL) * _size(operands[1]).cost(TRAVERSAL)))


def _concatenation(operands: Sequence[Operand]) -> CallEstimate:
    size = _size(operands[0]).plus(_size(operands[1]))
    return CallEstimate(size.cost(TRAVERSAL), size)


def _list_concatenation(operands: Sequence[Operand]) -> CallEstimate:
    return CallEstimate(1, _size(operands[0]).plus(_size(operands[1])))


def _comparison(operands: Sequence[Operand]) -> CallEstimate:
    return CallEstimate(scaled(min(_size(operands[0]).most, _size(operands[1]).most), TRAVERSAL))


_TEXT_TEST = "string.(string) -> bool"
_ORDERS = ("_<_", "_<=_", "_>_", "_>=_")
_ESTIMATES: Mapping[tuple[str, str], _Estimate] = {
    ("format", "string.(list(dyn)) -> string"): _traversal,
    ("bytes", "(string) -> bytes"): _to_bytes,
    ("string", "(bytes) -> string"): _to_string,
    ("strings.quote", "(string) -> string"): _quote,
    ("startsWith", _TEXT_TEST): _prefix,
    ("endsWith", _TEXT_TEST): _prefix,
    ("@in", "(A, list(A)) -> bool"): _in_list,
    ("matches", _TEXT_TEST): _matches,
    ("contains", _TEXT_TEST): _contains,
    ("_+_", "(string, string) -> string"): _concatenation,
    ("_+_", "(bytes, bytes) -> bytes"): _concatenation,
    ("_+_", "(list(A), list(A)) -> list(A)"): _list_concatenation,
    ("_==_", "(A, A) -> bool"): _comparison,
    ("_!=_", "(A, A) -> bool"): _comparison,
    **{(order, f"({kind}, {kind}) -> bool"): _comparison for order in _ORDERS for kind in ("string", "bytes")},
}
