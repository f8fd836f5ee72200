"""Costs of expressions that do not depend on values: of fields, numbers and calls whose cost is one."""

from __future__ import annotations

from pyctrl.cel._expressions import Call, Constant, Expression, Identifier, ListLiteral, MapLiteral, Select
from pyctrl.cel._library.actual_costs import cost_of_call
from pyctrl.cel._library.conversions import CONVERSIONS

__all__ = [
    "INDEXES",
    "branch_discount",
    "call_of_fixed_cost",
    "is_attribute",
    "is_constant",
    "literal_cost",
    "select_cost",
    "selects_from_variable",
]


INDEXES = ("_[_]", "_[?_]", "_?._")
_LIST, _MAP, _MESSAGE = 10, 30, 40
_DECIDING = frozenset(("_&&_", "_||_", "_?_:_", "or", "orValue", "_[?_]", "_?._", "@not_strictly_false"))
_SIZE_OF_ONE = frozenset(("bool", "int", "uint", "double", "null", "timestamp", "duration"))


def select_cost(select: Select) -> int:
    """Return the cost of one selection, without its operand."""
    extra = 0 if is_attribute(select.operand) else 1
    return extra if select.is_test else 1 + extra


def selects_from_variable(select: Select) -> bool:
    """Return whether the planner reads the field of a variable at once, without the cost of the variable."""
    return (
        isinstance(select.operand, Identifier) and not select.is_test and select.operand.type.kind in ("object", "map")
    )


def literal_cost(literal: ListLiteral | MapLiteral) -> int:
    """Return the cost of making a list, map or message, without its parts."""
    if isinstance(literal, ListLiteral):
        return 0 if is_constant(literal) else _LIST
    if literal.message:
        return _MESSAGE
    return 0 if is_constant(literal) else _MAP


def call_of_fixed_cost(call: Call) -> int | None:
    """Return the cost of a call without its operands; None if it depends on their values."""
    if call.function in _DECIDING:
        return None
    if call.function == "_[_]":
        discount = branch_discount(call.arguments[1])  # an attribute that is an index has no cost of its own
        return 1 + (0 if is_attribute(call.arguments[0]) else 1) - discount
    if call.function == "@in" and is_constant(call.arguments[1]):
        return 0
    if call.function in CONVERSIONS and all(isinstance(each, Constant) for each in call.operands):
        return 0
    if call.function in ("_==_", "_!=_"):
        return 1 if all(each.type.kind in _SIZE_OF_ONE for each in call.operands) else None
    return 1 if cost_of_call(call.function, call.overloads) is None else None


def is_attribute(expression: Expression) -> bool:
    """Return whether cel-go resolves an expression as one attribute: a variable with fields and indexes."""
    if isinstance(expression, Identifier):
        return True
    if isinstance(expression, Select):
        return not expression.is_test
    return isinstance(expression, Call) and expression.function in (*INDEXES, "_?_:_")


def branch_discount(expression: Expression) -> int:
    """Return what an expression costs less as a whole branch of a condition, or as an index."""
    if isinstance(expression, Identifier):
        return 1
    if isinstance(expression, Select):
        return int(not expression.is_test)
    return int(isinstance(expression, Call) and expression.function in INDEXES)


def is_constant(expression: Expression) -> bool:
    """Return whether an expression is a constant for cel-go: a literal, or a list or map of such."""
    match expression:
        case Constant():
            return True
        case ListLiteral(items=items):
            return not expression.optional and all(map(is_constant, items))
        case MapLiteral(entries=entries):
            return not expression.message and all(
                is_constant(each.key) and is_constant(each.value) and not each.is_optional for each in entries
            )
    return False
