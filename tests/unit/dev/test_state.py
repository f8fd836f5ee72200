"""Problems of the files of a session."""

from __future__ import annotations

from pyctrl.dev._state import problem_of


def test_a_problem_has_a_place_and_an_excerpt() -> None:
    """An error while a program is loaded is split into message, place and excerpt."""
    text = "importing a.py failed: NameError: no x\n  --> a.py:4:8\n  4 | y = x\n    |     ^"
    found = problem_of(text)
    assert (found.message, found.place) == ("importing a.py failed: NameError: no x", "a.py:4:8")
    assert found.excerpt == ("  4 | y = x", "    |     ^")


def test_a_problem_may_have_no_place() -> None:
    """An error without an excerpt is a message."""
    found = problem_of("boxes failed: OSError: no disk")
    assert (found.message, found.place, found.excerpt) == ("boxes failed: OSError: no disk", "", ())
