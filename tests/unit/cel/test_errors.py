"""Format of compilation errors."""

from __future__ import annotations

import pytest

from pyctrl.cel import (
    DYN,
    INT,
    MATCH_CONDITION,
    CompileFailed,
    Environment,
)


def environment() -> Environment:
    return Environment({**MATCH_CONDITION, "self": DYN, "n": INT})


def test_a_mark_stands_under_the_error() -> None:
    """A compilation error shows the line and marks the position, with wide markers under wide characters."""
    with pytest.raises(CompileFailed) as failed:
        environment().compile("'é' == 'x' &&\n 'é' == n")
    assert str(failed.value).endswith(" |  'é' == n\n | ..．..^")
