"""Text to syntax tree. The grammar is cel-expr-python's (Google's cel-cpp), whose errors read as cel-go's do.

The library hands its tree over as a protobuf `cel.expr.ParsedExpr`; this file reads that with the field numbers of
`cel/expr/syntax.proto`.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib.util import find_spec
from typing import Any, Final, TypeAlias

from pyctrl.apiserver._protobuf_wire import fields, signed

from ._errors import CompileFailed, Issue, failed
from ._expressions import (
    Call,
    Comprehension,
    Constant,
    Entry,
    Expression,
    Identifier,
    ListLiteral,
    MapLiteral,
    Select,
    walk,
)
from ._macros import expand
from ._values import Uint

LIBRARY: Final = "cel_expr_python"
NOT_INSTALLED: Final = "expressions in CEL need the cel extra: pip install 'pyctrl[cel]'"
#: cel-cpp's words -> cel-go's.
_WORDS = {
    "has() argument must be a field selection": "invalid argument to has() macro",
    "all() variable name must be a simple identifier": "argument must be a simple name",
    "exists() variable name must be a simple identifier": "argument must be a simple name",
    "exists_one() variable name must be a simple identifier": "argument must be a simple name",
    "map() variable name must be a simple identifier": "argument is not an identifier",
    "filter() variable name must be a simple identifier": "argument is not an identifier",
    "'\\u003F'": "'?'",
}
_NO_TREE = "<<nil>> parsetree"  # cel-cpp's complaint that follows from another; cel-go has none


def has_library() -> bool:
    """Say whether expressions can be compiled here: whether the `cel` extra is installed."""
    return find_spec(LIBRARY) is not None


def parse(text: str) -> Expression:
    """Parse an expression and expand its macros.

    Raises:
        CompileFailed: it does not parse.
    """
    try:
        tree = _library().compile(text, disable_check=True).serialize()
    except RuntimeError as error:
        raise CompileFailed(_as_go(str(error))) from error
    found = _Reader(tree).read()
    issues: list[Issue] = []
    found = expand(found, issues)
    issues += [
        Issue(each.at + 1, "unsupported syntax: '`'")
        for each in walk(found)
        if isinstance(each, Select) and text[each.at + 1 : each.at + 2] == "`"
    ]
    if issues:
        raise failed(issues, text)
    return found


@lru_cache(maxsize=1)
def _library() -> Any:
    # 60 ms to import: paid by who has expressions
    from cel_expr_python import cel
    from cel_expr_python.ext import ext_optional

    return cel.NewEnv(extensions=[ext_optional.ExtOptional()])


def _as_go(error: str) -> str:
    text = error.removeprefix("INVALID_ARGUMENT: ").removesuffix(" [INVALID_ARGUMENT]")
    for ours, theirs in _WORDS.items():
        text = text.replace(ours, theirs)
    kept = [part for part in text.split("\nERROR: ") if not part.endswith(_NO_TREE)]
    return "compilation failed: " + "\nERROR: ".join(kept)


# -- cel/expr/syntax.proto -------------------------------------------------------------------------------------

_Message: TypeAlias = dict[int, list[Any]]


def _message(data: bytes) -> _Message:
    found: _Message = {}
    for number, _, value in fields(data):
        found.setdefault(number, []).append(value)
    return found


def _text(message: _Message, number: int) -> str:
    return message[number][0].decode() if number in message else ""


class _Reader:
    """Reads one tree: an `Any` with a `ParsedExpr` (expr = 2, source_info = 3)."""

    def __init__(self, data: bytes) -> None:
        parsed = _message(_message(data)[2][0])
        self._tree = parsed[2][0]
        info = _message(parsed[3][0]) if 3 in parsed else {}
        pairs = [_message(each) for each in info.get(4, ())]
        self._places: dict[int, int] = {each[1][0]: each.get(2, [0])[0] for each in pairs if 1 in each}

    def read(self) -> Expression:
        return self._expression(self._tree)

    def _expression(self, data: bytes) -> Expression:
        message = _message(data)
        at = self._places.get(message.get(2, [0])[0], 0)
        for number, read in _KINDS.items():
            if number in message:
                return read(self, _message(message[number][0]), at)
        return Constant(at=at, value=None)

    def _at(self, message: _Message, number: int) -> Expression:
        return self._expression(message[number][0])

    def constant(self, message: _Message, at: int) -> Expression:
        for number, read in _CONSTANTS.items():
            if number in message:
                return Constant(at=at, value=read(message[number][0]))
        return Constant(at=at, value=None)

    def identifier(self, message: _Message, at: int) -> Expression:
        return Identifier(at=at, name=_text(message, 1))

    def select(self, message: _Message, at: int) -> Expression:
        return Select(at=at, operand=self._at(message, 1), field=_text(message, 2), is_test=3 in message)

    def call(self, message: _Message, at: int) -> Expression:
        target = self._at(message, 1) if 1 in message else None
        arguments = [self._expression(each) for each in message.get(3, ())]
        return Call(at=at, function=_text(message, 2), target=target, arguments=arguments)

    def list(self, message: _Message, at: int) -> Expression:
        items = [self._expression(each) for each in message.get(1, ())]
        return ListLiteral(at=at, items=items, optional=frozenset(_packed(message.get(2, ()))))

    def struct(self, message: _Message, at: int) -> Expression:
        return MapLiteral(at=at, message=_text(message, 1), entries=[self._entry(each) for each in message.get(2, ())])

    def _entry(self, data: bytes) -> Entry:
        message = _message(data)
        at = self._places.get(message.get(1, [0])[0], 0)
        key = self._at(message, 3) if 3 in message else Constant(at=at, value=_text(message, 2))
        return Entry(at=at, key=key, value=self._at(message, 4), is_optional=5 in message)

    def comprehension(self, message: _Message, at: int) -> Expression:
        return Comprehension(
            at=at,
            variable=_text(message, 1),
            second=_text(message, 8),
            range=self._at(message, 2),
            accumulator=_text(message, 3),
            initial=self._at(message, 4),
            condition=self._at(message, 5),
            step=self._at(message, 6),
            result=self._at(message, 7),
        )


def _packed(values: Any) -> list[int]:
    """A list of small numbers, written one by one or packed."""
    return [number for each in values for number in ([each] if isinstance(each, int) else each)]


_KINDS: Mapping[int, Callable[[_Reader, _Message, int], Expression]] = {
    3: _Reader.constant,
    4: _Reader.identifier,
    5: _Reader.select,
    6: _Reader.call,
    7: _Reader.list,
    8: _Reader.struct,
    9: _Reader.comprehension,
}
_CONSTANTS: Mapping[int, Callable[[Any], Any]] = {
    1: lambda _value: None,
    2: bool,
    3: signed,
    4: Uint,
    5: lambda value: struct.unpack("<d", value)[0],
    6: lambda value: value.decode("utf-8", "surrogatepass"),
    7: bytes,
}
