"""Format strings of cel-go's strings extension: `'%s is %d'.format([a, b])`."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from typing import Any

from pyctrl._go.text import quoted
from pyctrl.cel._errors import EvaluationFailed
from pyctrl.cel._library.conversions import TYPE_NAMES, write_double, write_duration
from pyctrl.cel._library.times import write_timestamp
from pyctrl.cel._values import Duration, Timestamp, TypeValue, Uint

__all__ = ["clauses", "formatted", "known_verb"]


_CLAUSE = re.compile(r"%(?:\.(\d+))?(.)?", re.DOTALL)
_NO_PRECISION = (
    "could not parse formatting clause: error while parsing precision: error while converting precision to integer: "
    'strconv.Atoi: parsing "": invalid syntax'
)
_STRING_NEEDS = (
    "error during formatting: string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, "
    "types, durations, and timestamps, was given "
)
_SUPERSCRIPT = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


def clauses(text: str) -> Iterator[tuple[str, str, int | None]]:
    """Yield the clauses of a format string: the text before it, its verb ("" at the end), and its precision.

    Raises:
        EvaluationFailed: A clause is malformed.
    """
    at = 0
    while (start := text.find("%", at)) >= 0:
        clause = _CLAUSE.match(text, start)
        if clause is None or not clause[2]:
            raise EvaluationFailed("unexpected end of string")
        if clause[1] is None and clause[2] == ".":
            raise EvaluationFailed(_NO_PRECISION)
        yield text[at:start], clause[2], None if clause[1] is None else int(clause[1])
        at = clause.end()
    yield text[at:], "", None


def formatted(text: str, arguments: list[Any]) -> str:
    """Replace each clause of a text by the next argument.

    Raises:
        EvaluationFailed: A clause is malformed or has no argument, or its argument has the wrong type.
    """
    found, used = [], 0
    for before, verb, precision in clauses(text):
        found.append(before)
        if verb == "%":
            found.append("%")
        elif verb:
            if used >= len(arguments):
                raise EvaluationFailed(f"index {used} out of range")
            found.append(_clause(known_verb(verb), precision, arguments[used]))
            used += 1
    return "".join(found)


def known_verb(verb: str) -> str:
    """Return a verb.

    Raises:
        EvaluationFailed: The verb does not exist.
    """
    if verb not in "sdfebxXo":
        raise EvaluationFailed(f'could not parse formatting clause: unrecognized formatting clause "{verb}"')
    return verb


def _clause(verb: str, precision: int | None, value: Any) -> str:
    if verb in "fe":
        return _real(verb, 6 if precision is None else precision, value)
    return format_value(value) if verb == "s" else _integer(verb, value)


def _wrong_type(clause: str, types: str, value: Any) -> EvaluationFailed:
    name = TYPE_NAMES.get(type(value), "list" if isinstance(value, list) else "map")
    return EvaluationFailed(f"error during formatting: {clause} clause can only be used on {types}, was given {name}")


def _integer(verb: str, value: Any) -> str:
    is_number = type(value) in (int, Uint)
    if verb == "d":
        if not is_number:
            raise _wrong_type("decimal", "integers", value)
        return format_value(value)
    if verb == "b":
        if type(value) is bool:
            return "1" if value else "0"
        if not is_number:
            raise _wrong_type("binary", "integers and bools", value)
        return f"{value:b}"
    if verb == "o":
        if not is_number:
            raise _wrong_type("octal", "integers", value)
        return f"{value:o}"
    return _hex(verb, value, is_number=is_number)


def _hex(verb: str, value: Any, *, is_number: bool) -> str:
    if is_number:
        return f"{value:{verb}}"
    if not isinstance(value, (str, bytes)):
        raise _wrong_type("hex", "integers, byte buffers, and strings", value)
    text = (value.encode() if isinstance(value, str) else value).hex()
    return text.upper() if verb == "X" else text


def _real(verb: str, precision: int, value: Any) -> str:
    clause = "fixed-point" if verb == "f" else "scientific"
    if value in ("NaN", "Infinity", "-Infinity"):
        value = float(value)
    if type(value) is not float:
        raise _wrong_type(clause, "doubles", value)
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "∞" if value > 0 else "-∞"
    if verb == "f":
        return f"{value:,.{precision}f}"
    mantissa, _, exponent = f"{value:.6e}".partition("e")  # like cel-go, which always uses six digits
    power = f"{'-' if exponent.startswith('-') else ''}{exponent[1:]}"
    return f"{mantissa}×10{power.translate(_SUPERSCRIPT)}"


def format_value(value: Any) -> str:
    """Format any value as `%s` does.

    Raises:
        EvaluationFailed: Values of its type cannot be formatted.
    """
    kind = type(value)
    if kind is str:
        return str(value)
    if kind is float:
        return write_double(value)
    if kind is bytes:
        return _text(value)
    if kind is Timestamp:
        return write_timestamp(value)
    return write_duration(value) if kind is Duration else _inside(value)


def _inside(value: Any) -> str:
    """Format a value inside a list or map: strings are quoted."""
    kind = type(value)
    if kind in _SIMPLE:
        return _SIMPLE[kind](value)
    if isinstance(value, list):
        return f"[{', '.join(map(_inside, value))}]"
    if isinstance(value, dict):
        pairs = sorted((_inside(key), _inside(item)) for key, item in value.items())
        return "{" + ", ".join(f"{key}:{item}" for key, item in pairs) + "}"
    raise EvaluationFailed(_STRING_NEEDS + getattr(kind, "TYPE", "optional_type"))


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        why = "invalid UTF-8 in bytes, cannot convert to string"
        raise EvaluationFailed(f'error during formatting: could not convert argument "{why}" to string') from error


_SIMPLE: dict[type, Callable[[Any], str]] = {
    str: quoted,
    bool: lambda value: "true" if value else "false",
    type(None): lambda _value: "null",
    int: str,
    Uint: lambda value: str(int(value)),
    float: lambda value: f"{value:.6f}",
    bytes: lambda value: f"b{quoted(_text(value))}",
    Timestamp: lambda value: f'timestamp("{write_timestamp(value)}")',
    Duration: lambda value: f'duration("{write_duration(value)}")',
    TypeValue: lambda value: value.name,
}
