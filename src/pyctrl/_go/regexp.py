"""Regular expressions in Go's grammar, compiled for engines that match in linear time.

Texts and patterns come from clients, and the server matches them on its event loop. A backtracking engine such as
Python's `re` takes seconds for 26 characters and `^(a+)+$`. Go's `regexp` has the grammar and semantics of RE2, which
is used if the package google-re2 is installed. Otherwise patterns are compiled by Rust's `regex` crate, a part of
pydantic: it reports whether a text matches, but not where.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Any, Protocol

from pydantic_core import SchemaError, SchemaValidator, core_schema

__all__ = ["CompiledPattern", "PatternError", "go_pattern"]


NEEDS_RE2 = "it needs the package google-re2: pip install 'pyctrl-runtime[apiserver]'"

_LARGE = 64 << 20  # bytes for patterns that RE2 does not compile in its default of 8 MiB, such as \pL{1000}; Go does

# RE2's error texts to Go's.
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
    """Raised for a pattern that the engine cannot compile. The text is Go's if Go rejects the pattern too."""


class CompiledPattern(Protocol):
    """A compiled pattern. Its time is linear in the length of the text."""

    def matches(self, text: str, /) -> bool:
        """Report whether any part of a text matches."""
        ...

    def find_all(self, text: str, limit: int = -1, /) -> list[str]:
        """Return the matches, as Go's FindAllString does; a negative limit means all.

        Raises:
            PatternError: The engine does not report positions.
        """
        ...


@lru_cache(maxsize=256)
def go_pattern(text: str) -> CompiledPattern:
    """Compile a pattern that `regexp_syntax` has accepted.

    Raises:
        PatternError: The engine rejects it.
    """
    return _RustPattern(text) if _re2() is None else _RE2Pattern(text)


@cache
def _re2() -> Any:
    try:
        import re2  # here: the package is optional
    except ImportError:
        return None
    return re2


class _RE2Pattern:
    """A pattern compiled by RE2."""

    __slots__ = ("_compiled", "_search")

    def __init__(self, text: str) -> None:
        self._compiled = _compiled(text)
        self._search = self._compiled.search

    def matches(self, text: str, /) -> bool:
        return self._search(text.encode("utf-8", "replace")) is not None  # twice as fast as with a str

    def find_all(self, text: str, limit: int = -1, /) -> list[str]:
        found: list[str] = []
        end = -1
        for match in self._compiled.finditer(text):
            if len(found) == limit:
                break
            if match.end() > match.start() or match.start() != end:  # Go skips an empty match right after another
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


class _RustPattern:
    """A pattern compiled by Rust's regex crate."""

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


_REPEAT = re.compile(r"\{(?:0|[1-9][0-9]*+)(?:,(?:0|[1-9][0-9]*+)?)?\}")
_NAME = re.compile(r"\(\?P?<\w+>")
_CLASS_NAME = re.compile(r"\[:\^?\w+:\]")
_UNICODE = re.compile(r"\\([pP])(\{(\^?)(\w+)\}|\w)")
_CODE = re.compile(r"\\(?:x\{([0-9a-fA-F]+)\}|x([0-9a-fA-F]{2})|([0-7]{1,3}))")
_CONTROLS = {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_SETS = {"d": "0-9", "s": r"\t\n\f\r ", "w": "0-9A-Za-z_"}
_ASSERTIONS = {"A": r"\A", "z": r"\z", "b": r"(?-u:\b)", "B": r"(?-u:\B)"}


class NotTranslatable(Exception):
    """Raised for an escape or class that this translation does not support."""


def rust_pattern(text: str) -> str:
    """Translate a pattern that Go compiles to the grammar of Rust's regex crate.

    Raises:
        NotTranslatable: The pattern has an unknown escape or class.
    """
    return _Translator(text).translate()


class _Translator:
    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0

    def translate(self) -> str:
        written: list[str] = []
        while self._at < len(self._text):
            written.append(self._part())
        return "".join(written)

    def _part(self) -> str:
        text, at = self._text, self._at
        if text.startswith("\\Q", at):
            literal, _, _ = text[at + 2 :].partition("\\E")
            self._at = min(at + 4 + len(literal), len(text))
            return "".join(map(_code, map(ord, literal)))
        if text[at] == "\\":
            return self._escape()
        if text[at] == "[":
            return self._set()
        if name := _NAME.match(text, at):
            return self._take(len(name[0]), "(")
        if text.startswith("(?)", at):
            return self._take(3, "")
        return self._take(1, r"\{" if text[at] == "{" and not _REPEAT.match(text, at) else text[at])

    def _take(self, count: int, written: str) -> str:
        self._at += count
        return written

    def _escape(self) -> str:
        """Translate an escape outside brackets, or a class escape inside them."""
        letter = self._text[self._at + 1 : self._at + 2]
        if letter in _ASSERTIONS:
            return self._take(2, _ASSERTIONS[letter])
        if letter.lower() in _SETS:
            return self._take(2, f"[{'^' if letter.isupper() else ''}{_SETS[letter.lower()]}]")
        if found := _UNICODE.match(self._text, self._at):
            is_not = (found[1] == "P") != bool(found[3])
            return self._take(len(found[0]), f"\\{'P' if is_not else 'p'}{{{found[4] or found[2]}}}")
        return _code(self._character())

    def _character(self) -> int:
        """Read one character, escaped or not, and return its code point."""
        text, at = self._text, self._at
        if text[at] != "\\":
            self._at += 1
            return ord(text[at])
        if found := _CODE.match(text, at):
            self._at += len(found[0])
            return int(found[3], 8) if found[3] else int(found[1] or found[2], 16)
        letter = text[at + 1 : at + 2]
        self._at += 2
        if letter in _CONTROLS:
            return _CONTROLS[letter]
        if not letter or letter.isalnum() or not letter.isascii():
            raise NotTranslatable
        return ord(letter)

    def _set(self) -> str:
        """Translate a set in brackets; members become codes, so that none of them acts as an operator."""
        start = "[^" if self._text.startswith("[^", self._at) else "["
        written, first = [self._take(len(start), start)], True
        while first or not self._text.startswith("]", self._at):
            if self._at >= len(self._text):
                raise NotTranslatable
            written.append(self._member())
            first = False
        return "".join(written) + self._take(1, "]")

    def _member(self) -> str:
        text, at = self._text, self._at
        if found := _CLASS_NAME.match(text, at):
            return self._take(len(found[0]), found[0])
        if text[at] == "\\" and text[at + 1 : at + 2] in tuple("dDsSwWpP"):
            return self._escape()
        low = _code(self._character())
        if text.startswith("-", self._at) and text[self._at + 1 : self._at + 2] not in ("]", ""):
            self._at += 1
            return f"{low}-{_code(self._character())}"
        return low


def _code(code: int) -> str:
    return f"\\x{{{code:x}}}"
