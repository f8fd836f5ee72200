"""Go's regular expressions (RE2's grammar) as Python's, which differ in a few letters and in how flags reach."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import chain
from typing import TypeAlias

_Ranges: TypeAlias = tuple[tuple[int, int], ...]

_LAST = 0x10FFFF
_CLASS_NAMES = {
    "alnum": "09AZaz",
    "alpha": "AZaz",
    "ascii": "\x00\x7f",
    "blank": "\t\t  ",
    "cntrl": "\x00\x1f\x7f\x7f",
    "digit": "09",
    "graph": "!~",
    "lower": "az",
    "print": " ~",
    "punct": "!/:@[`{~",
    "space": "\t\r  ",
    "upper": "AZ",
    "word": "09AZaz__",
    "xdigit": "09AFaf",
}
_REPEAT = re.compile(r"\{\d+(,\d*)?\}")
_FLAGS = re.compile(r"\(\?([ims]*(?:-[ims]+)?)([:)])")
_UNICODE = re.compile(r"\\([pP])(?:\{(\^?)(\w+)\}|(\w))")
_HEX = re.compile(r"\\x\{([0-9a-fA-F]+)\}")
_NAMED = re.compile(r"\[:(\^?)(\w+):\]")


class _Beyond(Exception):
    """Something that is no pattern, or that Python's do not have: ungreedy by a flag, scripts of Unicode."""


@lru_cache(maxsize=4096)
def go_pattern(text: str) -> re.Pattern[str] | None:
    """Compile a pattern in Go's grammar; None when it is none, or has what Python has not."""
    try:
        return re.compile(_Translator(text).translate(), re.ASCII)
    except (re.error, _Beyond, OverflowError):
        return None


class _Translator:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._written: list[str] = []
        self._flags: list[list[str]] = [[]]  # for each group that is open: flags that were set inside it

    def translate(self) -> str:
        while self._at < len(self._text):
            self._step(self._text[self._at])
        self._close_flags()
        return "".join(self._written)

    def _put(self, written: str, taken: int) -> None:
        self._written.append(written)
        self._at += taken

    def _step(self, sign: str) -> None:
        if sign == "\\":
            self._put(*self._escape(in_class=False))
        elif sign == "[":
            self._class()
        elif sign == "(":
            self._open()
        elif sign in "|)":
            self._branch(sign)
        elif sign == "$":
            self._put("$" if "m" in "".join(self._set_flags()) else r"\Z", 1)
        elif sign == "{" and not _REPEAT.match(self._text, self._at):
            self._put(r"\{", 1)
        else:
            self._put(sign, 1)

    # -- groups and flags --------------------------------------------------------------------------------------

    def _set_flags(self) -> list[str]:
        return [flag for group in self._flags for flag in group]

    def _open(self) -> None:
        if self._text.startswith("(?<", self._at):
            self._flags.append([])
            self._put("(?P<", 3)
            return
        found = _FLAGS.match(self._text, self._at)
        if found is None:
            if self._text.startswith("(?", self._at) and not self._text.startswith("(?P<", self._at):
                raise _Beyond
            self._flags.append([])
            self._put("(", 1)
        elif found[2] == ":":
            self._flags.append([])
            self._put(found[0], len(found[0]))
        else:  # a flag reaches to the end of its group; in Python only a group of its own has flags
            self._flags[-1].append(found[1])
            self._put(f"(?{found[1]}:", len(found[0]))

    def _close_flags(self) -> None:
        self._written.append(")" * len(self._flags[-1]))

    def _branch(self, sign: str) -> None:
        self._close_flags()
        self._put(sign, 1)
        if sign == "|":
            self._written.extend(f"(?{flag}:" for flag in self._flags[-1])
        elif len(self._flags) > 1:
            self._flags.pop()

    # -- escapes and classes -----------------------------------------------------------------------------------

    def _escape(self, *, in_class: bool) -> tuple[str, int]:
        text, at = self._text, self._at
        if text.startswith("\\Q", at):
            end = text.find("\\E", at)
            stop = len(text) if end < 0 else end
            return re.escape(text[at + 2 : stop]), min(stop + 2, len(text)) - at
        if found := _UNICODE.match(text, at):
            ranges = _category(found[3] or found[4])
            is_not = (found[1] == "P") != bool(found[2])
            written = _written(_complement(ranges) if is_not else ranges)
            return (written if in_class else f"[{written}]"), len(found[0])
        if found := _HEX.match(text, at):
            return f"\\U{int(found[1], 16):08x}", len(found[0])
        return (r"\Z" if text.startswith(r"\z", at) else text[at : at + 2]), 2

    def _class(self) -> None:
        start = "[^" if self._text.startswith("[^", self._at) else "["
        self._put(start, len(start))
        is_first = True
        while self._at < len(self._text) and (is_first or self._text[self._at] != "]"):
            is_first = False
            self._member()
        if self._at == len(self._text):
            raise _Beyond
        self._put("]", 1)

    def _member(self) -> None:
        sign = self._text[self._at]
        if found := _NAMED.match(self._text, self._at):
            ends = [ord(each) for each in _CLASS_NAMES.get(found[2], "")]
            ranges = tuple(zip(ends[::2], ends[1::2], strict=True))
            self._put(_written(_complement(ranges) if found[1] else ranges), len(found[0]))
        elif sign == "\\":
            self._put(*self._escape(in_class=True))
        else:
            self._put(f"\\{sign}" if sign in "[]&~|" else sign, 1)  # what Python may give a meaning some day


# -- sets of characters ----------------------------------------------------------------------------------------


def _written(ranges: _Ranges) -> str:
    return "".join(f"\\U{low:08x}-\\U{high:08x}" for low, high in ranges)


def _complement(ranges: _Ranges) -> _Ranges:
    found, low = [], 0
    for first, last in sorted(ranges):
        if first > low:
            found.append((low, first - 1))
        low = last + 1
    return (*found, (low, _LAST)) if low <= _LAST else tuple(found)


_ASSIGNED = (range(0x34000), range(0xE0000, 0xE0200))  # the planes that have characters


@lru_cache(maxsize=64)
def _category(name: str) -> _Ranges:
    """Give the characters of a category of Unicode: `L`, `Nd`."""
    found: list[tuple[int, int]] = []
    for code in chain(*_ASSIGNED):
        if unicodedata.category(chr(code)).startswith(name):
            if found and found[-1][1] == code - 1:
                found[-1] = (found[-1][0], code)
            else:
                found.append((code, code))
    if not found or name.startswith("C"):
        raise _Beyond  # a script, or what is not assigned
    return tuple(found)
