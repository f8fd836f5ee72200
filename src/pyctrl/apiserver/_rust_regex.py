"""Go's regular expressions written for Rust's `regex` crate, whose classes are Unicode's and whose sets have operators.

Flags, groups, repetitions and anchors mean the same in both.
"""

from __future__ import annotations

import re

_REPEAT = re.compile(r"\{(?:0|[1-9][0-9]*+)(?:,(?:0|[1-9][0-9]*+)?)?\}")
_NAME = re.compile(r"\(\?P?<\w+>")
_CLASS_NAME = re.compile(r"\[:\^?\w+:\]")
_UNICODE = re.compile(r"\\([pP])(\{(\^?)(\w+)\}|\w)")
_CODE = re.compile(r"\\(?:x\{([0-9a-fA-F]+)\}|x([0-9a-fA-F]{2})|([0-7]{1,3}))")
_CONTROLS = {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_SETS = {"d": "0-9", "s": r"\t\n\f\r ", "w": "0-9A-Za-z_"}
_ASSERTIONS = {"A": r"\A", "z": r"\z", "b": r"(?-u:\b)", "B": r"(?-u:\B)"}


class NotTranslatable(Exception):
    """Raised for a pattern that is not in Go's grammar as far as this translation knows it."""


def rust_pattern(text: str) -> str:
    """Translate a pattern in Go's grammar, one that Go compiles.

    Raises:
        NotTranslatable: an escape or a class is not known.
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
        """Translate an escape outside of brackets, or a set inside of them."""
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
        """Read one character, which may be escaped, and return its code."""
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
        """Translate a set in brackets: each member is written as a code, so that none is an operator."""
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
