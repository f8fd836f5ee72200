"""Errors of compiling and evaluating expressions, and cel-go's format of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

__all__ = [
    "COST_LIMIT_EXCEEDED",
    "NO_OVERLOAD",
    "CompileFailed",
    "EvaluationFailed",
    "InstantiationFailed",
    "Issue",
    "compile_failed",
]


class CompileFailed(Exception):
    """Raised for an expression that does not parse or type-check. The text is kube-apiserver's."""


class InstantiationFailed(CompileFailed):
    """Raised for an expression that type-checks and still cannot be evaluated: a constant in it is wrong."""


class EvaluationFailed(Exception):
    """Raised when the evaluation of an expression fails. The text is cel-go's."""


NO_OVERLOAD = "no such overload"
COST_LIMIT_EXCEEDED = "operation cancelled: actual cost limit exceeded"
_MAX_REPORTED = 100  # cel-go's maximum of reported errors


class Issue(NamedTuple):
    """An error and its position in the text, in code points."""

    at: int
    message: str


def compile_failed(issues: Iterable[Issue], text: str) -> CompileFailed:
    """Return one error for all issues, in order of position, each with its source line and a marker."""
    ordered = sorted(issues, key=lambda issue: issue.at)
    shown = [_format_issue(issue, text) for issue in ordered[:_MAX_REPORTED]]
    if len(ordered) > _MAX_REPORTED:
        shown.append(f" {len(ordered) - _MAX_REPORTED} more errors were truncated")
    return CompileFailed("compilation failed: " + "\n".join(shown))


def _format_issue(issue: Issue, text: str) -> str:
    before = text[: issue.at]
    number, column = before.count("\n") + 1, issue.at - (before.rfind("\n") + 1)
    line = text.split("\n")[number - 1].replace("\t", " ")
    dots = "".join("．" if _is_wide(each) else "." for each in line[:column])
    mark = "＾" if column < len(line) and _is_wide(line[column]) else "^"
    return f"ERROR: <input>:{number}:{column + 1}: {issue.message}\n | {line}\n | {dots}{mark}"


def _is_wide(character: str) -> bool:
    """Return whether cel-go uses a wide marker for a character: for all that take several bytes."""
    return len(character.encode("utf-8", "replace")) > 1
