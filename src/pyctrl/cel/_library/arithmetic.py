"""Arithmetic and ordering operators: 64-bit numbers with overflow errors, and Go's division."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from itertools import permutations
from typing import Any, Final, TypeAlias

from pyctrl.cel._errors import NO_OVERLOAD, EvaluationFailed
from pyctrl.cel._signatures import Table
from pyctrl.cel._values import Duration, Timestamp, Uint, concatenate_lists

__all__ = [
    "ARITHMETIC",
    "INT_MAX",
    "INT_MIN",
    "ORDER",
    "TIMESTAMP_MAX",
    "TIMESTAMP_MIN",
    "UINT_MAX",
    "as_duration",
    "as_int",
    "as_timestamp",
    "as_uint",
    "less",
]


INT_MIN: Final = -(1 << 63)
INT_MAX: Final = (1 << 63) - 1
UINT_MAX: Final = (1 << 64) - 1
_SECOND = 1_000_000_000
TIMESTAMP_MIN: Final = -62135596800 * _SECOND  # 0001-01-01T00:00:00Z
TIMESTAMP_MAX: Final = 253402300799 * _SECOND + 999_999_999  # 9999-12-31T23:59:59.999999999Z


def as_int(number: int) -> int:
    """Return the number as an int.

    Raises:
        EvaluationFailed: It does not fit 64 bits.
    """
    if INT_MIN <= number <= INT_MAX:
        return number
    raise EvaluationFailed("integer overflow")


def as_uint(number: int) -> Uint:
    """Return the number as a uint.

    Raises:
        EvaluationFailed: It is negative or does not fit 64 bits.
    """
    if 0 <= number <= UINT_MAX:
        return Uint(number)
    raise EvaluationFailed("unsigned integer overflow")


def as_timestamp(nanoseconds: int, ahead: int = 0) -> Timestamp:
    """Return a timestamp in the years 1 to 9999.

    Raises:
        EvaluationFailed: It is outside this range.
    """
    if TIMESTAMP_MIN <= nanoseconds <= TIMESTAMP_MAX:
        return Timestamp(nanoseconds, ahead)
    raise EvaluationFailed("timestamp overflow")


def as_duration(nanoseconds: int) -> Duration:
    """Return a duration.

    Raises:
        EvaluationFailed: Its nanoseconds do not fit 64 bits.
    """
    return Duration(as_int(nanoseconds))


def _divided(left: int, right: int) -> int:
    if not right:
        raise EvaluationFailed("division by zero")
    return as_int(_divided_toward_zero(left, right))


def _divided_toward_zero(left: int, right: int) -> int:
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def _remainder(left: int, right: int) -> int:
    if not right:
        raise EvaluationFailed("modulus by zero")
    return as_int(
        int(math.fmod(left, right)) if abs(left) < 2**52 > abs(right) else left - right * _divided(left, right)
    )


def _divided_float(left: float, right: float) -> float:
    if right:
        return left / right
    if not left or math.isnan(left):
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1.0, right)


def _unsigned(operation: Callable[[int, int], int]) -> Callable[[int, int], Uint]:
    return lambda left, right: as_uint(operation(int(left), int(right)))


ARITHMETIC: Table = {
    "_+_": [
        ("(int, int) -> int", lambda a, b: as_int(a + b)),
        ("(uint, uint) -> uint", _unsigned(lambda a, b: a + b)),
        ("(double, double) -> double", lambda a, b: a + b),
        ("(string, string) -> string", lambda a, b: a + b),
        ("(bytes, bytes) -> bytes", lambda a, b: a + b),
        ("(list(A), list(A)) -> list(A)", concatenate_lists),
        ("(duration, duration) -> duration", lambda a, b: as_duration(a.nanoseconds + b.nanoseconds)),
        ("(duration, timestamp) -> timestamp", lambda a, b: as_timestamp(a.nanoseconds + b.nanoseconds, b.ahead)),
        ("(timestamp, duration) -> timestamp", lambda a, b: as_timestamp(a.nanoseconds + b.nanoseconds, a.ahead)),
    ],
    "_-_": [
        ("(int, int) -> int", lambda a, b: as_int(a - b)),
        ("(uint, uint) -> uint", _unsigned(lambda a, b: a - b)),
        ("(double, double) -> double", lambda a, b: a - b),
        ("(duration, duration) -> duration", lambda a, b: as_duration(a.nanoseconds - b.nanoseconds)),
        ("(timestamp, duration) -> timestamp", lambda a, b: as_timestamp(a.nanoseconds - b.nanoseconds, a.ahead)),
        ("(timestamp, timestamp) -> duration", lambda a, b: as_duration(a.nanoseconds - b.nanoseconds)),
    ],
    "_*_": [
        ("(int, int) -> int", lambda a, b: as_int(a * b)),
        ("(uint, uint) -> uint", _unsigned(lambda a, b: a * b)),
        ("(double, double) -> double", lambda a, b: a * b),
    ],
    "_/_": [
        ("(int, int) -> int", _divided),
        ("(uint, uint) -> uint", _unsigned(_divided)),
        ("(double, double) -> double", _divided_float),
    ],
    "_%_": [
        ("(int, int) -> int", _remainder),
        ("(uint, uint) -> uint", _unsigned(_remainder)),
    ],
    "-_": [
        ("(int) -> int", lambda a: as_int(-a)),
        ("(double) -> double", lambda a: -a),
    ],
    "!_": [("(bool) -> bool", lambda a: not a)],
}

# -- order -----------------------------------------------------------------------------------------------------

_Compare: TypeAlias = Callable[[Any, Any], bool]

_ORDERED = ("bool", "int", "uint", "string", "bytes", "timestamp", "duration")
_NUMBERS = frozenset((int, float, Uint))
_COMPARABLE = frozenset((bool, str, bytes, Timestamp, Duration))


def less(left: Any, right: Any) -> bool:
    """Return whether `left` is less than `right`, for values of any type.

    Raises:
        EvaluationFailed: The values have no order.
    """
    kind, other = type(left), type(right)
    if kind in _NUMBERS and other in _NUMBERS:
        return _as_doubles(operator.lt)(left, right) if float in (kind, other) else bool(left < right)
    if kind is not other or kind not in _COMPARABLE:
        raise EvaluationFailed(NO_OVERLOAD)
    return bool(left < right)


def _as_doubles(compare: _Compare) -> _Compare:
    """Compare a double with another number: both are converted to doubles and may lose digits, as in Go."""

    def run(left: float, right: float) -> bool:
        if math.isnan(left) or math.isnan(right):
            raise EvaluationFailed("NaN values cannot be ordered")
        return compare(float(left), float(right))

    return run


def _order(compare: _Compare) -> list[tuple[str, _Compare]]:
    doubles = [("double", "double"), *(pair for pair in permutations(("int", "uint", "double"), 2) if "double" in pair)]
    return [
        *((f"({kind}, {kind}) -> bool", compare) for kind in _ORDERED),
        *((f"({left}, {right}) -> bool", _as_doubles(compare)) for left, right in doubles),
        ("(int, uint) -> bool", compare),
        ("(uint, int) -> bool", compare),
    ]


ORDER: Table = {
    "_<_": _order(operator.lt),
    "_<=_": _order(operator.le),
    "_>_": _order(operator.gt),
    "_>=_": _order(operator.ge),
}
