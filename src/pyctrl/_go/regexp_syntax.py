"""Syntax errors of regular expressions, in the words of Go's `regexp/syntax`."""

from __future__ import annotations

import re
from functools import lru_cache

from pyctrl._go.regexp import PatternError, go_pattern

__all__ = ["pattern_error"]


MAX_REPEATS = 1000  # Go's limit for {n,m}
MAX_DEPTH = 1000  # Go's limit for the height of an expression

_GROUP = re.compile(r"\(\?(?:P?<[A-Za-z0-9_]+>|[imsU]*(?:-[imsU]+)?[:)])")
_COUNT = "0|[1-9][0-9]*+"
_REPEAT = re.compile(rf"\{{({_COUNT})(?:(,)({_COUNT})?)?\}}")
_CHARACTERS = frozenset("dDsSwWafnrtvx01234567pP")  # escapes that are valid inside a class too
_ESCAPES = _CHARACTERS | frozenset("AbBzQ")
_HEX = re.compile(r"\\x(?:\{([0-9a-fA-F]+)\}|[0-9a-fA-F]{2})")
_OCTAL = tuple("01234567")
_LAST_CODE = 0x10FFFF
_UNICODE = re.compile(r"\\[pP](?:\{\^?[A-Za-z_]+\}|[A-Z])")
_NAMED_CLASS = re.compile(r"\[:\^?(\w*):\]")
_NAMES = frozenset(
    (
        *("alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph"),
        *("lower", "print", "punct", "space", "upper", "word", "xdigit"),
    )
)


class _RegexpSyntaxError(Exception):
    """A syntax error: the problem and the part of the expression that has it."""


@lru_cache(maxsize=256)
def pattern_error(text: str) -> str:
    """Return Go's error for an expression; "" for one that compiles."""
    try:
        _RegexpScanner(text).scan()
        go_pattern(text)
    except _RegexpSyntaxError as wrong:
        problem, part = wrong.args
        return f"error parsing regexp: {problem}: `{part}`"
    except PatternError as error:
        return str(error)
    return ""


class _RegexpScanner:
    """Single-pass scanner of one expression; it tracks the nesting depth and whether a repetition may follow."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self.depth = text, 0, 0
        self.repeatable = False  # a repetition may follow
        self.operator = ""  # the repetition just read, which cannot be repeated

    def scan(self) -> None:
        """Scan the whole expression."""
        while self.at < len(self.text):
            self._step(self.text[self.at])
        if self.depth:
            raise _RegexpSyntaxError("missing closing )", self.text)

    def _step(self, char: str) -> None:
        if char in "*+?":
            self._repeat(char)
        elif char == "{" and (found := _REPEAT.match(self.text, self.at)):
            self._repeat(found[0], found)
        elif char == "(":
            self._open()
        elif char == ")":
            if not self.depth:
                raise _RegexpSyntaxError("unexpected )", self.text)
            self.depth -= 1
            self._take(1)
        elif char == "|":
            self._take(1, repeatable=False)
        else:
            self._take(self._class() if char == "[" else self._escape(self.at) if char == "\\" else 1)

    def _take(self, count: int, *, repeatable: bool = True) -> None:
        self.at += count
        self.repeatable, self.operator = repeatable, ""

    def _open(self) -> None:
        count = 1
        if self.text.startswith("(?", self.at):
            found = _GROUP.match(self.text, self.at)
            if found is None:
                raise self._bad_group()
            count = len(found[0])
            if found[0].endswith(")"):
                self._take(count, repeatable=False)  # flags only
                return
        self.depth += 1
        if self.depth >= MAX_DEPTH:
            raise _RegexpSyntaxError("expression nests too deeply", self.text)
        self._take(count, repeatable=False)

    def _bad_group(self) -> _RegexpSyntaxError:
        rest = self.text[self.at :]
        if rest.startswith(("(?P<", "(?<")):
            end = rest.find(")" if rest.startswith(("(?<!", "(?<=")) else ">")
            return _RegexpSyntaxError("invalid named capture", rest if end < 0 else rest[: end + 1])
        return _RegexpSyntaxError("invalid or unsupported Perl syntax", rest[:3])

    def _repeat(self, operator: str, counted: re.Match[str] | None = None) -> None:
        if self.operator and operator != "?":
            raise _RegexpSyntaxError("invalid nested repetition operator", self.operator + operator)
        if self.operator.endswith("?") and len(self.operator) > 1:
            raise _RegexpSyntaxError("invalid nested repetition operator", self.operator + operator)
        if not self.repeatable and not self.operator:
            raise _RegexpSyntaxError("missing argument to repetition operator", operator)
        if counted is not None and _is_too_much(counted):
            raise _RegexpSyntaxError("invalid repeat count", operator)
        self.at += len(operator)
        self.operator, self.repeatable = self.operator + operator, False

    def _escape(self, at: int, allowed: frozenset[str] = _ESCAPES) -> int:
        """Return the length of the escape at an index."""
        char = self.text[at + 1 : at + 2]
        if not char:
            raise _RegexpSyntaxError("trailing backslash at end of expression", "")
        if char in "pP":
            found = _UNICODE.match(self.text, at)
            if found is None:
                raise _RegexpSyntaxError("invalid character class range", self.text[at : at + 3])
            return len(found[0])  # the engine checks whether Unicode has the class
        if char == "x":
            return self._hex(at)
        if char == "Q" and "Q" in allowed:
            end = self.text.find("\\E", at)
            return len(self.text) - at if end < 0 else end + 2 - at
        is_letter = char.isalnum() or not char.isascii()
        if is_letter and (char not in allowed or (char in "1234567" and self.text[at + 2 : at + 3] not in _OCTAL)):
            raise _RegexpSyntaxError("invalid escape sequence", self.text[at : at + 2])
        return 2

    def _hex(self, at: int) -> int:
        found = _HEX.match(self.text, at)
        if found is None or int(found[1] or "0", 16) > _LAST_CODE:
            raise _RegexpSyntaxError(
                "invalid escape sequence", found[0].removesuffix("}") if found else self.text[at : at + 3]
            )
        return len(found[0])

    def _class(self) -> int:
        """Return the length of a class in brackets."""
        start = self.at
        at = start + (2 if self.text.startswith("[^", start) else 1)
        is_first, low = True, ""
        while True:
            if at >= len(self.text):
                raise _RegexpSyntaxError("missing closing ]", self.text[start:])
            if self.text[at] == "]" and not is_first:
                return at + 1 - start
            is_first = False
            count, char = self._member(at)
            if low and char and char < low[0]:
                raise _RegexpSyntaxError("invalid character class range", f"{low[0]}-{char}")
            at += count
            if low:  # the end of a range: a new member follows, even if it is a hyphen
                low = ""
                continue
            if char and self.text.startswith("-", at) and not self.text.startswith("-]", at):
                low, at = char + "-", at + 1

    def _member(self, at: int) -> tuple[int, str]:
        """Return the length of one member of a class and its character; "" for a named class or a class escape."""
        if named := _NAMED_CLASS.match(self.text, at):
            if named[1] not in _NAMES:
                raise _RegexpSyntaxError("invalid character class range", named[0])
            return len(named[0]), ""
        if self.text[at] != "\\":
            return 1, self.text[at]
        count = self._escape(at, _CHARACTERS)
        escaped = self.text[at + 1]
        return count, "" if escaped.isalnum() else escaped


def _is_too_much(counted: re.Match[str]) -> bool:
    low, high = counted[1], counted[3] or counted[1]
    if max(len(low), len(high)) > len(str(MAX_REPEATS)):
        return True
    return max(int(low), int(high)) > MAX_REPEATS or int(high) < int(low)
