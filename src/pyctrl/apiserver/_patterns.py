"""Patterns in Go's grammar, compiled for engines that match in linear time.

Texts and patterns come from clients, and the server matches them on its event loop. An engine that backtracks, as
Python's `re` does, takes seconds for 26 characters and `^(a+)+$`. RE2 is the engine whose grammar and semantics Go's
`regexp` has; it is used where the package google-re2 is installed. Without it, the engine of Rust's `regex` crate is
used, which pydantic brings: it answers whether a text matches, but not where.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any, Protocol

from pydantic_core import SchemaError, SchemaValidator, core_schema

from pyctrl.apiserver._rust_regex import NotTranslatable, rust_pattern

NEEDS_RE2 = "it needs the package google-re2: pip install 'pyctrl-runtime[apiserver]'"

_LARGE = 64 << 20  # bytes for patterns that RE2 does not compile in its default of 8 MiB, such as \pL{1000}; Go does

# RE2's words for errors, and Go's.
_WORDS = {
    "bad repetition operator": "invalid nested repetition operator",
    "invalid named capture group": "invalid named capture",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid repetition size": "invalid repeat count",
    "missing )": "missing closing )",
    "missing ]": "missing closing ]",
    "no argument for repetition operator": "missing argument to repetition operator",
    "pattern too large - compile failed": "expression too large",
    "trailing \\": "trailing backslash at end of expression",
}


class PatternError(ValueError):
    """A pattern that no engine here compiles; the text is Go's where Go refuses it too."""


class Pattern(Protocol):
    """A compiled pattern. Its time is linear in the length of the text."""

    def matches(self, text: str, /) -> bool:
        """Report whether any part of a text matches."""
        ...

    def find_all(self, text: str, limit: int = -1, /) -> list[str]:
        """Return the matches, as Go's FindAllString does; a negative limit means all.

        Raises:
            PatternError: the engine does not know where a match is.
        """
        ...


@lru_cache(maxsize=256)
def go_pattern(text: str) -> Pattern:
    """Compile a pattern that `_regexp` finds no mistake in.

    Raises:
        PatternError: the engine refuses it.
    """
    return _Rust(text) if _re2() is None else _Re2(text)


@cache
def _re2() -> Any:
    try:
        import re2  # here: the package is optional
    except ImportError:
        return None
    return re2


class _Re2:
    """A pattern of RE2."""

    __slots__ = ("_compiled", "_search")

    def __init__(self, text: str) -> None:
        self._compiled = _compiled(text)
        self._search = self._compiled.search

    def matches(self, text: str, /) -> bool:
        return self._search(text.encode("utf-8", "replace")) is not None  # half as long as with a str

    def find_all(self, text: str, limit: int = -1, /) -> list[str]:
        found: list[str] = []
        end = -1
        for match in self._compiled.finditer(text):
            if len(found) == limit:
                break
            if match.end() > match.start() or match.start() != end:  # Go skips an empty match behind another one
                found.append(match[0])
            end = match.end()
        return found


def _compiled(text: str) -> Any:
    re2 = _re2()
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(text, options)
    except re2.error as error:
        if not error.args[0].startswith(b"pattern too large"):
            raise _refused(error) from None
    options.max_mem = _LARGE
    try:
        return re2.compile(text, options)
    except re2.error as error:
        raise _refused(error) from None


def _refused(error: Exception) -> PatternError:
    words, _, part = error.args[0].decode("utf-8", "replace").partition(": ")
    return PatternError(f"error parsing regexp: {_WORDS.get(words, words)}: `{part}`")


class _Rust:
    """A pattern of Rust's regex crate."""

    __slots__ = ("_text", "matches")

    def __init__(self, text: str) -> None:
        self._text = text
        try:
            schema = core_schema.str_schema(pattern=rust_pattern(text), regex_engine="rust-regex")
            self.matches = SchemaValidator(schema).isinstance_python
        except (NotTranslatable, SchemaError):
            raise PatternError(f"cannot compile the pattern `{text}`: {NEEDS_RE2}") from None

    def find_all(self, text: str, limit: int = -1, /) -> list[str]:
        raise PatternError(f"cannot find the matches of `{self._text}`: {NEEDS_RE2}")
