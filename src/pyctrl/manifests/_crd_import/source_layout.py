"""Layout of Python source as by `ruff format`: expressions as trees, one part per line where they are too long."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

__all__ = [
    "WIDTH",
    "CallLayout",
    "Expression",
    "assignment",
    "call",
    "comment",
    "docstring",
    "keyword",
    "lay_out",
    "literal",
    "sequence",
    "subscript",
    "union",
    "without_arguments",
]

WIDTH = 120  # columns
_INDENT = "    "


@dataclass(frozen=True, slots=True)
class CallLayout:
    """A bracketed expression: a call, a subscript, a tuple, a list; or ``left | right``."""

    head: str
    parts: tuple[Expression, ...]
    brackets: str = "()"
    tail: str = ""

    def __str__(self) -> str:
        comma = "," if not self.head and self.brackets == "()" and len(self.parts) == 1 else ""
        inside = ", ".join(map(str, self.parts))
        return f"{self.head}{self.brackets[0]}{inside}{comma}{self.brackets[1]}{self.tail}"


@dataclass(frozen=True, slots=True)
class Keyword:
    """``name=value`` among the parts of a call, or ``key: value`` in a dict."""

    name: str
    value: Expression

    def __str__(self) -> str:
        return f"{self.name}{self.value}"


Expression: TypeAlias = str | CallLayout | Keyword


def call(head: str, *parts: Expression, **keywords: Expression | None) -> CallLayout:
    """Return ``head(part, key=value)``; keywords that are None are left out."""
    return CallLayout(head, (*parts, *(keyword(key, value) for key, value in keywords.items() if value is not None)))


def keyword(name: str, value: Expression) -> Keyword:
    """``name=value``."""
    return Keyword(f"{name}=", value)


def sequence(*parts: Expression) -> CallLayout:
    """``(part, part)``."""
    return CallLayout("", parts)


def without_arguments(value: Expression) -> Expression:
    """``lambda: value``."""
    return (
        CallLayout(f"lambda: {value.head}", value.parts, value.brackets)
        if isinstance(value, CallLayout)
        else f"lambda: {value}"
    )


def subscript(head: str, *parts: Expression) -> CallLayout:
    """``head[part, part]``."""
    return CallLayout(head, parts, "[]")


def union(left: Expression, right: str) -> Expression:
    """Return ``left | right``."""
    return (
        CallLayout(left.head, left.parts, left.brackets, f" | {right}")
        if isinstance(left, CallLayout)
        else f"{left} | {right}"
    )


def literal(value: Any) -> Expression:
    """Return a JSON value as a Python expression."""
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list):
        return CallLayout("", tuple(map(literal, value)), "[]")
    if isinstance(value, dict):
        return CallLayout("", tuple(Keyword(f"{_text(key)}: ", literal(each)) for key, each in value.items()), "{}")
    return repr(value)


def _text(text: str) -> str:
    """Return a string literal as ruff prefers it: with double quotes unless that escapes more."""
    quote = '"' if text.count('"') <= text.count("'") else "'"
    inside = "".join(f"\\{each}" if each == quote else _character(each) for each in text)
    return f"{quote}{inside}{quote}"


def _character(each: str) -> str:
    return each if each in "'\"" else repr(each)[1:-1]


def lay_out(expression: Expression, indent: str = "", *, before: str = "", after: str = "") -> Iterator[str]:
    """Yield the lines of an expression, with texts before its first and after its last line."""
    flat = f"{indent}{before}{expression}{after}"
    if len(flat) <= WIDTH or _is_empty(expression):
        yield flat
    else:
        yield from _broken(expression, indent, before=before, after=after)


def _broken(expression: Expression, indent: str, *, before: str, after: str) -> Iterator[str]:
    """Yield the lines of an expression with each part on lines of its own."""
    if isinstance(expression, Keyword):
        yield from _broken(expression.value, indent, before=f"{before}{expression.name}", after=after)
        return
    assert isinstance(expression, CallLayout)
    opening, closing = expression.brackets[0], expression.brackets[1]
    yield f"{indent}{before}{expression.head}{opening}"
    is_single = len(expression.parts) == 1 and opening == "[" and expression.head  # x[y,] differs from x[y]
    for part in expression.parts:
        yield from lay_out(part, indent + _INDENT, after="" if is_single else ",")
    yield f"{indent}{closing}{expression.tail}{after}"


def _is_empty(expression: Expression) -> bool:
    if isinstance(expression, Keyword):
        return _is_empty(expression.value)
    return isinstance(expression, str) or not expression.parts


def assignment(name: str, annotation: Expression, value: Expression | None, indent: str) -> Iterator[str]:
    """Yield the lines of ``name: annotation = value``; if too long, the value is broken, or else the annotation."""
    if value is None:
        yield from lay_out(annotation, indent, before=f"{name}: ")
    elif len(f"{indent}{name}: {annotation} = {value}") <= WIDTH or _is_empty(annotation):
        yield from lay_out(value, indent, before=f"{name}: {annotation} = ")
    else:
        *lines, last = _broken(annotation, indent, before=f"{name}: ", after=" = ")
        yield from lines
        yield from lay_out(value, indent, before=last.removeprefix(indent))


def docstring(text: str, indent: str) -> Iterator[str]:
    """Yield the lines of a docstring; paragraphs are wrapped, existing line breaks kept."""
    escaped = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"').strip()
    if escaped.endswith('"'):
        escaped = f'{escaped[:-1]}\\"'
    lines = list(_wrapped(escaped.splitlines(), WIDTH - len(indent) - 3))
    if len(lines) == 1 and len(indent) + len(lines[0]) + 6 <= WIDTH:
        yield f'{indent}"""{lines[0]}"""'
        return
    yield f'{indent}"""{lines[0]}'
    yield from (f"{indent}{line}".rstrip() for line in lines[1:])
    yield f'{indent}"""'


def comment(text: str) -> Iterator[str]:
    """Yield the lines of a comment."""
    yield from textwrap.wrap(text, WIDTH, initial_indent="# ", subsequent_indent="#   ")


def _wrapped(lines: Iterable[str], width: int) -> Iterator[str]:
    for line in lines:
        plain = "".join(each if each.isprintable() else " " for each in line.expandtabs(4)).rstrip()
        inner = plain[: len(plain) - len(plain.lstrip())]
        broken: Sequence[str] = textwrap.wrap(
            plain, width, subsequent_indent=inner, break_long_words=False, break_on_hyphens=False
        )
        yield from broken or [""]
