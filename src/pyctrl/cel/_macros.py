"""Expansion of the macros that cel-expr-python's parser leaves as calls: those with two variables, and `sortBy`.

The expansions are cel-go's, so that costs and errors are the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from pyctrl.cel._errors import Issue
from pyctrl.cel._expressions import (
    Call,
    Comprehension,
    Constant,
    Expression,
    Identifier,
    ListLiteral,
    MapLiteral,
    Select,
)

__all__ = ["expand"]


ACCUMULATOR: Final = "@result"
_SORTED: Final = "@__sortBy_input__"


def expand(expression: Expression, issues: list[Issue]) -> Expression:
    """Expand the macros in an expression, innermost first; errors are appended to `issues`."""
    match expression:
        case Select():
            expression.operand = expand(expression.operand, issues)
        case ListLiteral():
            expression.items = [expand(each, issues) for each in expression.items]
        case MapLiteral():
            for entry in expression.entries:
                entry.key, entry.value = expand(entry.key, issues), expand(entry.value, issues)
        case Comprehension():
            expression.range = expand(expression.range, issues)
            expression.initial = expand(expression.initial, issues)
            expression.condition = expand(expression.condition, issues)
            expression.step = expand(expression.step, issues)
            expression.result = expand(expression.result, issues)
        case Call():
            return _expand_call(expression, issues)
    return expression


def _expand_call(call: Call, issues: list[Issue]) -> Expression:
    if call.target is not None:
        call.target = expand(call.target, issues)
    call.arguments = [expand(each, issues) for each in call.arguments]
    macro = _MACROS.get((call.function, len(call.arguments)))
    if macro is None or call.target is None:
        return call
    if call.function == "sortBy":
        return macro(call, call.target, "", "", issues)
    names = [_name(each, issues) for each in call.arguments[:2]]
    if names[0] and names[0] == names[1]:
        issues.append(Issue(call.arguments[1].at, f"duplicate variable name: {names[1]}"))
    return macro(call, call.target, names[0], names[1], issues)


def _name(expression: Expression, issues: list[Issue]) -> str:
    if isinstance(expression, Identifier):
        if expression.name in (ACCUMULATOR, "__result__"):
            issues.append(Issue(expression.at, "iteration variable overwrites accumulator variable"))
        return expression.name
    issues.append(Issue(expression.at, "argument must be a simple name"))
    return ""


def _call(at: int, function: str, *arguments: Expression) -> Call:
    return Call(at=at, function=function, target=None, arguments=list(arguments))


def _accumulated(at: int) -> Identifier:
    return Identifier(at=at, name=ACCUMULATOR)


def _true(at: int) -> Constant:
    return Constant(at=at, value=True)


def _all(call: Call, target: Expression, first: str, second: str, issues: list[Issue]) -> Expression:
    return _quantifier(call, target, (first, second), "_&&_", initial=True)


def _exists(call: Call, target: Expression, first: str, second: str, issues: list[Issue]) -> Expression:
    return _quantifier(call, target, (first, second), "_||_", initial=False)


def _quantifier(call: Call, target: Expression, names: tuple[str, str], joined: str, *, initial: bool) -> Expression:
    at = call.at
    open_still = _accumulated(at) if initial else _call(at, "!_", _accumulated(at))
    return Comprehension(
        at=at,
        range=target,
        variable=names[0],
        second=names[1],
        accumulator=ACCUMULATOR,
        initial=Constant(at=at, value=initial),
        condition=_call(at, "@not_strictly_false", open_still),
        step=_call(at, joined, _accumulated(at), call.arguments[2]),
        result=_accumulated(at),
    )


def _exists_one(call: Call, target: Expression, first: str, second: str, issues: list[Issue]) -> Expression:
    at = call.at
    more = _call(at, "_+_", _accumulated(at), Constant(at=at, value=1))
    return Comprehension(
        at=at,
        range=target,
        variable=first,
        second=second,
        accumulator=ACCUMULATOR,
        initial=Constant(at=at, value=0),
        condition=_true(at),
        step=_call(at, "_?_:_", call.arguments[2], more, _accumulated(at)),
        result=_call(at, "_==_", _accumulated(at), Constant(at=at, value=1)),
    )


def _transform(call: Call, target: Expression, names: tuple[str, str], initial: Expression, step: Call) -> Expression:
    at = call.at
    taken: Expression = step
    if len(call.arguments) == 4:
        taken = _call(at, "_?_:_", call.arguments[2], step, _accumulated(at))
    return Comprehension(
        at=at,
        range=target,
        variable=names[0],
        second=names[1],
        accumulator=ACCUMULATOR,
        initial=initial,
        condition=_true(at),
        step=taken,
        result=_accumulated(at),
    )


def _transform_list(call: Call, target: Expression, first: str, second: str, issues: list[Issue]) -> Expression:
    at = call.at
    step = _call(at, "_+_", _accumulated(at), ListLiteral(at=at, items=[call.arguments[-1]]))
    return _transform(call, target, (first, second), ListLiteral(at=at, items=[]), step)


def _transform_map(call: Call, target: Expression, first: str, second: str, issues: list[Issue]) -> Expression:
    at = call.at
    key = Identifier(at=call.arguments[0].at, name=first)
    step = _call(at, "cel.@mapInsert", _accumulated(at), key, call.arguments[-1])
    return _transform(call, target, (first, second), MapLiteral(at=at, message=""), step)


def _transform_entry(call: Call, target: Expression, first: str, second: str, issues: list[Issue]) -> Expression:
    at = call.at
    step = _call(at, "cel.@mapInsert", _accumulated(at), call.arguments[-1])
    return _transform(call, target, (first, second), MapLiteral(at=at, message=""), step)


def _sort_by(call: Call, target: Expression, _first: str, _second: str, issues: list[Issue]) -> Expression:
    """Expand `list.sortBy(e, key)` to `list.@sortByAssociatedKeys(list.map(e, key))`, with the list evaluated once."""
    at, (variable, key) = call.at, call.arguments
    if not isinstance(variable, Identifier):
        issues.append(Issue(variable.at, "sortBy(x, ...) variable name must be a simple identifier"))
        return call
    step = _call(at, "_+_", _accumulated(at), ListLiteral(at=at, items=[key]))
    keys = Comprehension(
        at=at,
        range=Identifier(at=at, name=_SORTED),
        variable=variable.name,
        second="",
        accumulator=ACCUMULATOR,
        initial=ListLiteral(at=at, items=[]),
        condition=_true(at),
        step=step,
        result=_accumulated(at),
    )
    held = Identifier(at=at, name=_SORTED)
    return Comprehension(
        at=at,
        range=ListLiteral(at=at, items=[]),
        variable="#unused",
        second="",
        accumulator=_SORTED,
        initial=target,
        condition=Constant(at=at, value=False),
        step=Identifier(at=at, name=_SORTED),
        result=Call(at=at, function="@sortByAssociatedKeys", target=held, arguments=[keys]),
    )


_MACROS: dict[tuple[str, int], Callable[[Call, Expression, str, str, list[Issue]], Expression]] = {
    ("all", 3): _all,
    ("exists", 3): _exists,
    ("existsOne", 3): _exists_one,
    ("exists_one", 3): _exists_one,
    ("transformList", 3): _transform_list,
    ("transformList", 4): _transform_list,
    ("transformMap", 3): _transform_map,
    ("transformMap", 4): _transform_map,
    ("transformMapEntry", 3): _transform_entry,
    ("transformMapEntry", 4): _transform_entry,
    ("sortBy", 2): _sort_by,
}
