"""Syntax errors of Go's JSON scanner, in its words.

msgspec decodes bodies. Only when that fails, this scanner walks the text to find the error that kube-apiserver reports.
It distinguishes strings, numbers and literals only as far as the messages do.
"""

from __future__ import annotations

import re

__all__ = ["syntax_error"]


_SPACE = " \t\r\n"
_END = "unexpected end of JSON input"
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_LITERALS = {"t": "true", "f": "false", "n": "null"}
DEPTH = 10_000  # Go's limit on nesting


def syntax_error(text: bytes) -> str:
    """Return the error of Go's scanner for `text`; "" for valid JSON. Like Go's, it reads byte by byte."""
    try:
        _JSONScanner(text.decode("latin-1")).document()
    except _JSONSyntaxError as wrong:
        return str(wrong)
    return ""


_DEEP_OBJECT = "invalid character '{' exceeded max depth"


class _JSONSyntaxError(Exception):
    pass


class _JSONScanner:
    """Scanner of one document, with an explicit stack: deep nesting is an error, not a crash."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def document(self) -> None:
        stack: list[str] = []
        self._value(stack)
        while stack:
            if stack[-1] == "}":
                self._object(stack)
            else:
                self._array(stack)
        self._skip_space()
        if self._at < len(self._text):
            raise self._unexpected("after top-level value")

    def _value(self, stack: list[str]) -> None:
        while self._begins_another(stack):
            pass

    def _begins_another(self, stack: list[str]) -> bool:
        """Read a scalar, or open an object or array up to its first value and push its closing bracket."""
        character = self._next()
        if character in "{[":
            return self._opens("}" if character == "{" else "]", stack)
        if character == '"':
            self._string()
        elif character == "-" or character in "0123456789":
            self._number()
        elif character in _LITERALS:
            self._literal(_LITERALS[character])
        else:
            raise self._unexpected("looking for beginning of value")
        return False

    def _opens(self, closing: str, stack: list[str]) -> bool:
        if len(stack) >= DEPTH:
            raise _JSONSyntaxError("invalid character '[' exceeded max depth" if closing == "]" else _DEEP_OBJECT)
        self._at += 1
        if self._next() == closing:
            self._at += 1
            return False
        stack.append(closing)
        if closing == "}":
            self._key()
        return True

    def _key(self) -> None:
        if self._next() != '"':
            raise self._unexpected("looking for beginning of object key string")
        self._string()
        if self._next() != ":":
            raise self._unexpected("after object key")
        self._at += 1

    def _object(self, stack: list[str]) -> None:
        character = self._next()
        if character not in ",}":
            raise self._unexpected("after object key:value pair")
        self._at += 1
        if character == "}":
            stack.pop()
        else:
            self._key()
            self._value(stack)

    def _array(self, stack: list[str]) -> None:
        character = self._next()
        if character not in ",]":
            raise self._unexpected("after array element")
        self._at += 1
        if character == "]":
            stack.pop()
        else:
            self._value(stack)

    def _string(self) -> None:
        self._at += 1
        while True:
            character = self._here()
            if character == '"':
                self._at += 1
                return
            if character == "\\":
                self._at += 1
                self._escape()
            elif character < " ":
                raise self._unexpected("in string literal")
            self._at += 1

    def _escape(self) -> None:
        character = self._step()
        if character == "u":
            for _ in range(4):
                self._at += 1
                if self._step() not in "0123456789abcdefABCDEF":
                    raise self._unexpected("in \\u hexadecimal character escape")
        elif character not in '"\\/bfnrt':
            raise self._unexpected("in string escape code")

    def _number(self) -> None:
        found = _NUMBER.match(self._text, self._at)
        if found is None:
            self._at += 1
            self._step()
            raise self._unexpected("in numeric literal")
        self._at = found.end()
        rest = self._text[self._at : self._at + 1]
        if rest == "." or rest in ("e", "E"):
            self._at += 1
            if rest != "." and self._step() in "+-":
                self._at += 1
            self._step()
            raise self._unexpected(
                "after decimal point in numeric literal" if rest == "." else "in exponent of numeric literal"
            )

    def _literal(self, word: str) -> None:
        for expected in word[1:]:
            self._at += 1
            if self._step() != expected:
                raise self._unexpected(f"in literal {word} (expecting {_character(expected)})")
        self._at += 1

    def _skip_space(self) -> None:
        while self._at < len(self._text) and self._text[self._at] in _SPACE:
            self._at += 1

    def _next(self) -> str:
        self._skip_space()
        return self._here()

    def _here(self) -> str:
        if self._at >= len(self._text):
            raise _JSONSyntaxError(_END)
        return self._text[self._at]

    def _step(self) -> str:
        """Return the character inside a token; at the end of the text Go reads a space."""
        return self._text[self._at] if self._at < len(self._text) else " "

    def _unexpected(self, where: str) -> _JSONSyntaxError:
        return _JSONSyntaxError(f"invalid character {_character(self._step())} {where}")


def _character(character: str) -> str:
    """Print one byte as Go's scanner does."""
    if character == "'":
        return r"'\''"
    if character == '"':
        return "'\"'"
    code = ord(character)
    if code < 0x20 or code == 0x7F:
        short = {"\n": r"\n", "\r": r"\r", "\t": r"\t", "\a": r"\a", "\b": r"\b", "\f": r"\f", "\v": r"\v"}
        return "'" + short.get(character, f"\\x{code:02x}") + "'"
    if 0x80 <= code <= 0xA0 or code == 0xAD:
        return f"'\\u{code:04x}'"
    return f"'{character}'" if character != "\\" else r"'\\'"
