"""The syntax tree of an expression, as the parser gives it and the checker annotates it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from pyctrl.cel._signatures import Overload
from pyctrl.cel._types import DYN, Type


@dataclass(slots=True, eq=False, kw_only=True)
class Expression:
    """What every node has: where it stands (a code point of the text), and the type that the checker finds."""

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
    """`operand.field`; with `is_test`, what `has(operand.field)` asks.

    The checker tells `key`, the name that the field has in the data, or `variable`, when the whole is a name with dots.
    """

    operand: Expression
    field: str
    is_test: bool = False
    key: str = ""
    variable: str = ""


@dataclass(slots=True, eq=False, kw_only=True)
class Call(Expression):
    """A function, a method of `target`, or an operator (`_+_`); `overloads` are those that fit, once checked."""

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
    """`[a, ?b]`; `optional` has the positions of the items behind a question mark."""

    items: list[Expression]
    optional: frozenset[int] = frozenset()


@dataclass(slots=True, eq=False, kw_only=True)
class MapEntry:
    """One `key: value` of a map, or one field of a message, whose key is then a constant."""

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
    """A loop: what `all`, `map` and the other macros become."""

    range: Expression
    variable: str
    second: str  # the other variable of a macro with two, else ""
    accumulator: str
    initial: Expression
    condition: Expression
    step: Expression
    result: Expression


AnyExpression: TypeAlias = Constant | Identifier | Select | Call | ListLiteral | MapLiteral | Comprehension


def parts(expression: Expression) -> Iterator[Expression]:
    """Give what an expression is directly made of, in the order of evaluation."""
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
    """Give an expression and everything inside it, outermost first."""
    yield expression
    for part in parts(expression):
        yield from walk(part)
