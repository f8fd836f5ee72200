"""Actual costs of calls at run time: those of cel-go, and those of Kubernetes' functions.

The numbers are part of the API: kube-apiserver stops an evaluation whose cost exceeds its budget.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from pyctrl.cel._library.addresses import CIDR
from pyctrl.cel._signatures import Overload
from pyctrl.cel._values import NONE, Optional

__all__ = ["QUADRATIC", "ActualCost", "cost_of_call", "equality_cost"]


ActualCost: TypeAlias = Callable[[Sequence[Any], Any], int]  # of the arguments and the result

_TRAVERSAL: Final = 0.1  # for one character of a string
_REGEX: Final = 0.25  # for one character of a regular expression
_CHECK: Final = 350_000  # of an authorization check
_LIST: Final = 10  # of making a list
_STRUCT: Final = 40  # of making an object


def cost_of_call(function: str, overloads: Sequence[Overload]) -> ActualCost | None:
    """Return the cost of calls, as a function of arguments and result; None for a cost of 1.

    An overload that is chosen at run time costs 1, unless the function has one cost.
    """
    cost = _BY_FUNCTION.get(function)
    if len(overloads) == 1:
        cost = _BY_SIGNATURE.get((function, overloads[0].signature)) or _IF_CHOSEN.get(function) or cost
    return cost


def equality_cost(left: Any, right: Any) -> int:
    """Return the cost of `==` and `!=`."""
    if type(left) is str and type(right) is str:
        return math.ceil(min(len(left), len(right)) * _TRAVERSAL)
    if type(left) is int and type(right) is int:
        return 1
    if getattr(type(left), "TYPE", None) is not None:
        return 1
    return _scaled(min(_size(left), _size(right)))


def _size(value: Any) -> int:
    if isinstance(value, str):
        return len(value)
    if isinstance(value, (bytes, list, dict)):
        return len(value)
    if isinstance(value, Optional) and value is not NONE:
        return _size(value.value)
    if isinstance(value, CIDR):
        return math.ceil(value.length / 8)
    return 1


def _scaled(size: float, factor: float = _TRAVERSAL) -> int:
    return math.ceil(size * factor)


def _traversal(value: Any) -> int:
    """Return the cost of comparing all parts of a value."""
    if isinstance(value, str):
        return int(len(value.encode("utf-8", "surrogatepass")) * _TRAVERSAL)
    if isinstance(value, bytes):
        return int(len(value) * _TRAVERSAL)
    if isinstance(value, list):
        return sum(map(_traversal, value))
    if isinstance(value, dict):
        return sum(_traversal(key) + _traversal(each) for key, each in value.items())
    return 1


def _times(factor: float) -> ActualCost:
    return lambda arguments, _result: _scaled(_size(arguments[0]), factor)


def _regex(arguments: Sequence[Any], _result: Any) -> int:
    return _scaled(1 + _size(arguments[0])) * _scaled(_size(arguments[1]), _REGEX)


def _substring(arguments: Sequence[Any], _result: Any) -> int:
    return _scaled(_size(arguments[0])) * _scaled(_size(arguments[1]))


def _smaller(arguments: Sequence[Any], _result: Any) -> int:
    return _scaled(min(_size(arguments[0]), _size(arguments[1])))


def _sum(arguments: Sequence[Any], _result: Any) -> int:
    return _scaled(_size(arguments[0]) + _size(arguments[1]))


def _selector(arguments: Sequence[Any], _result: Any) -> int:
    size = _size(arguments[1])
    return _LIST + _scaled(size) + math.ceil(math.ceil(size * 0.5) * (_LIST + _STRUCT))


def _output_size(_arguments: Sequence[Any], result: Any) -> int:
    return _size(result) + 1 + _LIST


def _flatten(arguments: Sequence[Any], _result: Any) -> int:
    depth = arguments[1] if len(arguments) > 1 else 1
    return _size(arguments[0]) * depth + 1 + _LIST


def _self_compare(items: Any) -> int:
    factor = 2 + _TRAVERSAL if isinstance(items, list) and items and isinstance(items[0], (str, bytes)) else 2
    return int(_size(items) ** 2 * factor) + 1 + _LIST


def _sets(factor: int) -> ActualCost:
    return lambda arguments, _result: 1 + _size(arguments[0]) * _size(arguments[1]) * factor


def _contains_ip(arguments: Sequence[Any], _result: Any) -> int:
    return _scaled(2 * _size(arguments[0]))


def _contains_cidr(arguments: Sequence[Any], _result: Any) -> int:
    return _scaled(2 * _size(arguments[0])) + _scaled(_size(arguments[0])) + 1


def _and_parsed(cost: ActualCost) -> ActualCost:
    """Return the cost of a function that parses its argument first."""
    return lambda arguments, result: cost(arguments, result) + _scaled(_size(arguments[1]))


#: The length of the regular expressions of named formats, as upstream.
_FORMAT_SIZES: Final[Mapping[str, int]] = {
    **dict.fromkeys(("dns1123Label", "dns1035Label", "dns1123LabelPrefix", "dns1035LabelPrefix"), 30),
    **dict.fromkeys(("dns1123Subdomain", "qualifiedName", "dns1123SubdomainPrefix"), 60),
    "labelValue": 40,
}


def _validate(arguments: Sequence[Any], _result: Any) -> int:
    size = _FORMAT_SIZES.get(arguments[0].name, 128)
    return _scaled(1 + _size(arguments[1])) * _scaled(size, _REGEX)


_STRING_TIMES: Final = _times(_TRAVERSAL)
_TWICE: Final = _times(2 * _TRAVERSAL)
#: Functions that compare each element with all others. They do not fail, and a call may take a second.
QUADRATIC: Final[Mapping[str, ActualCost]] = {
    "sets.contains": _sets(1),
    "sets.intersects": _sets(1),
    "sets.equivalent": _sets(2),
    "distinct": lambda arguments, _result: _self_compare(arguments[0]),
}
#: Functions whose overloads all have the same cost.
_BY_FUNCTION: Final[Mapping[str, ActualCost]] = {
    "check": lambda _arguments, _result: _CHECK,
    **dict.fromkeys(("fieldSelector", "labelSelector"), _selector),
    **dict.fromkeys(
        ("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"),
        lambda arguments, _result: _traversal(arguments[0]),
    ),
    **dict.fromkeys(("url", "lowerAscii", "upperAscii", "substring", "trim", "jsonpatch.escapeKey"), _STRING_TIMES),
    **dict.fromkeys(("cidr", "isIP", "isCIDR", "quantity", "isQuantity", "semver", "isSemver"), _STRING_TIMES),
    **dict.fromkeys(("replace", "split", "ip.isCanonical"), _TWICE),
    "join": lambda _arguments, result: _scaled(_size(result) * 2),
    **dict.fromkeys(("find", "findAll"), _regex),
    **dict.fromkeys(("_==_", "_!=_"), lambda arguments, _result: equality_cost(arguments[0], arguments[1])),
    **QUADRATIC,
    **dict.fromkeys(("slice", "lists.range", "reverse"), _output_size),
    "flatten": _flatten,
    "contains": _substring,
    "containsIP": _contains_ip,
    "containsCIDR": _contains_cidr,
    "validate": _validate,
    "matches": _regex,
    **dict.fromkeys(("startsWith", "endsWith", "strings.quote", "format"), _STRING_TIMES),
}
#: Functions whose cost is known if an overload is chosen when the expression is compiled.
_IF_CHOSEN: Final[Mapping[str, ActualCost]] = {
    "sort": lambda arguments, _result: _self_compare(arguments[0]),
    "@sortByAssociatedKeys": lambda arguments, _result: _self_compare(arguments[1]),
}
_ORDER: Final = ("_<_", "_<=_", "_>_", "_>=_")
#: Overloads with a cost of their own, if they are chosen when the expression is compiled.
_BY_SIGNATURE: Final[Mapping[tuple[str, str], ActualCost]] = {
    ("ip", "(string) -> net.IP"): _STRING_TIMES,
    ("containsIP", "net.CIDR.(string) -> bool"): _and_parsed(_contains_ip),
    ("containsCIDR", "net.CIDR.(string) -> bool"): _and_parsed(_contains_cidr),
    ("bytes", "(string) -> bytes"): _STRING_TIMES,
    ("string", "(bytes) -> string"): _STRING_TIMES,
    ("@in", "(A, list(A)) -> bool"): lambda arguments, _result: _size(arguments[1]),
    **{("_+_", f"({kind}, {kind}) -> {kind}"): _sum for kind in ("string", "bytes")},
    **{(name, f"({kind}, {kind}) -> bool"): _smaller for name in _ORDER for kind in ("string", "bytes")},
}
