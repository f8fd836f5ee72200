"""What can go wrong with an expression, and how its compiler tells where."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class CompileFailed(Exception):
    """An expression that is none: it does not parse, or its types do not fit. The text is kube-apiserver's."""


class EvaluationFailed(Exception):
    """An expression that came to no value for these variables; the text is cel-go's."""


NO_OVERLOAD = "no such overload"
_SHOWN = 100  # cel-go tells this many errors


class Issue(NamedTuple):
    """One thing that is wrong, and the code point of the text where it is."""

    at: int
    message: str


def compile_failed(issues: Iterable[Issue], text: str) -> CompileFailed:
    """Give all issues as one error, in the order of their places, each with its line and a mark under it."""
    ordered = sorted(issues, key=lambda issue: issue.at)
    shown = [_told(issue, text) for issue in ordered[:_SHOWN]]
    if len(ordered) > _SHOWN:
        shown.append(f" {len(ordered) - _SHOWN} more errors were truncated")
    return CompileFailed("compilation failed: " + "\n".join(shown))


def _told(issue: Issue, text: str) -> str:
    before = text[: issue.at]
    number, column = before.count("\n") + 1, issue.at - (before.rfind("\n") + 1)
    line = text.split("\n")[number - 1].replace("\t", " ")
    dots = "".join("．" if _is_wide(each) else "." for each in line[:column])
    mark = "＾" if column < len(line) and _is_wide(line[column]) else "^"
    return f"ERROR: <input>:{number}:{column + 1}: {issue.message}\n | {line}\n | {dots}{mark}"


def _is_wide(character: str) -> bool:
    """Whether cel-go marks the character with a wide sign, which it does for all that take several bytes."""
    return len(character.encode("utf-8", "replace")) > 1
