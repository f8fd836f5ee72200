"""Arguments of `pyctrl schema`."""

from __future__ import annotations

from tests.unit.cli.conftest import Run


def test_a_command_line_that_makes_no_sense_is_code_2(run: Run) -> None:
    """A second program, a flag without its value and a misspelt flag are usage errors."""
    for line in ("a.py b.py", "a.py --builtin", "a.py --bultin Pod"):
        refused = run("schema", *line.split())
        assert (refused.code, refused.out) == (2, "")
        assert refused.err.endswith("Try 'pyctrl schema --help'.\n")
