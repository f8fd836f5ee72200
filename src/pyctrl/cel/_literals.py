"""cel-go's validators of type-checked expressions: invalid constants, literals of mixed types, format strings."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pyctrl._go.regexp_syntax import pattern_error
from pyctrl.cel._errors import EvaluationFailed, Issue
from pyctrl.cel._expressions import Call, Constant, Expression, ListLiteral, MapLiteral, parts, walk
from pyctrl.cel._library.arithmetic import TIMESTAMP_MAX, TIMESTAMP_MIN
from pyctrl.cel._library.formatting import clauses, known_verb
from pyctrl.cel._library.times import SECOND, read_duration, read_timestamp
from pyctrl.cel._types import Type, is_optional

__all__ = ["literal_issues"]


_CHECKED: dict[str, Callable[[str], object | None]] = {
    "duration": read_duration,
    "timestamp": read_timestamp,
    "matches": lambda text: None if pattern_error(text) else text,
}
_MIXED_ALLOWED = frozenset(("format",))  # its argument is a list of values of any types
_REAL = frozenset(("double",))
_WHOLE = frozenset(("int", "uint"))
#: Verb -> its name, its argument types in words, and its argument types.
_VERBS = {
    "s": (
        "string",
        "strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps",
        frozenset(
            ["string", "bool", "bytes", "int", "uint", "double", "map", "list", "type", "duration", "timestamp", "null"]
        ),
    ),
    "d": ("decimal", "integers", _WHOLE),
    "f": ("fixed-point", "doubles", _REAL),
    "e": ("scientific", "doubles", _REAL),
    "b": ("binary", "integers and bools", _WHOLE | {"bool"}),
    "x": ("hex", "integers, byte buffers, and strings", _WHOLE | {"string", "bytes"}),
    "X": ("hex", "integers, byte buffers, and strings", _WHOLE | {"string", "bytes"}),
    "o": ("octal", "integers", _WHOLE),
}


def literal_issues(expression: Expression) -> list[Issue]:
    """Return the issues of the literals of a checked expression."""
    return [*_constants(expression), *_mixed(expression, is_exempt=False), *_formats(expression)]


def _constants(expression: Expression) -> Iterator[Issue]:
    for each in walk(expression):
        if isinstance(each, Call) and each.function in _CHECKED and each.arguments:
            last = each.arguments[-1]
            if isinstance(last, Constant) and not _is_right(each.function, last.value):
                yield Issue(last.at, f"invalid {each.function} argument")


def _is_right(function: str, value: object) -> bool:
    if isinstance(value, str):
        return _CHECKED[function](value) is not None
    is_moment = function == "timestamp" and type(value) is int
    return not is_moment or TIMESTAMP_MIN <= int(str(value)) * SECOND <= TIMESTAMP_MAX


def _mixed(expression: Expression, *, is_exempt: bool) -> Iterator[Issue]:
    if not is_exempt:
        if isinstance(expression, ListLiteral):
            yield from _different(
                [(item, _held(item.type, index in expression.optional)) for index, item in enumerate(expression.items)]
            )
        elif isinstance(expression, MapLiteral) and not expression.message:
            yield from _different_entries(expression)
    inside = is_exempt or (isinstance(expression, Call) and expression.function in _MIXED_ALLOWED)
    for part in parts(expression):
        yield from _mixed(part, is_exempt=inside)


def _held(kind: Type, is_wrapped: bool) -> Type:
    return kind.parameters[0] if is_wrapped and is_optional(kind) else kind


def _different_entries(literal: MapLiteral) -> Iterator[Issue]:
    """Yield an issue for each key and each value of another type than the first; a list has only the first issue."""
    kinds = [(each.key.type, _held(each.value.type, each.is_optional)) for each in literal.entries]
    for entry, (key, value) in zip(literal.entries[1:], kinds[1:], strict=True):
        if key != kinds[0][0]:
            yield Issue(entry.key.at, f"expected type '{kinds[0][0]}' but found '{key}'")
        if value != kinds[0][1]:
            yield Issue(entry.value.at, f"expected type '{kinds[0][1]}' but found '{value}'")


def _different(items: list[tuple[Expression, Type]]) -> Iterator[Issue]:
    for item, kind in items[1:]:
        if kind != items[0][1]:
            yield Issue(item.at, f"expected type '{items[0][1]}' but found '{kind}'")
            return


# -- format ----------------------------------------------------------------------------------------------------


def _formats(expression: Expression) -> Iterator[Issue]:
    for each in walk(expression):
        if isinstance(each, Call) and each.function == "format" and isinstance(each.target, Constant):
            arguments = each.arguments[0]
            if isinstance(arguments, ListLiteral):
                yield from _format(each, str(each.target.value), arguments.items)


def _format(call: Call, text: str, arguments: list[Expression]) -> Iterator[Issue]:
    try:
        verbs = [verb for _, verb, _ in clauses(text) if verb not in ("", "%")]
        if len(arguments) > len(verbs):
            message = f"too many arguments supplied to string.format (expected {len(verbs)}, got {len(arguments)})"
            raise EvaluationFailed(message)
        for index, verb in enumerate(verbs):
            if index >= len(arguments):
                raise EvaluationFailed(f"index {index} out of range")
            clause, types_text, types = _VERBS[known_verb(verb)]
            kind = arguments[index].type
            if not kind.is_dynamic and kind.kind not in types:
                given = kind.name or kind.kind
                message = (
                    f"error during formatting: {clause} clause can only be used on {types_text}, was given {given}"
                )
                yield Issue(arguments[index].at, message)
                return
    except EvaluationFailed as failed:
        yield Issue(call.at, str(failed))
