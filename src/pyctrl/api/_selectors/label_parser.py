"""Parser of label selectors in text form, accepting the same texts as the API server."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from pyctrl.api._selectors.label_requirement import (
    LabelOperator,
    LabelRequirement,
    invalid_key_message,
    invalid_values_message,
)
from pyctrl.errors import SelectorError

__all__ = ["LabelParser", "selector_error"]

_BINARY = {"==": LabelOperator.EQUALS} | {
    str(operator): operator
    for operator in LabelOperator
    if operator not in (LabelOperator.EXISTS, LabelOperator.NOT_EXISTS)
}


class _Token(NamedTuple):
    text: str  # "" is the end of the selector
    place: int

    @property
    def is_word(self) -> bool:
        return bool(self.text) and self.text[0] not in "=!(),<>"


class LabelParser:
    """Recursive descent over tokens. `in` and `notin` are operators only where an operator is allowed."""

    _TOKEN = re.compile(r"[ \t\r\n]*(==|!=|[=!(),<>]|[^ \t\r\n=!(),<>]+|\Z)")

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = [_Token(match[1], match.start(1)) for match in self._TOKEN.finditer(text)]
        self._next = 0

    def parse(self) -> Iterator[LabelRequirement]:
        """Yield the terms in the order of the text."""
        if not self._peek().text:
            return
        while True:
            yield self._requirement()
            separator = self._take()
            if not separator.text:
                return
            if separator.text != ",":
                raise self._unexpected(separator, "',' or the end")

    def _requirement(self) -> LabelRequirement:
        negated = self._peek().text == "!"
        if negated:
            self._take()
        key = self._take()
        if not key.is_word:
            raise self._unexpected(key, "a label key" if negated else "a label key or '!'")
        if problem := invalid_key_message(key.text):
            raise self._error(key.place, problem)
        if negated:
            return LabelRequirement(key.text, LabelOperator.NOT_EXISTS)
        if self._peek().text in ("", ","):
            return LabelRequirement(key.text, LabelOperator.EXISTS)
        return self._comparison(key.text)

    def _comparison(self, key: str) -> LabelRequirement:
        word = self._take()
        operator = _BINARY.get(word.text)
        if operator is None:
            raise self._unexpected(word, "an operator: = == != in notin > <")
        place = self._peek().place
        is_set = operator in (LabelOperator.IN, LabelOperator.NOT_IN)
        values = self._set() if is_set else (self._value(),)
        if problem := invalid_values_message(operator, values):
            raise self._error(place, problem)
        return LabelRequirement(key, operator, values)

    def _value(self) -> str:
        """Consume the next value, which may be empty."""
        if self._peek().text in ("", ","):
            return ""
        value = self._take()
        if not value.is_word:
            raise self._unexpected(value, "a value")
        return value.text

    def _set(self) -> tuple[str, ...]:
        opening = self._take()
        if opening.text != "(":
            raise self._unexpected(opening, "'('")
        values: list[str] = []
        while True:
            values.append(self._take().text if self._peek().is_word else "")
            separator = self._take()
            if separator.text == ")":
                return tuple(values)
            if separator.text != ",":
                raise self._unexpected(separator, "a value, ',' or ')'")

    def _peek(self) -> _Token:
        return self._tokens[self._next]

    def _take(self) -> _Token:
        token = self._tokens[self._next]
        self._next = min(self._next + 1, len(self._tokens) - 1)
        return token

    def _unexpected(self, token: _Token, expected: str) -> SelectorError:
        found = f"found {token.text!r}" if token.text else "the selector ends"
        return self._error(token.place, f"{found}, expected {expected}")

    def _error(self, place: int, problem: str) -> SelectorError:
        return selector_error("label", self._text, place, problem)


def selector_error(kind: str, text: str, place: int, problem: str) -> SelectorError:
    """Return the error that shows the text and the position."""
    return SelectorError(f"{kind} selector {text!r}: at character {place + 1}: {problem}")
