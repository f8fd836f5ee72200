"""Arguments of `pyctrl url`."""

from __future__ import annotations

import pytest

from tests.unit.cli.conftest import Run


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "is missing"),
        (("pods", "-o", "table"), 'Invalid value "table" for -o'),
        (("pods", "--wach"), "Unknown option: --wach. Did you mean --watch?"),
    ],
)
def test_invalid_arguments_are_usage_errors(run: Run, arguments: tuple[str, ...], message: str) -> None:
    """The exit code is 2, and no cluster is contacted."""
    ran = run("url", *arguments)
    assert (ran.code, ran.out, message in ran.err) == (2, "", True)
