"""String functions: cel-go's strings extension, and Kubernetes' `find` and `findAll`."""

from __future__ import annotations

from pyctrl._go.regexp import CompiledPattern, PatternError, go_pattern
from pyctrl._go.regexp_syntax import pattern_error
from pyctrl.cel._errors import EvaluationFailed
from pyctrl.cel._library.formatting import formatted
from pyctrl.cel._signatures import Table

__all__ = ["STRINGS"]


_ASCII_LOWER = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")
_ASCII_UPPER = str.maketrans("abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_ESCAPES = str.maketrans(
    {
        "\a": "\\a",
        "\b": "\\b",
        "\f": "\\f",
        "\n": "\\n",
        "\r": "\\r",
        "\t": "\\t",
        "\v": "\\v",
        "\\": "\\\\",
        '"': '\\"',
    }
)
_WHITE = " \t\n\v\f\r\x85\xa0                　"


def _out_of_range(index: int) -> EvaluationFailed:
    return EvaluationFailed(f"index out of range: {index}")


def _char_at(text: str, index: int) -> str:
    if not 0 <= index <= len(text):
        raise _out_of_range(index)
    return text[index : index + 1]


def _index_of(text: str, wanted: str, start: int = 0) -> int:
    if not wanted:
        return start
    if start < 0:
        raise _out_of_range(start)
    return text.find(wanted, start)


def _last_index_of(text: str, wanted: str) -> int:
    return text.rfind(wanted)


def _last_index_before(text: str, wanted: str, start: int) -> int:
    if not wanted:
        return start
    if start < 0:
        raise _out_of_range(start)
    return -1 if start >= len(text) else text.rfind(wanted, 0, start + len(wanted))


def _substring(text: str, start: int) -> str:
    if not 0 <= start <= len(text):
        raise _out_of_range(start)
    return text[start:]


def _substring_between(text: str, start: int, end: int) -> str:
    if start > end:
        raise EvaluationFailed(f"invalid substring range. start: {start}, end: {end}")
    if not 0 <= start <= len(text):
        raise _out_of_range(start)
    if not 0 <= end <= len(text):
        raise _out_of_range(end)
    return text[start:end]


def _split(text: str, separator: str, limit: int = -1) -> list[str]:
    if limit == 0:
        return []
    if separator:
        return text.split(separator, limit - 1 if limit > 0 else -1)
    if limit < 0 or limit >= len(text):
        return list(text)
    return [*text[: limit - 1], text[limit - 1 :]]


def _replace(text: str, old: str, new: str, limit: int = -1) -> str:
    return text.replace(old, new, limit)


def _quote(text: str) -> str:
    return f'"{text.translate(_ESCAPES)}"'


# -- patterns --------------------------------------------------------------------------------------------------


def _pattern(text: str) -> CompiledPattern:
    if why := pattern_error(text):
        raise EvaluationFailed(why)
    return go_pattern(text)


def _matches(text: str, pattern: str) -> bool:
    return _pattern(pattern).matches(text)


def _find(text: str, pattern: str) -> str:
    return next(iter(_find_all(text, pattern, 1)), "")


def _find_all(text: str, pattern: str, limit: int = -1) -> list[str]:
    try:
        return _pattern(pattern).find_all(text, limit)
    except PatternError as error:
        raise EvaluationFailed(str(error)) from None


STRINGS: Table = {
    "contains": [("string.(string) -> bool", lambda text, part: part in text)],
    "startsWith": [("string.(string) -> bool", str.startswith)],
    "endsWith": [("string.(string) -> bool", str.endswith)],
    "matches": [("(string, string) -> bool", _matches), ("string.(string) -> bool", _matches)],
    "find": [("string.(string) -> string", _find)],
    "findAll": [
        ("string.(string) -> list(string)", _find_all),
        ("string.(string, int) -> list(string)", _find_all),
    ],
    "charAt": [("string.(int) -> string", _char_at)],
    "indexOf": [("string.(string) -> int", _index_of), ("string.(string, int) -> int", _index_of)],
    "lastIndexOf": [
        ("string.(string) -> int", _last_index_of),
        ("string.(string, int) -> int", _last_index_before),
    ],
    "substring": [("string.(int) -> string", _substring), ("string.(int, int) -> string", _substring_between)],
    "split": [("string.(string) -> list(string)", _split), ("string.(string, int) -> list(string)", _split)],
    "replace": [
        ("string.(string, string) -> string", _replace),
        ("string.(string, string, int) -> string", _replace),
    ],
    "join": [
        ("list(string).() -> string", "".join),
        ("list(string).(string) -> string", lambda items, separator: separator.join(items)),
    ],
    "trim": [("string.() -> string", lambda text: text.strip(_WHITE))],
    "lowerAscii": [("string.() -> string", lambda text: text.translate(_ASCII_LOWER))],
    "upperAscii": [("string.() -> string", lambda text: text.translate(_ASCII_UPPER))],
    "strings.quote": [("(string) -> string", _quote)],
    "format": [("string.(list(dyn)) -> string", formatted)],
}
