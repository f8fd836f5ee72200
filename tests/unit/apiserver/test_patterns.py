"""Patterns in Go's grammar match what they match in Go."""

from __future__ import annotations

import pytest

from pyctrl.apiserver._patterns import go_pattern

MATCHED = [
    ("^a.c$", "abc", True),
    ("a$", "a\n", False),
    ("(a$|b)", "a\n", False),
    ("(?m)a$", "a\nb", True),
    ("a(?i)b", "aB", True),
    ("a(?i)b", "AB", False),
    ("a(?i)b|C", "c", True),
    ("((?i)a)b", "AB", False),
    (r"\Qa+b\E", "a+b", True),
    ("[[:alpha:]]", "e", True),
    ("[[:^alpha:]]", "e", False),
    ("[[:^alpha:]]", "é", True),
    (r"^\pL$", "é", True),
    (r"^\p{Nd}$", "5", True),
    (r"^\P{Nd}$", "5", False),
    (r"^[\p{Lu}x]+$", "Éx", True),
    (r"\x{e9}", "é", True),
    ("x{,3}", "x{,3}", True),
    ("[]a]", "]", True),
    ("[a&&b]", "&", True),
    ("(?<x>a)b", "ab", True),
    (r"\Aab\z", "ab", True),
]


@pytest.mark.parametrize(("pattern", "text", "is_match"), MATCHED)
def test_a_pattern_matches_as_in_go(pattern: str, text: str, is_match: bool) -> None:
    """Flags, classes, escapes and the end of a text mean what they mean in Go."""
    compiled = go_pattern(pattern)

    assert compiled is not None
    assert (compiled.search(text) is not None) == is_match


@pytest.mark.parametrize("pattern", ["[a", "(a", "(?U)a", r"\p{Greek}"])
def test_a_pattern_that_python_cannot_have_is_none(pattern: str) -> None:
    """What is no pattern, or is beyond Python's, is not compiled to something else."""
    assert go_pattern(pattern) is None
