"""Arguments of `pyctrl shards`."""

from __future__ import annotations

import pytest

from tests.unit.cli.conftest import Run


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("-o", "yaml"), 2, 'Invalid value "yaml" for -o'),
        (("a", "b"), 2, "unexpected argument 'b'"),
        (("--watch", "-o", "json"), 1, "leave out either --watch or -o json"),
    ],
)
def test_invalid_arguments_are_refused(run: Run, arguments: tuple[str, ...], code: int, message: str) -> None:
    """The message is one line, and no cluster is contacted."""
    ran = run("shards", *arguments)
    assert (ran.code, ran.out) == (code, "")
    assert message in ran.err
