"""Text to syntax tree. The grammar is cel-expr-python's (Google's cel-cpp), whose errors read as cel-go's do."""

from __future__ import annotations

import math
from functools import lru_cache
from importlib.util import find_spec
from typing import Any, Final

from pyctrl.cel._errors import CompileFailed, Issue, compile_failed
from pyctrl.cel._expressions import Constant, Expression, Select, walk
from pyctrl.cel._macros import expand

LIBRARY: Final = "cel_expr_python"
NOT_INSTALLED: Final = "expressions in CEL need the cel extra: pip install 'pyctrl-runtime[cel]'"
#: cel-cpp's words -> cel-go's.
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
_NO_TREE = "<<nil>> parsetree"  # cel-cpp's complaint that follows from another; cel-go has none


def has_library() -> bool:
    """Say whether expressions can be compiled here: whether the `cel` extra is installed."""
    return find_spec(LIBRARY) is not None


def parse(text: str) -> Expression:
    """Parse an expression and expand its macros.

    Raises:
        CompileFailed: it does not parse.
    """
    try:
        tree = _library().compile(text, disable_check=True).serialize()
    except RuntimeError as error:
        raise CompileFailed(_as_go(str(error))) from error
    from pyctrl.cel._syntax_tree import read_tree  # who has no expressions needs no protobuf

    issues: list[Issue] = []
    found = expand(read_tree(tree), issues)
    issues += [
        Issue(each.at, "invalid double literal")
        for each in walk(found)
        if isinstance(each, Constant) and type(each.value) is float and math.isinf(each.value)
    ]
    issues += [
        Issue(each.at + 1, "unsupported syntax: '`'")
        for each in walk(found)
        if isinstance(each, Select) and text[each.at + 1 : each.at + 2] == "`"
    ]
    if issues:
        raise compile_failed(issues, text)
    return found


@lru_cache(maxsize=1)
def _library() -> Any:
    # 60 ms to import: paid by who has expressions
    from cel_expr_python import cel
    from cel_expr_python.ext import ext_optional

    return cel.NewEnv(extensions=[ext_optional.ExtOptional()])


def _as_go(error: str) -> str:
    text = error.removeprefix("INVALID_ARGUMENT: ").removesuffix(" [INVALID_ARGUMENT]")
    for ours, theirs in _WORDS.items():
        text = text.replace(ours, theirs)
    kept = [part for part in text.split("\nERROR: ") if not part.endswith(_NO_TREE)]
    return "compilation failed: " + "\nERROR: ".join(kept)
