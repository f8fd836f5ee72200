"""Estimated costs of calls: of functions of Kubernetes and of the extensions of cel-go.

The numbers are upstream's. A change of one changes which definitions the server accepts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple, Protocol, TypeAlias

from pyctrl.cel._estimates import MAX, UNKNOWN, Size, capped, fixed, scaled
from pyctrl.cel._expressions import Constant, Expression
from pyctrl.cel._types import Type

__all__ = [
    "LIST_COST",
    "MAP_COST",
    "MESSAGE_COST",
    "REGEX",
    "TRAVERSAL",
    "CallEstimate",
    "Estimator",
    "Operand",
    "library_estimate",
]


TRAVERSAL: Final = 0.1  # for one character
REGEX: Final = 0.25  # for one character of a regular expression
LIST_COST: Final = 10
MAP_COST: Final = 30
MESSAGE_COST: Final = 40
_CHECK = 350_000  # allows for two authorization checks in an expression
_ADDRESS = Size(4, 16)  # bytes of an IP address
_FORMAT_REGEX = 128  # characters of the longest regular expression of a format
_FORMAT_NAME = 64


class Operand(NamedTuple):
    """A target or an argument of a call; `size` is the size that is known from the expression."""

    type: Type
    path: Sequence[str] | None
    size: Size | None
    expression: Expression | None


class CallEstimate(NamedTuple):
    """The maximum cost of a call, and the size of its result if it is known."""

    cost: int
    size: Size | None = None


class Estimator(Protocol):
    """The sizes of values that schemas declare."""

    def find_size(self, path: Sequence[str] | None) -> Size | None:
        """Return the size of the value at a path; None if it is not declared."""


class _Call(NamedTuple):
    """A call with the estimator of its operands' sizes."""

    estimator: Estimator
    signature: str
    target: Operand | None
    arguments: Sequence[Operand]

    def size(self, operand: Operand) -> Size:
        """Return the size of an operand."""
        return operand.size or self.estimator.find_size(operand.path) or UNKNOWN

    def item(self, items: Operand) -> Operand | None:
        """Return an operand for the items of a list; None if it is no list."""
        if not items.type.parameters:
            return None
        path = None if items.path is None else [*items.path, "@items"]
        return Operand(items.type.parameters[0], path, None, None)


_Estimate: TypeAlias = Callable[[_Call], CallEstimate | None]


def library_estimate(
    estimator: Estimator, function: str, signature: str, target: Operand | None, arguments: Sequence[Operand]
) -> CallEstimate | None:
    """Return the estimate of a call of a library function; None for a function without one."""
    estimate = _ESTIMATES.get(function)
    return None if estimate is None else estimate(_Call(estimator, signature, target, arguments))


# -- the functions of Kubernetes -------------------------------------------------------------------------------


def _constant(cost: int) -> _Estimate:
    return lambda _call: CallEstimate(cost)


def _argument(factor: float, *, keeps_size: bool = False) -> _Estimate:
    """Estimate a traversal of the first argument."""

    def estimate(call: _Call) -> CallEstimate | None:
        if not call.arguments:
            return None
        size = call.size(call.arguments[0])
        return CallEstimate(size.cost(factor), size if keeps_size else None)

    return estimate


def _same_size(call: _Call) -> CallEstimate | None:
    if call.target is None:
        return None
    size = call.size(call.target)
    return CallEstimate(size.cost(TRAVERSAL), size)


def _selector(call: _Call) -> CallEstimate | None:
    if len(call.arguments) != 1:
        return None
    size = call.size(call.arguments[0])
    requirements = scaled(size.cost(0.5), LIST_COST + MESSAGE_COST)  # the shortest requirement is two characters
    return CallEstimate(capped(LIST_COST + size.cost(TRAVERSAL) + requirements))


def _comparisons(call: _Call) -> CallEstimate | None:
    """Estimate one comparison for each item of a list, or a traversal of a string."""
    if call.target is None:
        return None
    size, item = call.size(call.target), call.item(call.target)
    if item is None:
        return CallEstimate(size.cost(TRAVERSAL))
    is_text = item.type.kind in ("string", "bytes")
    cost = capped(1 + (call.size(item).cost(TRAVERSAL) if is_text else 0))
    return CallEstimate(capped(size.most * cost))


def _replace(call: _Call) -> CallEstimate | None:
    if call.target is None or len(call.arguments) < 2:
        return None
    size, old, new = call.size(call.target), call.size(call.arguments[0]), call.size(call.arguments[1])
    most, kept_most = _most_replacements(size.most, old.least, new.most)
    least, kept_least = _least_replacements(size.least, old.most, new.least)
    result = Size(least, most).times(new).plus(Size(kept_least, kept_most))
    return CallEstimate(size.cost(2 * TRAVERSAL), result)


def _most_replacements(size: int, old: int, new: int) -> tuple[int, int]:
    """Return the maximum count of replacements and the characters that are kept beside them."""
    if old == 0:
        return capped(size + 1), size  # the replacement surrounds each character
    return (0, size) if new <= old else (math.ceil(size / old), 0)


def _least_replacements(size: int, old: int, new: int) -> tuple[int, int]:
    if old == 0:
        return capped(size + 1), size
    return (0, size) if old <= new else (math.ceil(size / old), 0)


def _split(call: _Call) -> CallEstimate | None:
    if call.target is None:
        return None
    size = call.size(call.target)
    most = size.most
    if len(call.arguments) > 1 and (limit := _int_constant(call.arguments[1])) is not None:
        most = limit & MAX
    return CallEstimate(size.cost(2 * TRAVERSAL), Size(0, most))


def _join(call: _Call) -> CallEstimate | None:
    if call.target is None:
        return None
    count, item = call.size(call.target), call.item(call.target)
    size = Size(0, 0) if item is None else count.times(call.size(item))
    if call.arguments:
        separators = Size(max(count.least - 1, 0), max(count.most - 1, 0))
        size = size.plus(call.size(call.arguments[0]).times(separators))
    return CallEstimate(size.cost(TRAVERSAL), size)


def _find(call: _Call) -> CallEstimate | None:
    if call.target is None or not call.arguments:
        return None
    size = call.size(call.target)
    text, regex = size.plus(fixed(1)).cost(TRAVERSAL), call.size(call.arguments[0]).cost(REGEX)
    return CallEstimate(capped(text * regex), Size(0, size.most))


def _ip(call: _Call) -> CallEstimate | None:
    return _argument(TRAVERSAL)(call) if call.target is None else CallEstimate(1)


def _contains_address(call: _Call) -> CallEstimate | None:
    return _address_comparison(call, _ADDRESS.plus(_ADDRESS).cost(TRAVERSAL))


def _contains_range(call: _Call) -> CallEstimate | None:
    compared = _ADDRESS.plus(_ADDRESS).cost(TRAVERSAL)
    return _address_comparison(call, compared + _ADDRESS.cost(TRAVERSAL) + 1)


def _address_comparison(call: _Call, cost: int) -> CallEstimate | None:
    if not call.arguments:
        return None
    is_text = call.signature.endswith(".(string) -> bool")
    return CallEstimate(capped(cost + call.size(call.arguments[0]).cost(TRAVERSAL)) if is_text else cost)


def _validate(call: _Call) -> CallEstimate | None:
    if not call.arguments:
        return None
    return CallEstimate(scaled(call.size(call.arguments[0]).cost(TRAVERSAL), _FORMAT_REGEX * REGEX))


def _equality(call: _Call) -> CallEstimate | None:
    left, right = call.arguments
    if left.type != right.type or left.type.kind != "opaque":
        return None
    if left.type.name == "kubernetes.NamedFormat":
        return CallEstimate(scaled(_FORMAT_NAME, TRAVERSAL))
    if left.type.name == "kubernetes.URL":
        return CallEstimate((right.size or fixed(1)).cost(TRAVERSAL))
    return None if left.type.name == "optional_type" else CallEstimate(1)


# -- the extensions of cel-go ----------------------------------------------------------------------------------


def _sets(factor: float) -> _Estimate:
    def estimate(call: _Call) -> CallEstimate | None:
        left, right = call.arguments
        return CallEstimate(capped(call.size(left).times(call.size(right)).cost(factor) + 1))

    return estimate


def _allocated(factor: float, size: Size) -> CallEstimate:
    """Estimate a call that creates a list of this size."""
    return CallEstimate(capped(capped(size.cost(factor) + 1) + LIST_COST), size)


def _int_constant(operand: Operand) -> int | None:
    value = operand.expression.value if isinstance(operand.expression, Constant) else None
    return value if type(value) is int else None


def _number(operand: Operand, otherwise: int) -> int:
    value = _int_constant(operand)
    return otherwise if value is None else max(value, 0)


def _slice(call: _Call) -> CallEstimate | None:
    if call.target is None:
        return None
    size = call.size(call.target)
    start, end = _number(call.arguments[0], 0), _number(call.arguments[1], size.most)
    return _allocated(1, fixed((end - start) & MAX))


def _range(call: _Call) -> CallEstimate | None:
    return _allocated(1, fixed(_number(call.arguments[0], MAX)))


def _reverse(call: _Call) -> CallEstimate | None:
    return None if call.target is None else _allocated(1, call.size(call.target))


def _flatten(call: _Call) -> CallEstimate | None:
    depth = _number(call.arguments[0], MAX) if call.arguments else 1
    return None if call.target is None else _allocated(float(depth), call.size(call.target))


def _distinct(call: _Call) -> CallEstimate | None:
    if call.target is None:
        return None
    size = call.size(call.target)
    return _allocated(2, size.times(size))


def _sort(call: _Call) -> CallEstimate | None:
    """Estimate a sort by the items, or by the list of keys in the argument."""
    keys = call.arguments[0] if call.arguments else call.target
    if keys is None:
        return None
    is_text = "(list(string))" in call.signature or "(list(bytes))" in call.signature
    is_text |= not call.arguments and call.signature.startswith(("list(string)", "list(bytes)"))
    size = call.size(keys)
    return _allocated(2 + TRAVERSAL if is_text else 2, size.times(size))


_ESTIMATES: Mapping[str, _Estimate] = {
    "check": _constant(_CHECK),
    **dict.fromkeys(["serviceAccount", "path", "group", "resource", "subresource", "namespace", "name"], _constant(1)),
    **dict.fromkeys(["allowed", "reason", "error", "errored"], _constant(1)),
    **dict.fromkeys(("fieldSelector", "labelSelector"), _selector),
    **dict.fromkeys(["isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"], _comparisons),
    "url": _argument(TRAVERSAL, keeps_size=True),
    "jsonpatch.escapeKey": _argument(TRAVERSAL, keeps_size=True),
    **dict.fromkeys(["lowerAscii", "upperAscii", "substring", "trim"], _same_size),
    "replace": _replace,
    "split": _split,
    "join": _join,
    **dict.fromkeys(("find", "findAll"), _find),
    **dict.fromkeys(("cidr", "isIP", "isCIDR"), _argument(TRAVERSAL)),
    "ip": _ip,
    "ip.isCanonical": _argument(2 * TRAVERSAL),
    **dict.fromkeys(["masked", "prefixLength", "family", "isUnspecified", "isLoopback"], _constant(1)),
    **dict.fromkeys(["isLinkLocalMulticast", "isLinkLocalUnicast", "isGlobalUnicast"], _constant(1)),
    "containsIP": _contains_address,
    "containsCIDR": _contains_range,
    **dict.fromkeys(["quantity", "isQuantity", "semver", "isSemver"], _argument(TRAVERSAL)),
    "validate": _validate,
    "format.named": _constant(1),
    **dict.fromkeys(["sign", "asInteger", "isInteger", "asApproximateFloat", "add", "sub"], _constant(1)),
    **dict.fromkeys(["isGreaterThan", "isLessThan", "compareTo", "major", "minor", "patch"], _constant(1)),
    **dict.fromkeys(["getScheme", "getHostname", "getHost", "getPort", "getEscapedPath", "getQuery"], _constant(1)),
    "_==_": _equality,
    "sets.contains": _sets(1),
    "sets.intersects": _sets(1),
    "sets.equivalent": _sets(2),
    "slice": _slice,
    "lists.range": _range,
    "reverse": _reverse,
    "flatten": _flatten,
    "distinct": _distinct,
    "sort": _sort,
    "@sortByAssociatedKeys": _sort,
}
