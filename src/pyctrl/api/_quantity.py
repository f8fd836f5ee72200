"""Quantities: exact numbers with suffixes, as Kubernetes writes CPU, memory, storage and counts."""

from __future__ import annotations

import functools
import re
from decimal import ROUND_UP, Context, Decimal, Inexact, InvalidOperation, Overflow
from enum import Enum
from typing import TYPE_CHECKING, Any

from pyctrl.errors import QuantityError

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import core_schema

__all__ = ["Quantity", "QuantityFamily"]

NANO = Decimal("1e-9")  # the finest precision
MAX_BINARY = Decimal(2**63 - 1)  # upstream caps only quantities with the suffixes Ki…Ei

# Enough digits for every number in use. A larger number is an error instead of a gigabyte of zeros.
_EXACT = Context(prec=1000, rounding=ROUND_UP, traps=[Inexact, InvalidOperation, Overflow])
_UP = Context(prec=1000, rounding=ROUND_UP, traps=[InvalidOperation, Overflow])

_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL_SUFFIX = {exponent: suffix for suffix, exponent in _DECIMAL.items()}
_BINARY_SUFFIX = {0: ""} | {exponent: suffix for suffix, exponent in _BINARY.items()}
_FACTOR = {suffix: Decimal((0, (1,), exponent)) for suffix, exponent in _DECIMAL.items()} | {
    suffix: Decimal(2**exponent) for suffix, exponent in _BINARY.items()
}

_PATTERN = r"([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))((?:[KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?)"
_matches = re.compile(_PATTERN).fullmatch


class QuantityFamily(Enum):
    """The suffixes that a quantity is written with. Arithmetic keeps the family of the left operand."""

    BINARY_SI = "BinarySI"  # Ki Mi Gi Ti Pi Ei
    DECIMAL_SI = "DecimalSI"  # n u m "" k M G T P E
    DECIMAL_EXPONENT = "DecimalExponent"  # e3, E-6


@functools.total_ordering
class Quantity:
    """An exact number with the suffix of its text: `Quantity("500m")`, `Quantity("1.5Gi")`, `Quantity(2)`.

    Compares and hashes by value, so `Quantity("1") == Quantity("1000m") == 1`. Immutable. The `source` that it was made
    from is written back unchanged; `str()` and `canonical()` return the canonical form that Kubernetes prints. As
    upstream, digits below a nano are rounded away from zero, and binary quantities are capped at 2^63-1.

    A float stands for its shortest decimal text (`0.1` is a tenth). No arithmetic uses floats.

    Args:
        family: Write the number with these suffixes: `Quantity(2**30, family=QuantityFamily.BINARY_SI)` is `1Gi`.

    Raises:
        QuantityError: The text is not a quantity.
    """

    __slots__ = ("_family", "_source", "_value")

    _source: str | int | float
    _value: Decimal | None  # None until first used: most quantities are only passed on
    _family: QuantityFamily

    def __init__(self, source: str | float | Decimal | Quantity, *, family: QuantityFamily | None = None) -> None:
        self._value = None
        if isinstance(source, Quantity):
            self._source, self._value, self._family = source.source, source.value, source.family
        elif isinstance(source, Decimal):
            self._value, self._family = _evaluate(str(source), ""), QuantityFamily.DECIMAL_SI
            self._source = self.canonical()
        else:
            number, suffix = _split(source)
            self._source, self._family = source, _family_of(suffix)
            # Extreme numbers are rejected at once; all others are evaluated at the first use.
            if len(number) > 30 or suffix not in _FACTOR:
                self._value = _evaluate(number, suffix)
        if family is not None:
            self._value, self._family = self.value, family
            self._source = self.canonical()

    @property
    def source(self) -> str | int | float:
        """The text or number that the quantity was made from; after arithmetic, the canonical text."""
        return self._source

    @property
    def family(self) -> QuantityFamily:
        """The suffixes that the quantity is written with."""
        return self._family

    @property
    def value(self) -> Decimal:
        """The exact number."""
        if self._value is None:
            self._value = _evaluate(*_split(self._source))
        return self._value

    @property
    def is_zero(self) -> bool:
        """Whether the number is zero."""
        return not self.value

    def as_int(self, unit: str = "") -> int:
        """Return the count of whole units, rounded away from zero: `Quantity("1500m").as_int()` is 2.

        Args:
            unit: A suffix, such as `m` or `Mi`.
        """
        if unit not in _FACTOR:
            raise QuantityError(f"{unit!r} is not a suffix of quantities; expected one of {_suffixes()}")
        return int(_UP.divide(self.value, _FACTOR[unit]).to_integral_value(rounding=ROUND_UP))

    def canonical(self) -> str:
        """Return the text that Kubernetes writes: no fraction, and the largest suffix of its family that allows it.

        Binary quantities between -1024 and 1024, and those with a fraction, are written with decimal suffixes.
        """
        value = self.value
        if not value:
            return "0"
        if self._family is QuantityFamily.BINARY_SI and abs(value) >= 1024 and value == value.to_integral_value():
            return _write_binary(int(value))
        return _write_decimal(value, self._family)

    def __str__(self) -> str:
        return self.canonical()

    def __repr__(self) -> str:
        return f"Quantity({self._source!r})"

    def __int__(self) -> int:
        return self.as_int()

    def __float__(self) -> float:
        return float(self.value)

    def __bool__(self) -> bool:
        return not self.is_zero

    def __hash__(self) -> int:
        return hash(self.value)

    def __eq__(self, other: object) -> bool:
        number = _number(other)
        return NotImplemented if number is None else self.value == number

    def __lt__(self, other: Quantity | Decimal | int) -> bool:
        number = _number(other)
        return NotImplemented if number is None else self.value < number

    def __add__(self, other: Quantity | Decimal | int) -> Quantity:
        number = _number(other)
        return NotImplemented if number is None else self._like(_EXACT.add(self.value, number), other)

    def __sub__(self, other: Quantity | Decimal | int) -> Quantity:
        number = _number(other)
        return NotImplemented if number is None else self._like(_EXACT.subtract(self.value, number), other)

    def __mul__(self, factor: Decimal | int) -> Quantity:
        number = _plain_number(factor)  # not a quantity: bytes times bytes have no meaning
        return NotImplemented if number is None else self._like(_EXACT.multiply(self.value, number), self)

    __rmul__ = __mul__

    def __radd__(self, other: Decimal | int) -> Quantity:
        # sum() starts from the integer 0, which has no family.
        return self + other

    def __neg__(self) -> Quantity:
        return self._like(_EXACT.minus(self.value), self)

    def __abs__(self) -> Quantity:
        return -self if self.value < 0 else self

    def __copy__(self) -> Quantity:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Quantity:
        return self

    def _like(self, value: Decimal, other: object) -> Quantity:
        """Return a quantity in this family, or, when this one is zero, in that of the other operand."""
        family = other.family if self.is_zero and isinstance(other, Quantity) else self._family
        return Quantity(value, family=family)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        from pydantic_core import core_schema  # here: API servers use quantities without pydantic

        return core_schema.no_info_plain_validator_function(
            _validate,
            serialization=core_schema.plain_serializer_function_ser_schema(_source_of),
        )

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {
            "anyOf": [{"type": "integer"}, {"type": "string"}],
            "pattern": f"^{_PATTERN}$",
            "x-kubernetes-int-or-string": True,
        }


def _validate(value: Any) -> Quantity:
    return value if type(value) is Quantity else Quantity(value)


def _source_of(quantity: Quantity) -> str | int | float:
    return quantity.source


def _split(source: object) -> tuple[str, str]:
    if isinstance(source, bool) or not isinstance(source, (str, int, float)):
        raise QuantityError(f"a quantity is made from text or a number, not {source!r}")
    match = _matches(source.strip() if isinstance(source, str) else repr(source))
    if match is None:
        raise QuantityError(
            f"{source!r} is not a quantity: expected a number with a suffix out of {_suffixes()} or an exponent (1e3)"
        )
    return match[1], match[2]


def _suffixes() -> str:
    return " ".join(suffix for suffix in _FACTOR if suffix)


def _family_of(suffix: str) -> QuantityFamily:
    if suffix in _DECIMAL:
        return QuantityFamily.DECIMAL_SI
    return QuantityFamily.BINARY_SI if suffix in _BINARY else QuantityFamily.DECIMAL_EXPONENT


def _evaluate(number: str, suffix: str) -> Decimal:
    try:
        factor = _FACTOR.get(suffix) or Decimal(f"1{suffix}")
        value = _EXACT.multiply(Decimal(number), factor)
    except (Inexact, InvalidOperation, Overflow) as error:
        raise _too_big(number + suffix) from error
    if not value.is_finite():
        raise QuantityError(f"{number} is not a quantity: expected a finite number")
    if value.adjusted() >= _EXACT.prec:
        raise _too_big(number + suffix)
    value = _at_least_nano(value)
    return max(-MAX_BINARY, min(MAX_BINARY, value)) if suffix in _BINARY else value


def _too_big(text: str) -> QuantityError:
    return QuantityError(f"the quantity {text!r} has more than {_EXACT.prec} digits")


def _at_least_nano(value: Decimal) -> Decimal:
    exponent = value.as_tuple().exponent
    return value.quantize(NANO, context=_UP) if isinstance(exponent, int) and exponent < -9 else value


def _number(other: object) -> Decimal | None:
    """Return the exact number of an operand; None for a type that is not an operand, such as float."""
    return other.value if isinstance(other, Quantity) else _plain_number(other)


def _plain_number(other: object) -> Decimal | None:
    if isinstance(other, int):
        return Decimal(other)
    return other if isinstance(other, Decimal) else None


def _write_binary(number: int) -> str:
    exponent = 0
    while number % 1024 == 0 and exponent < 60:
        number //= 1024
        exponent += 10
    return f"{number}{_BINARY_SUFFIX[exponent]}"


def _write_decimal(value: Decimal, family: QuantityFamily) -> str:
    sign, digits, exponent = value.normalize(_EXACT).as_tuple()
    assert isinstance(exponent, int)
    spare = exponent % 3
    if family is not QuantityFamily.DECIMAL_EXPONENT:
        spare += max(0, exponent - spare - 18)  # there is no suffix above E
    text = "-" * sign + "".join(map(str, digits)) + "0" * spare
    return text + _exponent_suffix(exponent - spare, family)


def _exponent_suffix(exponent: int, family: QuantityFamily) -> str:
    if family is QuantityFamily.DECIMAL_EXPONENT:
        return f"e{exponent}" if exponent else ""
    return _DECIMAL_SUFFIX[exponent]
