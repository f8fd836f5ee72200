"""Syntax errors of patterns, in Go's words."""

from __future__ import annotations

import pytest

from pyctrl._go.regexp_syntax import pattern_error

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
    f"a{{{'9' * 5000}}}": f"invalid repeat count: `{{{'9' * 5000}}}`",
    "a{2,1}": "invalid repeat count: `{2,1}`",
    r"\q": r"invalid escape sequence: `\q`",
    r"\1": r"invalid escape sequence: `\1`",
    r"\Z": r"invalid escape sequence: `\Z`",
    "a\\": "trailing backslash at end of expression: ``",
    "(?=a)": "invalid or unsupported Perl syntax: `(?=`",
    "(?#c)": "invalid or unsupported Perl syntax: `(?#`",
    "(?<!a)": "invalid named capture: `(?<!a)`",
    r"\C": r"invalid escape sequence: `\C`",
    r"\E": r"invalid escape sequence: `\E`",
    r"[\b]": r"invalid escape sequence: `\b`",
    r"\xg": r"invalid escape sequence: `\xg`",
    r"\x{110000}": r"invalid escape sequence: `\x{110000`",
    r"\p{Foo}": r"invalid character class range: `\p{Foo}`",
    "(a{100}){100}": "invalid repeat count: `{100}`",
}
DEEP = "(" * 1001 + ")" * 1001
RIGHT = (
    r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
    r"^(\d{1,3}\.){3}\d{1,3}$",
    "(?i)a|(?P<n>b*?)",
    "(?<n>a)",
    r"\pL[\d-z][^\]]+[[:alpha:]]",
    "[]a]",
    "^[0-9a-zA-Z-.]+$",
    "[a-c-e]",
    "[--a]",
    "(?P<1>a)",
    "x{,2}",
    "x{02}",
    "x{\N{ARABIC-INDIC DIGIT TWO}}",
    r"\x{10FFFF}\Q(\E",
    "",
)


@pytest.mark.parametrize(("pattern", "why"), WRONG.items())
def test_what_is_wrong_is_said_in_go_words(pattern: str, why: str) -> None:
    """The message has the error and the part of the expression."""
    assert pattern_error(pattern) == f"error parsing regexp: {why}"


@pytest.mark.parametrize("pattern", RIGHT)
def test_what_go_compiles_is_not_complained_about(pattern: str) -> None:
    """Patterns that Go compiles have no error, also where Python's grammar differs."""
    assert pattern_error(pattern) == ""


def test_a_pattern_that_nests_too_deeply_is_refused() -> None:
    """Go compiles 1000 levels at most."""
    assert pattern_error(DEEP) == f"error parsing regexp: expression nests too deeply: `{DEEP}`"
