"""Type conversion functions, named like types, with cel-go's error messages."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any, NoReturn

from pyctrl.cel._errors import EvaluationFailed
from pyctrl.cel._library.arithmetic import INT_MAX, INT_MIN, as_int, as_timestamp, as_uint
from pyctrl.cel._library.times import SECOND, read_duration, read_timestamp, write_timestamp
from pyctrl.cel._signatures import Table
from pyctrl.cel._values import Duration, Timestamp, TypeValue, Uint

__all__ = ["CONVERSIONS", "TYPE_NAMES", "type_name", "write_double", "write_duration"]


_TRUE = ("1", "t", "T", "true", "TRUE", "True")
_FALSE = ("0", "f", "F", "false", "FALSE", "False")
# Texts come from clients: the patterns do not backtrack, and numbers that are too long are not converted.
_INT = re.compile(r"([+-]?)(?=[0-9])0*+([0-9]{0,20})")
_FLOAT = re.compile(r"[+-]?([0-9]++(\.[0-9]*+)?|\.[0-9]++)(e[+-]?[0-9]++)?", re.IGNORECASE)
_NO_NUMBER = re.compile(r"[+-]?(inf(inity)?|nan)", re.IGNORECASE)
_HEX_FLOAT = re.compile(r"[+-]?0x([0-9a-f]++(\.[0-9a-f]*+)?|\.[0-9a-f]++)p[+-]?[0-9]++", re.IGNORECASE)

TYPE_NAMES = {
    bool: "bool",
    int: "int",
    Uint: "uint",
    float: "double",
    str: "string",
    bytes: "bytes",
    type(None): "null_type",
    Timestamp: "google.protobuf.Timestamp",
    Duration: "google.protobuf.Duration",
    TypeValue: "type",
}


def type_name(value: Any) -> str:
    """Return the name of the type of a value, as `type()` shows it."""
    found = TYPE_NAMES.get(type(value))
    if found is not None:
        return found
    if isinstance(value, list):
        return "list"
    return "map" if isinstance(value, dict) else str(getattr(type(value), "TYPE", "optional_type"))


def _conversion_error(found: str, wanted: str) -> NoReturn:
    raise EvaluationFailed(f"type conversion error from '{found}' to '{wanted}'")


def _bool(text: str) -> bool:
    if text in _TRUE:
        return True
    return False if text in _FALSE else _conversion_error("string", "bool")


def _int(text: str) -> int:
    number = _whole(text)
    if number is None or not INT_MIN <= number <= INT_MAX:
        _conversion_error("string", "int")
    return number


def _uint(text: str) -> Uint:
    number = _whole(text) if text[:1].isdigit() else None
    if number is None or number >= 1 << 64:
        _conversion_error("string", "uint")
    return Uint(number)


def _whole(text: str) -> int | None:
    """Parse an integer; None for other texts and for numbers that cannot fit 64 bits."""
    found = _INT.fullmatch(text)
    return int(f"{found[1]}{found[2] or '0'}") if found else None


def _truncated(number: float, fit: Callable[[int], int], overflow: str) -> int:
    if not math.isfinite(number) or not INT_MIN < number < float(1 << 64):
        raise EvaluationFailed(overflow)
    return fit(int(number))


def _double(text: str) -> float:
    text = re.sub(r"(?<=[0-9a-fA-F])_(?=[0-9a-fA-F])", "", text)
    if _NO_NUMBER.fullmatch(text):
        return float(text)
    try:
        number = float.fromhex(text) if _HEX_FLOAT.fullmatch(text) else float(text) if _FLOAT.fullmatch(text) else None
    except OverflowError:
        number = None
    if number is None or math.isinf(number):
        _conversion_error("string", "double")
    return number


def _string(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise EvaluationFailed("invalid UTF-8 in bytes, cannot convert to string") from error


def write_double(number: float) -> str:
    """Format a double as Go's `%g`: the shortest digits, with an exponent from a million on."""
    if not math.isfinite(number):
        return "NaN" if math.isnan(number) else "+Inf" if number > 0 else "-Inf"
    is_negative, digits, exponent = Decimal(repr(number)).as_tuple()
    mantissa = "".join(map(str, digits)).rstrip("0") or "0"
    power = len(digits) - 1 + int(exponent) if number else 0
    sign = "-" if is_negative else ""
    if -4 <= power < 6:
        return sign + _plain(mantissa, power)
    fraction = f".{mantissa[1:]}" if len(mantissa) > 1 else ""
    return f"{sign}{mantissa[0]}{fraction}e{'-' if power < 0 else '+'}{abs(power):02d}"


def _plain(mantissa: str, power: int) -> str:
    if power < 0:
        return "0." + "0" * (-power - 1) + mantissa
    whole = mantissa[: power + 1].ljust(power + 1, "0")
    return f"{whole}.{mantissa[power + 1 :]}" if len(mantissa) > power + 1 else whole


def write_duration(duration: Duration) -> str:
    """Format a duration in seconds: `90s`, `1.5s`."""
    whole, rest = divmod(abs(duration.nanoseconds), SECOND)
    fraction = f".{rest:09d}".rstrip("0") if rest else ""
    return f"{'-' if duration.nanoseconds < 0 else ''}{whole}{fraction}s"


def _duration(text: str) -> Duration:
    found = read_duration(text)
    return found if found is not None else _conversion_error("string", "google.protobuf.Duration")


def _timestamp(text: str) -> Timestamp:
    found = read_timestamp(text)
    return found if found is not None else _conversion_error("string", "google.protobuf.Timestamp")


def _same(value: Any) -> Any:
    return value


CONVERSIONS: Table = {
    "type": [("(A) -> type(A)", lambda value: TypeValue(type_name(value)))],
    "dyn": [("(A) -> dyn", _same)],
    "bool": [("(bool) -> bool", _same), ("(string) -> bool", _bool)],
    "bytes": [("(bytes) -> bytes", _same), ("(string) -> bytes", lambda text: text.encode())],
    "double": [
        ("(double) -> double", _same),
        ("(int) -> double", float),
        ("(uint) -> double", float),
        ("(string) -> double", _double),
    ],
    "int": [
        ("(int) -> int", _same),
        ("(double) -> int", lambda number: _truncated(number, as_int, "integer overflow")),
        ("(uint) -> int", lambda number: as_int(int(number))),
        ("(string) -> int", _int),
        ("(timestamp) -> int", lambda timestamp: timestamp.nanoseconds // SECOND),
        ("(duration) -> int", lambda duration: duration.nanoseconds),
    ],
    "uint": [
        ("(uint) -> uint", _same),
        ("(double) -> uint", lambda number: _truncated(number, as_uint, "unsigned integer overflow")),
        ("(int) -> uint", as_uint),
        ("(string) -> uint", _uint),
    ],
    "string": [
        ("(string) -> string", _same),
        ("(bool) -> string", lambda value: "true" if value else "false"),
        ("(int) -> string", str),
        ("(uint) -> string", lambda number: str(int(number))),
        ("(double) -> string", write_double),
        ("(bytes) -> string", _string),
        ("(timestamp) -> string", write_timestamp),
        ("(duration) -> string", write_duration),
    ],
    "duration": [
        ("(duration) -> duration", _same),
        ("(string) -> duration", _duration),
        ("(int) -> duration", Duration),
    ],
    "timestamp": [
        ("(timestamp) -> timestamp", _same),
        ("(string) -> timestamp", _timestamp),
        ("(int) -> timestamp", lambda seconds: as_timestamp(seconds * SECOND)),
    ],
}
