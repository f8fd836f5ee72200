"""Patterns that Go would not compile are refused in Go's words."""

from __future__ import annotations

import pytest

from pyctrl.apiserver._regexp import pattern_error

# what a kube-apiserver 1.36 says of each
WRONG = {
    "(": "missing closing ): `(`",
    ")": "unexpected ): `)`",
    "[a": "missing closing ]: `[a`",
    "[^]": "missing closing ]: `[^]`",
    "[b-a]": "invalid character class range: `b-a`",
    "[[:foo:]]": "invalid character class range: `[:foo:]`",
    "*a": "missing argument to repetition operator: `*`",
    "a**": "invalid nested repetition operator: `**`",
    "a++": "invalid nested repetition operator: `++`",
    "a{1001}": "invalid repeat count: `{1001}`",
    "a{2,1}": "invalid repeat count: `{2,1}`",
    r"\q": r"invalid escape sequence: `\q`",
    r"\1": r"invalid escape sequence: `\1`",
    r"\Z": r"invalid escape sequence: `\Z`",
    "a\\": "trailing backslash at end of expression: ``",
    "(?=a)": "invalid or unsupported Perl syntax: `(?=`",
    "(?#c)": "invalid or unsupported Perl syntax: `(?#`",
    "(?<!a)": "invalid named capture: `(?<!a)`",
}
RIGHT = (
    r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
    r"^(\d{1,3}\.){3}\d{1,3}$",
    "(?i)a|(?P<n>b*?)",
    "(?<n>a)",
    r"\pL[\d-z][^\]]+[[:alpha:]]",
    "[]a]",
    "x{,2}",
    r"\x{10FFFF}\Q(\E",
    "",
)


@pytest.mark.parametrize(("pattern", "why"), WRONG.items())
def test_what_is_wrong_is_said_in_go_words(pattern: str, why: str) -> None:
    """The message names the mistake and the part of the expression that has it."""
    assert pattern_error(pattern) == f"error parsing regexp: {why}"


@pytest.mark.parametrize("pattern", RIGHT)
def test_what_go_compiles_is_not_complained_about(pattern: str) -> None:
    """Also where Python's grammar is another."""
    assert pattern_error(pattern) == ""
