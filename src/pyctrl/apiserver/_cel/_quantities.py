"""Kubernetes' functions of quantities and of semantic versions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import ClassVar

from pyctrl.api import Quantity
from pyctrl.errors import QuantityError

from ._errors import EvaluationFailed
from ._numbers import INT_MAX, INT_MIN
from ._signatures import Table

_GRAMMAR = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"


@dataclass(frozen=True, slots=True)
class QuantityValue:
    """A quantity; equal when the numbers are."""

    TYPE: ClassVar[str] = "kubernetes.Quantity"
    number: Decimal


@lru_cache(maxsize=1024)
def _quantity(text: str) -> QuantityValue:
    try:
        return QuantityValue(Quantity(text).value)
    except QuantityError as error:
        raise EvaluationFailed(_GRAMMAR) from error


def _is_quantity(text: str) -> bool:
    try:
        _quantity(text)
    except EvaluationFailed:
        return False
    return True


def _is_integer(quantity: QuantityValue) -> bool:
    return quantity.number == quantity.number.to_integral_value() and INT_MIN <= quantity.number <= INT_MAX


def _as_integer(quantity: QuantityValue) -> int:
    if not _is_integer(quantity):
        raise EvaluationFailed("cannot convert value to integer")
    return int(quantity.number)


def _compare(left: Decimal, right: Decimal) -> int:
    return (left > right) - (left < right)


def _plus(quantity: QuantityValue, other: Decimal | int) -> QuantityValue:
    return QuantityValue(quantity.number + other)


QUANTITIES: Table = {
    "quantity": [("(string) -> kubernetes.Quantity", _quantity)],
    "isQuantity": [("(string) -> bool", _is_quantity)],
    "isInteger": [("kubernetes.Quantity.() -> bool", _is_integer)],
    "asInteger": [("kubernetes.Quantity.() -> int", _as_integer)],
    "asApproximateFloat": [("kubernetes.Quantity.() -> double", lambda quantity: float(quantity.number))],
    "sign": [("kubernetes.Quantity.() -> int", lambda quantity: _compare(quantity.number, Decimal(0)))],
    "add": [
        ("kubernetes.Quantity.(kubernetes.Quantity) -> kubernetes.Quantity", lambda a, b: _plus(a, b.number)),
        ("kubernetes.Quantity.(int) -> kubernetes.Quantity", _plus),
    ],
    "sub": [
        ("kubernetes.Quantity.(kubernetes.Quantity) -> kubernetes.Quantity", lambda a, b: _plus(a, -b.number)),
        ("kubernetes.Quantity.(int) -> kubernetes.Quantity", lambda a, b: _plus(a, -b)),
    ],
    "isLessThan": [("kubernetes.Quantity.(kubernetes.Quantity) -> bool", lambda a, b: a.number < b.number)],
    "isGreaterThan": [("kubernetes.Quantity.(kubernetes.Quantity) -> bool", lambda a, b: a.number > b.number)],
    "compareTo": [("kubernetes.Quantity.(kubernetes.Quantity) -> int", lambda a, b: _compare(a.number, b.number))],
}

# -- semantic versions -----------------------------------------------------------------------------------------

_NUMBER = re.compile(r"\d+")
_IDENTIFIER = re.compile(r"[0-9A-Za-z-]+")


@dataclass(frozen=True, slots=True)
class Semver:
    """A semantic version; `build` does not count in comparisons."""

    TYPE: ClassVar[str] = "kubernetes.Semver"
    numbers: tuple[int, int, int]
    pre: tuple[str, ...]
    build: tuple[str, ...]


def _semver(text: str, normalize: bool = False) -> Semver:
    text = _normal(text) if normalize else text
    if not text:
        raise EvaluationFailed("Version string empty")
    parts = text.split(".", 2)
    if len(parts) != 3:
        raise EvaluationFailed("No Major.Minor.Patch elements found")
    rest, plus, build = parts[2].partition("+")
    patch, dash, pre = rest.partition("-")
    numbers = [_part(name, each) for name, each in zip(("Major", "Minor", "Patch"), (*parts[:2], patch), strict=True)]
    return Semver(
        (numbers[0], numbers[1], numbers[2]),
        tuple(_pre(each) for each in pre.split(".")) if dash else (),
        tuple(_build(each) for each in build.split(".")) if plus else (),
    )


def _normal(text: str) -> str:
    """Take off a leading v, zeros before numbers, and add the numbers that are missing."""
    text = text.removeprefix("v")
    core = re.split(r"[-+]", text, maxsplit=1)[0]
    numbers = [each.lstrip("0") or "0" if each else each for each in core.split(".")]
    numbers += ["0"] * (3 - len(numbers))
    return ".".join(numbers) + text[len(core) :]


def _part(name: str, text: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise EvaluationFailed(f'Invalid character(s) found in {name.lower()} number "{text}"')
    if len(text) > 1 and text.startswith("0"):
        raise EvaluationFailed(f'{name} number must not contain leading zeroes "{text}"')
    return int(text)


def _pre(text: str) -> str:
    if not text:
        raise EvaluationFailed("Prerelease is empty")
    if _NUMBER.fullmatch(text):
        if len(text) > 1 and text.startswith("0"):
            raise EvaluationFailed(f'Numeric PreRelease version must not contain leading zeroes "{text}"')
    elif not _IDENTIFIER.fullmatch(text):
        raise EvaluationFailed(f'Invalid character(s) found in prerelease "{text}"')
    return text


def _build(text: str) -> str:
    if not text:
        raise EvaluationFailed("Build meta data is empty")
    if not _IDENTIFIER.fullmatch(text):
        raise EvaluationFailed(f'Invalid character(s) found in build meta data "{text}"')
    return text


def _is_semver(text: str, normalize: bool = False) -> bool:
    try:
        _semver(text, normalize)
    except EvaluationFailed:
        return False
    return True


def _order(version: Semver) -> tuple[object, ...]:
    """Numbers come before words, and any prerelease before none."""
    pre = tuple((0, int(each), "") if each.isdigit() else (1, 0, each) for each in version.pre)
    return (*version.numbers, not version.pre, pre)


def _before(left: Semver, right: Semver) -> bool:
    return _order(left) < _order(right)


SEMVERS: Table = {
    "semver": [("(string) -> kubernetes.Semver", _semver), ("(string, bool) -> kubernetes.Semver", _semver)],
    "isSemver": [("(string) -> bool", _is_semver), ("(string, bool) -> bool", _is_semver)],
    "major": [("kubernetes.Semver.() -> int", lambda version: version.numbers[0])],
    "minor": [("kubernetes.Semver.() -> int", lambda version: version.numbers[1])],
    "patch": [("kubernetes.Semver.() -> int", lambda version: version.numbers[2])],
    "isLessThan": [("kubernetes.Semver.(kubernetes.Semver) -> bool", _before)],
    "isGreaterThan": [("kubernetes.Semver.(kubernetes.Semver) -> bool", lambda a, b: _before(b, a))],
    "compareTo": [("kubernetes.Semver.(kubernetes.Semver) -> int", lambda a, b: _before(b, a) - _before(a, b))],
}
