"""Arguments of `pyctrl token`."""

from __future__ import annotations

from tests.unit.cli.conftest import Run


def test_a_command_line_that_makes_no_sense_is_code_2(run: Run) -> None:
    """A missing name, an unknown --bound-object-kind and an invalid duration are usage errors."""
    for arguments in (["token"], ["token", "x", "--bound-object-kind", "Job"], ["token", "x", "--duration", "soon"]):
        refused = run(*arguments)
        assert (refused.code, refused.out) == (2, "")
