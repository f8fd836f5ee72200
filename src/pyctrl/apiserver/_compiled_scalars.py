"""Checks of texts and numbers, compiled: each answers whether a value is certainly fine."""

from __future__ import annotations

import sys
from collections.abc import Callable, Container
from functools import partial
from typing import NamedTuple, TypeAlias

from pyctrl.apiserver._formats import is_of_format
from pyctrl.apiserver._schema import JSON, Checks, Node
from pyctrl.apiserver._validation import validate

Check: TypeAlias = Callable[[JSON], bool]

NO_CHECKS = Checks()

_SHORT = 64  # texts up to so many characters are remembered, of each place up to so many texts:
_TEXTS = 512


class TextRule(NamedTuple):
    """What is asked of the texts of a place; those that are known to be fine need not be asked about again.

    Objects of one kind repeat names, quantities and the like, and patterns take their time.
    """

    known: Container[str]
    ask: Callable[[str], bool]  # and remember

    def allows(self, value: JSON) -> bool:
        """Whether a value is a text that is fine."""
        return type(value) is str and (value in self.known or self.ask(value))


ANY_TEXT = TextRule((), lambda _text: True)


def text_rule(checks: Checks) -> TextRule:
    """Compile what is asked of texts."""
    patterns: list[Callable[[str], object]] = []
    if checks.pattern is not None:
        patterns.append(checks.pattern.matches)
    if checks.format:
        patterns.append(partial(is_of_format, checks.format))
    if checks.enum is not None:
        fine = frozenset(each for each in checks.enum if type(each) is str)
        return TextRule(frozenset(filter(_Asking(checks, patterns).is_fine, fine)), _never)
    if not patterns and checks.min_length is None and checks.max_length is None:
        return ANY_TEXT
    asking = _Asking(checks, patterns)
    return TextRule(asking.known, asking.ask)


def _never(_text: str) -> bool:
    return False


class _Asking:
    """Asks about texts, and remembers some that are fine."""

    __slots__ = ("_longest", "_patterns", "_shortest", "known")

    def __init__(self, checks: Checks, patterns: list[Callable[[str], object]]) -> None:
        self._shortest = checks.min_length or 0
        self._longest = sys.maxsize if checks.max_length is None else checks.max_length
        self._patterns = patterns
        self.known: set[str] = set()

    def is_fine(self, text: str) -> bool:
        return self._shortest <= len(text) <= self._longest and all(matches(text) for matches in self._patterns)

    def ask(self, text: str) -> bool:
        if not self.is_fine(text):
            return False
        if len(text) <= _SHORT:
            if len(self.known) == _TEXTS:
                self.known.clear()
            self.known.add(text)
        return True


def integers(checks: Checks) -> Check:
    """Compile what is asked of integers."""
    bound = 1 << (31 if checks.format == "int32" else 63)
    least, most = -bound, bound - 1
    if checks.minimum is not None:
        least = max(least, int(checks.minimum) + (1 if checks.exclusive_minimum else 0))
    if checks.maximum is not None:
        most = min(most, int(checks.maximum) - (1 if checks.exclusive_maximum else 0))
    return lambda value: type(value) is int and least <= value <= most


def scalars(node: Node) -> Check:
    """Compile a place without parts. Where there is no quick answer, the slow walk is asked about the value."""
    checks = node.checks or NO_CHECKS
    if checks.multiple_of or (checks.enum is not None and node.type != "string"):
        return partial(_by_walking, node)
    if node.int_or_string:
        return _integers_and_texts(checks)
    if node.type == "string":
        return text_rule(checks).allows
    if node.type == "integer":
        return integers(checks)
    return _is_boolean if node.type == "boolean" else partial(_by_walking, node)


def _integers_and_texts(checks: Checks) -> Check:
    is_text, is_integer = text_rule(checks).allows, integers(checks)
    return lambda value: is_text(value) or is_integer(value)


def _is_boolean(value: JSON) -> bool:
    return type(value) is bool


_SCALARS = frozenset({str, int, float, bool})


def _by_walking(node: Node, value: JSON) -> bool:
    return type(value) in _SCALARS and not validate(node, value)
