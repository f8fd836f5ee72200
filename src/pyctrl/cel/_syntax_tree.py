"""Decoder of the parser's output: a protobuf `cel.expr.ParsedExpr`, with the field numbers of cel/expr/syntax.proto."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from pyctrl._protobuf_wire import fields, signed
from pyctrl.cel._expressions import (
    Call,
    Comprehension,
    Constant,
    Expression,
    Identifier,
    ListLiteral,
    MapEntry,
    MapLiteral,
    Select,
)
from pyctrl.cel._values import Uint

__all__ = ["read_tree"]


_Message: TypeAlias = dict[int, list[Any]]


def _message(data: bytes) -> _Message:
    found: _Message = {}
    for number, _, value in fields(data):
        found.setdefault(number, []).append(value)
    return found


def _text(message: _Message, number: int) -> str:
    return message[number][0].decode() if number in message else ""


def read_tree(data: bytes) -> Expression:
    """Decode the syntax tree of an expression."""
    return _TreeReader(data).read()


class _TreeReader:
    """Decoder of one tree: an `Any` with a `ParsedExpr` (expr = 2, source_info = 3)."""

    def __init__(self, data: bytes) -> None:
        parsed = _message(_message(data)[2][0])
        self._tree = parsed[2][0]
        info = _message(parsed[3][0]) if 3 in parsed else {}
        pairs = [_message(each) for each in info.get(4, ())]
        self._places: dict[int, int] = {each[1][0]: each.get(2, [0])[0] for each in pairs if 1 in each}

    def read(self) -> Expression:
        """Return the outermost expression."""
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

    def constant_of(self, message: _Message, at: int) -> Expression:
        for number, read in _CONSTANTS.items():
            if number in message:
                return Constant(at=at, value=read(message[number][0]))
        return Constant(at=at, value=None)

    def identifier_of(self, message: _Message, at: int) -> Expression:
        return Identifier(at=at, name=_text(message, 1))

    def select_of(self, message: _Message, at: int) -> Expression:
        return Select(at=at, operand=self._at(message, 1), field=_text(message, 2), is_test=3 in message)

    def call_of(self, message: _Message, at: int) -> Expression:
        target = self._at(message, 1) if 1 in message else None
        arguments = [self._expression(each) for each in message.get(3, ())]
        return Call(at=at, function=_text(message, 2), target=target, arguments=arguments)

    def list_of(self, message: _Message, at: int) -> Expression:
        items = [self._expression(each) for each in message.get(1, ())]
        return ListLiteral(at=at, items=items, optional=frozenset(_packed(message.get(2, ()))))

    def struct_of(self, message: _Message, at: int) -> Expression:
        return MapLiteral(at=at, message=_text(message, 1), entries=[self._entry(each) for each in message.get(2, ())])

    def _entry(self, data: bytes) -> MapEntry:
        message = _message(data)
        at = self._places.get(message.get(1, [0])[0], 0)
        key = self._at(message, 3) if 3 in message else Constant(at=at, value=_text(message, 2))
        return MapEntry(at=at, key=key, value=self._at(message, 4), is_optional=5 in message)

    def comprehension_of(self, message: _Message, at: int) -> Expression:
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
    """Return a list of numbers below 128, encoded one by one or packed."""
    return [number for each in values for number in ([each] if isinstance(each, int) else each)]


_KINDS: Mapping[int, Callable[[_TreeReader, _Message, int], Expression]] = {
    3: _TreeReader.constant_of,
    4: _TreeReader.identifier_of,
    5: _TreeReader.select_of,
    6: _TreeReader.call_of,
    7: _TreeReader.list_of,
    8: _TreeReader.struct_of,
    9: _TreeReader.comprehension_of,
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
