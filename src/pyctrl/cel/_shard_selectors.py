"""Shard selectors as CEL expressions: `shardRange(...)` and `||`, read from the syntax tree as kube-apiserver does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import cast, get_args

from pyctrl._go.text import quoted
from pyctrl.api import ShardField, ShardRange, ShardSelector
from pyctrl.cel._errors import CompileFailed
from pyctrl.cel._expressions import (
    Call,
    Comprehension,
    Constant,
    Expression,
    Identifier,
    ListLiteral,
    MapLiteral,
    Select,
    walk,
)
from pyctrl.cel._parser import NOT_INSTALLED, has_library, parse_tree
from pyctrl.cel._values import Uint

__all__ = ["parse_shard_selector"]

_MAX_DIGITS = 17  # of 2^64, the exclusive end of the hash space
_EXPECTED = "expected shardRange() call or || operator"
# The numbers of cel-go's ast.ExprKind, which kube-apiserver prints.
_CALL, _LITERAL, _STRUCT = 1, 5, 8
_KINDS = {Identifier: 3, ListLiteral: 4, Constant: _LITERAL, MapLiteral: 6, Select: 7}
_GO_TYPES = {int: "int64", Uint: "uint64", float: "float64", bool: "bool", bytes: "[]uint8"}


def parse_shard_selector(text: str) -> ShardSelector:
    """Parse the value of `shardSelector`, in any notation that CEL has for it.

    Raises:
        CompileFailed: It is no shard selector. The text is kube-apiserver's.
    """
    text = text.strip()
    if not text:
        raise CompileFailed("empty shard selector is not allowed; omit the parameter for unfiltered lists")
    if not has_library():
        raise CompileFailed(f"CEL parse error: {NOT_INSTALLED}")
    ranges = [_range_of(call) for call in _calls(_tree_of(text), text)]
    for field, _ in ranges[1:]:
        if field != ranges[0][0]:
            raise CompileFailed(
                f"all shard ranges must use the same field, got {quoted(ranges[0][0])} and {quoted(field)}"
            )
    return ShardSelector(tuple(part for _, part in ranges), cast(ShardField, ranges[0][0]))


def _tree_of(text: str) -> Expression:
    try:
        tree = parse_tree(text)
    except CompileFailed as failed:
        first = str(failed).partition("\n")[0]
        raise CompileFailed(f"CEL parse error: {first.split(': ', 3)[-1]}") from failed
    for each in walk(tree):
        if isinstance(each, Call) and each.function in ("_?._", "_[?_]"):
            raise CompileFailed(f"CEL parse error: unsupported syntax '{'.?' if each.function == '_?._' else '[?'}'")
        if isinstance(each, ListLiteral) and each.optional:
            raise CompileFailed("CEL parse error: unsupported syntax '?'")
    return tree


def _calls(expression: Expression, text: str) -> Iterator[Call]:
    """Yield the calls of `shardRange` that `||` combines, in their order."""
    function = _function_of(expression, text)
    if not function:
        raise CompileFailed(f"unexpected expression kind {_kind_of(expression)}; {_EXPECTED}")
    if not isinstance(expression, Call) or function not in ("_||_", "shardRange"):
        raise CompileFailed(f"unsupported function {quoted(function)}; only shardRange() and || are allowed")
    if function == "shardRange":
        yield expression
        return
    for side in expression.arguments:
        yield from _calls(side, text)


def _function_of(expression: Expression, text: str) -> str:
    """Return the function of a call, also of a macro, which kube-apiserver's parser leaves a call; "" for others."""
    if isinstance(expression, Call):
        return expression.function
    if isinstance(expression, Comprehension) or (isinstance(expression, Select) and expression.is_test):
        found = re.search(r"(\w+)\s*$", text[: expression.at])
        return found[1] if found else ""
    return ""


def _kind_of(expression: Expression) -> int:
    if isinstance(expression, Call | Comprehension) or (isinstance(expression, Select) and expression.is_test):
        return _CALL
    if isinstance(expression, MapLiteral) and expression.message:
        return _STRUCT
    return _KINDS[type(expression)]


def _range_of(call: Call) -> tuple[str, ShardRange]:
    """Return the field and the hashes of a call of `shardRange`; its target is ignored, as upstream does."""
    if len(call.arguments) != 3:
        raise CompileFailed(f"shardRange() requires exactly 3 arguments, got {len(call.arguments)}")
    field = _field_path(call.arguments[0])
    if field not in get_args(ShardField):
        supported = ", ".join(get_args(ShardField))
        raise CompileFailed(f"unsupported field path {quoted(field)}; supported: {supported}")
    start, end = _bound(call.arguments[1], "hexStart"), _bound(call.arguments[2], "hexEnd")
    if start >= end:
        raise CompileFailed(f"shard range start 0x{start:016x} must be less than end 0x{end:016x}")
    return field, ShardRange(start, end)


def _field_path(expression: Expression) -> str:
    if isinstance(expression, Identifier):
        return expression.name
    if isinstance(expression, Select) and not expression.is_test:
        return f"{_field_path(expression.operand)}.{expression.field}"
    kind = _kind_of(expression)
    raise CompileFailed(
        f"shardRange() first argument: expected field path (e.g. object.metadata.uid), got expression kind {kind}"
    )


def _bound(expression: Expression, name: str) -> int:
    """Return the hash that a string literal has in hexadecimal digits."""
    if not isinstance(expression, Constant):
        kind = _kind_of(expression)
        raise CompileFailed(f"{name} must be a string literal (e.g. '0xff'), got expression kind {kind}")
    value = expression.value
    if not isinstance(value, str):
        raise CompileFailed(f"{name} must be a string literal, got {_GO_TYPES.get(type(value), 'structpb.NullValue')}")
    if not value.startswith("0x"):
        raise CompileFailed(f"{name} must have '0x' prefix, got {quoted(value)}")
    if problem := _digits_problem(value, name):
        raise CompileFailed(problem)
    return int(value, 16)


def _digits_problem(value: str, name: str) -> str:
    """Return why a literal with the prefix 0x is no hash; "" for a hash."""
    digits = value[2:]
    if not digits:
        return f"{name}: hex value is required after '0x'"
    if (size := len(digits.encode())) > _MAX_DIGITS:
        return f"{name}: hex value too long ({size} chars, max {_MAX_DIGITS}): {quoted(digits)}"
    for character in digits:
        if character not in "0123456789abcdef":
            return f"{name}: invalid hex character {quoted(character)} in {quoted(value)}"
    if size == _MAX_DIGITS and value != "0x10000000000000000":
        return f"{name}: 17-digit hex value must be '0x10000000000000000' (2^64), got {quoted(value)}"
    if size < _MAX_DIGITS - 1:
        padded = f"0x{digits:0>16}"
        return f"{name} must be a 0x-prefixed 16-digit hex value, got {quoted(value)} (did you mean {quoted(padded)}?)"
    return ""
