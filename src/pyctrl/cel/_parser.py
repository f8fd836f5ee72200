"""Parser of expressions, by cel-expr-python (Google's cel-cpp), with errors translated to cel-go's words."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from importlib.util import find_spec
from typing import Any, Final

from pyctrl.cel._errors import CompileFailed, Issue, compile_failed
from pyctrl.cel._expressions import Constant, Expression, MapLiteral, Select, walk
from pyctrl.cel._macros import expand

__all__ = ["NOT_INSTALLED", "has_library", "parse", "parse_tree"]


LIBRARY: Final = "cel_expr_python"
NOT_INSTALLED: Final = "expressions in CEL need the cel extra: pip install 'pyctrl-runtime[cel]'"
#: cel-cpp's error texts -> cel-go's.
_WORDS = {
    "has() argument must be a field selection": "invalid argument to has() macro",
    "all() variable name must be a simple identifier": "argument must be a simple name",
    "exists() variable name must be a simple identifier": "argument must be a simple name",
    "exists_one() variable name must be a simple identifier": "argument must be a simple name",
    "map() variable name must be a simple identifier": "argument is not an identifier",
    "filter() variable name must be a simple identifier": "argument is not an identifier",
    "'\\u003F'": "'?'",
    "no viable alternative at input '.true'": "mismatched input 'true' expecting IDENTIFIER",
    "no viable alternative at input '.false'": "mismatched input 'false' expecting IDENTIFIER",
    "no viable alternative at input '.null'": "mismatched input 'null' expecting IDENTIFIER",
}
_NO_TREE = "<<nil>> parsetree"  # cel-cpp's follow-up error, which cel-go does not report


def has_library() -> bool:
    """Return whether the `cel` extra, which expressions need, is installed."""
    return find_spec(LIBRARY) is not None


def parse(text: str) -> Expression:
    """Parse an expression and expand its macros.

    Raises:
        CompileFailed: It does not parse.
    """
    issues: list[Issue] = []
    found = expand(parse_tree(text), issues)
    issues += [
        Issue(each.at, "invalid double literal")
        for each in walk(found)
        if isinstance(each, Constant) and type(each.value) is float and math.isinf(each.value)
    ]
    issues += [Issue(at, "unsupported syntax: '`'") for at in _names_of_fields(found, text) if text[at : at + 1] == "`"]
    if issues:
        raise compile_failed(issues, text)
    return found


def parse_tree(text: str) -> Expression:
    """Parse an expression, with the macros that cel-cpp expands. Raises CompileFailed."""
    try:
        tree = _library().compile(text, disable_check=True).serialize()
    except RuntimeError as error:
        raise CompileFailed(_as_go(str(error), text)) from error
    from pyctrl.cel._syntax_tree import read_tree  # lazy: only programs with expressions need the protobuf decoder

    return read_tree(tree)


def _names_of_fields(expression: Expression, text: str) -> Iterator[int]:
    """Yield where the names of fields start: behind a dot, or before the colon of a message's field."""
    for each in walk(expression):
        if isinstance(each, Select):
            yield each.at + 1
        elif isinstance(each, MapLiteral) and each.message:
            yield from (_start_of_field(text, entry.at) for entry in each.entries)


def _start_of_field(text: str, colon: int) -> int:
    """Return where the name before a colon starts."""
    name = text[:colon].rstrip()
    return name[:-1].rfind("`") if name.endswith("`") else len(name)


@lru_cache(maxsize=1)
def _library() -> Any:
    # lazy: the import takes 60 ms and only programs with expressions need it
    from cel_expr_python import cel
    from cel_expr_python.ext import ext_optional

    return cel.NewEnv(extensions=[ext_optional.ExtOptional()])


def _as_go(error: str, expression: str) -> str:
    text = error.removeprefix("INVALID_ARGUMENT: ").removesuffix(" [INVALID_ARGUMENT]")
    for ours, theirs in _WORDS.items():
        text = text.replace(ours, theirs)
    kept = [_located(part, expression) for part in text.split("\nERROR: ") if not part.endswith(_NO_TREE)]
    return "compilation failed: " + "\nERROR: ".join(kept)


def _located(issue: str, expression: str) -> str:
    """Return an error at the end of an expression as cel-go places it: an empty expression has no column."""
    if not expression:
        return issue.replace("<input>:1:1:", "<input>:1:0:", 1)
    *before, last = expression.split("\n")
    is_at_empty_line = not last and issue.startswith(f"<input>:{len(before) + 1}:1:")
    return f"{issue}\n | \n | ^" if is_at_empty_line else issue
