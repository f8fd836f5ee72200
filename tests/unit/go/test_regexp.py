"""Patterns in Go's grammar match what they match in Go, in linear time."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyctrl._go.regexp import CompiledPattern, PatternError, _RE2Pattern, _RustPattern, go_pattern
from pyctrl._go.regexp_syntax import pattern_error

ENGINES = [_RE2Pattern, _RustPattern]

MATCHED = [
    ("^a.c$", "abc", True),
    ("a$", "a\n", False),
    ("(a$|b)", "a\n", False),
    ("(?m)a$", "a\nb", True),
    ("a(?i)b", "aB", True),
    ("a(?i)b", "AB", False),
    ("a(?i)b|C", "c", True),
    ("((?i)a)b", "AB", False),
    ("(?U)a+", "a", True),
    ("(?)a", "a", True),
    (r"\Qa+b\E", "a+b", True),
    ("[[:alpha:]]", "e", True),
    ("[[:^alpha:]]", "e", False),
    ("[[:^alpha:]]", "é", True),
    (r"^\pL$", "é", True),
    (r"^\p{Nd}$", "5", True),
    (r"^\P{Nd}$", "5", False),
    (r"^\p{^Lu}$", "É", False),
    (r"^[\p{Lu}x]+$", "Éx", True),
    (r"^\p{Greek}$", "λ", True),
    (r"^[\d\W]+$", "1-é", True),
    (r"^\d$", "٣", False),
    (r"\bé", "éa", False),
    (r"^\s$", "\v", False),
    (r"\x{e9}", "é", True),
    (r"^\x41\102\t$", "AB\t", True),
    ("x{,3}", "x{,3}", True),
    ("^x{02}$", "x{02}", True),
    ("^x{2,}$", "xx", True),
    ("[]a]", "]", True),
    ("[a&&b]", "&", True),
    ("^[a~~b-]+$", "a~-", True),
    ("^[[a]$", "[", True),
    ("^[0-9a-zA-Z-.]+$", "a-b.9", True),
    ("^[0-9a-zA-Z-.]+$", "a+b", False),
    ("(?<x>a)b", "ab", True),
    ("(?P<1>a)b", "ab", True),
    (r"\Aab\z", "ab", True),
    (r"^\<\-$", "<-", True),
]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("pattern", "text", "is_match"), MATCHED)
def test_a_pattern_matches_as_in_go(
    engine: Callable[[str], CompiledPattern], pattern: str, text: str, is_match: bool
) -> None:
    """Flags, classes, escapes and the end of the text behave as in Go, in both engines."""
    assert pattern_error(pattern) == ""
    assert engine(pattern).matches(text) == is_match


_PARTS = (
    r"a b é ^ $ | * +? {2} {,3} { } ( (?: ) (?i) (?P<n> . \d \W \bx \- \x{e9} \101 \pL \p{^Lu} ~ # [a-z] [^a-c] []a] "
    r"[0-9a-zA-Z-.] [a&&b] [\d-z] [\W\s] [\P{Lu}x] [[:alpha:]-] [[:^digit:]] [--a] [\]]"
)


@given(st.lists(st.sampled_from(_PARTS.split()), max_size=5).map("".join), st.text("ab1 \nzé[]&~-.{},3A_K", max_size=6))
def test_both_engines_agree(pattern: str, text: str) -> None:
    """Patterns match the same texts with and without the extra apiserver."""
    if pattern_error(pattern) == "":
        assert _RustPattern(pattern).matches(text) == _RE2Pattern(pattern).matches(text)


@pytest.mark.parametrize("engine", ENGINES)
def test_matching_takes_linear_time(engine: Callable[[str], CompiledPattern]) -> None:
    """A pattern that takes exponential time in a backtracking engine is matched at once."""
    assert not engine("^(a+)+$").matches("a" * 1_000_000 + "!")


def test_go_compiles_what_takes_much_memory() -> None:
    """A large pattern that Go compiles is compiled here, although RE2 has a limit that Go does not have."""
    assert go_pattern(r"^\pL{1000}$").matches("é" * 1000)


@pytest.mark.parametrize(
    ("text", "limit", "found"),
    [("baaac", -1, ["", "aaa", ""]), ("baaac", 2, ["", "aaa"]), ("é", -1, ["", ""]), ("aa", 0, [])],
)
def test_matches_are_found_as_in_go(text: str, limit: int, found: list[str]) -> None:
    """An empty match right behind another match does not count."""
    assert _RE2Pattern("a*").find_all(text, limit) == found


def test_what_needs_the_extra_says_so() -> None:
    """Without google-re2, find_all and some patterns fail with an error that has the package to install."""
    with pytest.raises(PatternError, match="pip install 'pyctrl-runtime\\[apiserver\\]'"):
        _RustPattern("a").find_all("a")
    with pytest.raises(PatternError, match="pip install 'pyctrl-runtime\\[apiserver\\]'"):
        _RustPattern(r"\pL{1000}")
