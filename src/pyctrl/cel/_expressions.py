"""Syntax tree of an expression: the parser builds it, the checker annotates it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from pyctrl.cel._signatures import Overload
from pyctrl.cel._types import DYN, Type

__all__ = [
    "Call",
    "Comprehension",
    "Constant",
    "Expression",
    "Identifier",
    "ListLiteral",
    "MapEntry",
    "MapLiteral",
    "Select",
    "parts",
    "walk",
]


@dataclass(slots=True, eq=False, kw_only=True)
class Expression:
    """Base class of nodes: the position in the text, in code points, and the type that the checker sets."""

    at: int
    type: Type = DYN


@dataclass(slots=True, eq=False, kw_only=True)
class Constant(Expression):
    """A literal: None, a bool, an int, a Uint, a float, a str or bytes."""

    value: Any


@dataclass(slots=True, eq=False, kw_only=True)
class Identifier(Expression):
    """A variable, or the name of a type."""

    name: str


@dataclass(slots=True, eq=False, kw_only=True)
class Select(Expression):
    """`operand.field`, or `has(operand.field)` with `is_test`.

    The checker sets `key`, the name of the field in the data, or `variable` if the whole chain is a name with dots.
    """

    operand: Expression
    field: str
    is_test: bool = False
    key: str = ""
    variable: str = ""


@dataclass(slots=True, eq=False, kw_only=True)
class Call(Expression):
    """A call of a function, a method of `target`, or an operator (`_+_`). The checker sets the possible `overloads`."""

    function: str
    target: Expression | None
    arguments: list[Expression]
    overloads: tuple[Overload, ...] = ()

    @property
    def operands(self) -> list[Expression]:
        """The target, if there is one, and the arguments."""
        return self.arguments if self.target is None else [self.target, *self.arguments]


@dataclass(slots=True, eq=False, kw_only=True)
class ListLiteral(Expression):
    """`[a, ?b]`; `optional` has the indexes of the items after a question mark."""

    items: list[Expression]
    optional: frozenset[int] = frozenset()


@dataclass(slots=True, eq=False, kw_only=True)
class MapEntry:
    """One `key: value` of a map, or one field of a message, whose key is a constant."""

    at: int
    key: Expression
    value: Expression
    is_optional: bool


@dataclass(slots=True, eq=False, kw_only=True)
class MapLiteral(Expression):
    """`{k: v}`, or `message{field: v}`."""

    message: str
    entries: list[MapEntry] = field(default_factory=list)


@dataclass(slots=True, eq=False, kw_only=True)
class Comprehension(Expression):
    """A loop, the expansion of `all`, `map` and the other macros."""

    range: Expression
    variable: str
    second: str  # the other variable of a macro with two, else ""
    accumulator: str
    initial: Expression
    condition: Expression
    step: Expression
    result: Expression


def parts(expression: Expression) -> Iterator[Expression]:
    """Yield the direct children of an expression in the order of evaluation."""
    match expression:
        case Select(operand=operand):
            yield operand
        case Call():
            yield from expression.operands
        case ListLiteral(items=items):
            yield from items
        case MapLiteral(entries=entries):
            for entry in entries:
                yield entry.key
                yield entry.value
        case Comprehension():
            yield expression.range
            yield expression.initial
            yield expression.condition
            yield expression.step
            yield expression.result


def walk(expression: Expression) -> Iterator[Expression]:
    """Yield an expression and all its descendants, outermost first."""
    yield expression
    for part in parts(expression):
        yield from walk(part)
