"""One term of a label selector: its validation, and its match against labels."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from pyctrl.errors import SelectorError

__all__ = ["LabelOperator", "LabelRequirement", "invalid_key_message", "invalid_values_message"]

MAX_NAME = 63  # longest label value, and longest label key after its prefix
MAX_PREFIX = 253  # longest DNS subdomain

_NAME = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")
_PREFIX = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_INTEGER = re.compile(r"[-+]?[0-9]+")


class LabelOperator(StrEnum):
    """The operator of a requirement, as written in the string form."""

    EQUALS = "="
    NOT_EQUALS = "!="
    IN = "in"
    NOT_IN = "notin"
    EXISTS = "exists"
    NOT_EXISTS = "!"
    GREATER = ">"
    LESS = "<"


@dataclass(frozen=True, slots=True)
class LabelRequirement:
    """One validated term of a label selector: key and values are valid for labels.

    An absent label satisfies `!=`, `notin` and `!`, as in Kubernetes; `>` and `<` need a label that is an integer.
    """

    key: str
    operator: LabelOperator
    values: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        values = self.values
        if self._is_plain(values):
            return
        if problem := invalid_key_message(self.key) or invalid_values_message(self.operator, values):
            raise SelectorError(f"label requirement on {self.key!r}: {problem}")
        if len(values) > 1 or type(values) is not tuple:
            object.__setattr__(self, "values", tuple(sorted(set(values))))

    def _is_plain(self, values: object) -> bool:
        """Return whether the requirement is a valid equality with one value, the common case."""
        if self.operator is not LabelOperator.EQUALS or type(values) is not tuple or len(values) != 1:
            return False
        return type(self.key) is str and _is_key(self.key) and _is_value(values[0])

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Return whether labels satisfy the requirement."""
        value = labels.get(self.key)
        match self.operator:
            case LabelOperator.EQUALS | LabelOperator.IN:
                return value in self.values
            case LabelOperator.NOT_EQUALS | LabelOperator.NOT_IN:
                return value not in self.values
            case LabelOperator.EXISTS:
                return value is not None
            case LabelOperator.NOT_EXISTS:
                return value is None
        number = None if value is None else _parse_int64(value)
        if number is None:
            return False
        bound = int(self.values[0])
        return number > bound if self.operator is LabelOperator.GREATER else number < bound

    def __str__(self) -> str:
        match self.operator:
            case LabelOperator.EXISTS:
                return self.key
            case LabelOperator.NOT_EXISTS:
                return f"!{self.key}"
            case LabelOperator.IN | LabelOperator.NOT_IN:
                return f"{self.key} {self.operator} ({','.join(self.values)})"
        return f"{self.key}{self.operator}{self.values[0]}"


@lru_cache(256)  # programs use few label keys
def _is_key(key: str) -> bool:
    return invalid_key_message(key) is None


def _is_value(value: object) -> bool:
    return isinstance(value, str) and len(value) <= MAX_NAME and (not value or _NAME.fullmatch(value) is not None)


def invalid_key_message(key: object) -> str | None:
    """Return what is wrong with a label key, or None."""
    if not isinstance(key, str):
        return f"the key is a string, not {key!r}"
    prefix, slash, name = key.rpartition("/")
    if slash and (len(prefix) > MAX_PREFIX or not _PREFIX.fullmatch(prefix)):
        return f"the prefix {prefix!r} of the key is a DNS subdomain of at most {MAX_PREFIX} lower-case characters"
    if len(name) > MAX_NAME or not _NAME.fullmatch(name):
        return (
            f"the name {name!r} in the key has 1 to {MAX_NAME} letters, digits, '-', '_' and '.', "
            "a letter or digit at both ends"
        )
    return None


def invalid_values_message(operator: LabelOperator, values: Sequence[object]) -> str | None:
    """Return what is wrong with the values of an operator, or None."""
    match operator:
        case LabelOperator.EXISTS | LabelOperator.NOT_EXISTS:
            wrong = "takes no value" if values else None
        case LabelOperator.IN | LabelOperator.NOT_IN:
            wrong = None if values else "takes at least one value"
        case _:
            wrong = None if len(values) == 1 else "takes exactly one value"
    if wrong:
        return f"operator '{operator}' {wrong}, not {list(values)!r}"
    for value in values:
        if not _is_value(value):
            return (
                f"the value {value!r} is empty or has at most {MAX_NAME} letters, digits, '-', '_' and '.', "
                "a letter or digit at both ends"
            )
        if operator in (LabelOperator.GREATER, LabelOperator.LESS) and _parse_int64(str(value)) is None:
            return f"operator '{operator}' compares with a 64-bit integer, not {value!r}"
    return None


def _parse_int64(text: str) -> int | None:
    # 20 characters hold every 64-bit integer without leading zeros; int() rejects thousands of digits.
    if not _INTEGER.fullmatch(text):
        return None
    digits = text.lstrip("+-").lstrip("0") or "0"
    number = int(digits) if len(digits) < 20 else 2**64
    number = -number if text[0] == "-" else number
    return number if -(2**63) <= number < 2**63 else None
