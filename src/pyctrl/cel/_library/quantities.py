"""Kubernetes' quantity library."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from typing import ClassVar

from pyctrl.api import Quantity
from pyctrl.cel._errors import EvaluationFailed
from pyctrl.cel._library.arithmetic import INT_MAX, INT_MIN
from pyctrl.cel._signatures import Table
from pyctrl.errors import QuantityError

__all__ = ["QUANTITIES"]


_FORM = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
_SUFFIX = "unable to parse quantity's suffix"
# Possessive: texts come from clients, and a mismatch must not take quadratic time.
_PARTS = re.compile(r"([+-]?)0*+([0-9]*+)(?:\.([0-9]*+))?([eEinumkKMGTP]*+[-+]?[0-9]*+)")
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DIGITS = 18  # of a number that upstream keeps in 64 bits; 15 with a binary suffix


@dataclass(frozen=True, slots=True)
class QuantityValue:
    """A quantity. Quantities are equal if their numbers are.

    `scale` is the power of ten of upstream's 64-bit amount; None if upstream uses an arbitrary-precision decimal.
    `isInteger` depends on it: a quantity with a negative scale or None is never an integer.
    """

    TYPE: ClassVar[str] = "kubernetes.Quantity"
    number: Decimal
    scale: int | None = field(default=0, compare=False)


@lru_cache(maxsize=1024)
def _quantity(text: str) -> QuantityValue:
    parts = _PARTS.fullmatch(text)
    if not text or parts is None:
        raise EvaluationFailed(_FORM)
    sign, whole, fraction, suffix = parts[1], parts[2], parts[3] or "", parts[4]
    try:
        number = Quantity(f"{sign}{whole or '0'}.{fraction or '0'}{suffix}").value
    except QuantityError as error:
        raise EvaluationFailed(_SUFFIX) from error
    return QuantityValue(number, _scale(whole or "0", fraction, suffix))


def _scale(whole: str, fraction: str, suffix: str) -> int | None:
    if suffix in _BINARY:
        spare_digits = 15 - len(whole) - _BINARY[suffix] * 3 // 10 - 1
        return 0 if not fraction and spare_digits >= 0 else None
    if len(whole) + len(fraction) > _DIGITS:
        return None
    exponent = _DECIMAL[suffix] if suffix in _DECIMAL else int(suffix[1:])
    return exponent - len(fraction)


def _is_quantity(text: str) -> bool:
    try:
        _quantity(text)
    except EvaluationFailed:
        return False
    return True


def _is_integer(quantity: QuantityValue) -> bool:
    return quantity.scale is not None and quantity.scale >= 0 and INT_MIN <= quantity.number <= INT_MAX


def _as_integer(quantity: QuantityValue) -> int:
    if not _is_integer(quantity):
        raise EvaluationFailed("cannot convert value to integer")
    return int(quantity.number)


def _compare(left: Decimal, right: Decimal) -> int:
    return (left > right) - (left < right)


def _sign(quantity: QuantityValue) -> int:
    return _compare(quantity.number, Decimal(0))


def _plus(left: QuantityValue, right: QuantityValue) -> QuantityValue:
    if not left.number or not right.number:
        return left if not right.number else right
    is_small = left.scale is not None and right.scale is not None
    return QuantityValue(left.number + right.number, min(left.scale or 0, right.scale or 0) if is_small else None)


def _minus(left: QuantityValue, right: QuantityValue) -> QuantityValue:
    return _plus(left, QuantityValue(-right.number, right.scale))


def _whole(number: int) -> QuantityValue:
    return QuantityValue(Decimal(number))


_WITH_QUANTITY = "kubernetes.Quantity.(kubernetes.Quantity)"

QUANTITIES: Table = {
    "quantity": [("(string) -> kubernetes.Quantity", _quantity)],
    "isQuantity": [("(string) -> bool", _is_quantity)],
    "isInteger": [("kubernetes.Quantity.() -> bool", _is_integer)],
    "asInteger": [("kubernetes.Quantity.() -> int", _as_integer)],
    "asApproximateFloat": [("kubernetes.Quantity.() -> double", lambda quantity: float(quantity.number))],
    "sign": [("(kubernetes.Quantity) -> int", _sign)],
    "add": [
        (f"{_WITH_QUANTITY} -> kubernetes.Quantity", _plus),
        ("kubernetes.Quantity.(int) -> kubernetes.Quantity", lambda quantity, number: _plus(quantity, _whole(number))),
    ],
    "sub": [
        (f"{_WITH_QUANTITY} -> kubernetes.Quantity", _minus),
        ("kubernetes.Quantity.(int) -> kubernetes.Quantity", lambda quantity, number: _minus(quantity, _whole(number))),
    ],
    "isLessThan": [(f"{_WITH_QUANTITY} -> bool", lambda a, b: a.number < b.number)],
    "isGreaterThan": [(f"{_WITH_QUANTITY} -> bool", lambda a, b: a.number > b.number)],
    "compareTo": [(f"{_WITH_QUANTITY} -> int", lambda a, b: _compare(a.number, b.number))],
}
