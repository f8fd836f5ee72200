"""Lines of code on a stack, and whether they belong to the program."""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import pytest

import pyctrl
from pyctrl._stack_frames import CodeLine, is_own, own_line, stack_of, stack_of_traceback

PYCTRL = CodeLine(pyctrl.__file__, 1, "run", "pyctrl")
LIBRARY = CodeLine(json.__file__, 1, "loads", "json")
PACKAGE = CodeLine("/venv/lib/site-packages/shop/main.py", 3, "reconcile", "shop")
HELPER = CodeLine("/venv/lib/site-packages/requests/api.py", 4, "get", "requests")
PROGRAM = CodeLine("/app/operator.py", 21, "reconcile", "operator")


@pytest.mark.parametrize(
    ("stack", "found"),
    [
        ([PYCTRL, PROGRAM, HELPER, LIBRARY], PROGRAM),
        ([PYCTRL, PACKAGE, HELPER, LIBRARY], PACKAGE),
        ([PYCTRL, LIBRARY], None),
        ([], None),
    ],
)
def test_the_innermost_line_of_the_program_is_found(stack: list[CodeLine], found: CodeLine | None) -> None:
    """A program may be an installed package; its libraries, pyctrl and Python itself are not the program."""
    assert own_line(stack) == found


def test_files_of_pyctrl_and_python_are_not_the_programs() -> None:
    """Files of pyctrl and Python, and generated code, do not belong to the program."""
    lines = (PROGRAM, PYCTRL, LIBRARY, PACKAGE)
    assert [is_own(line.file) for line in lines] == [True, False, False, False]
    assert not is_own("<string>")


def test_a_stack_is_listed_from_the_outermost_line() -> None:
    """Each frame has its line, function, package and source text, outermost first."""
    line = stack_of(inspect.currentframe())[-1]
    assert (line.file, line.function) == (__file__, "test_a_stack_is_listed_from_the_outermost_line")
    assert line.source == "line = stack_of(inspect.currentframe())[-1]"
    with pytest.raises(ValueError, match="Expecting") as failed:
        json.loads("{")
    lines = stack_of_traceback(failed.tb)
    assert (lines[0].file, lines[-1].package) == (__file__, "json")


def test_a_file_below_the_working_directory_is_shown_relative_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file below the working directory has a relative path, other files keep the whole path."""
    monkeypatch.chdir(tmp_path)
    assert str(CodeLine(str(tmp_path / "operator.py"), 21, "reconcile", "operator")) == "operator.py:21 in reconcile"
    assert str(PROGRAM) == "/app/operator.py:21 in reconcile"
