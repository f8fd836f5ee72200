"""Errors of reconciles as data."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

from pyctrl.dev._error_report import error_report

PROGRAM = """\
import json


def lookup(colours, name):
    return colours[name]


def paint(name):
    try:
        lookup({}, name)
    except KeyError as error:
        error.add_note("a note")
        raise ValueError(f"unknown colour {name!r}") from error


def parse(text):
    json.loads(text)


def repeat(number):
    repeat(number + 1)
"""


def program(tmp_path: Path) -> ModuleType:
    file = tmp_path / "painter.py"
    file.write_text(PROGRAM)
    spec = importlib.util.spec_from_file_location("painter", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def raised(module: ModuleType, function: str, argument: object) -> BaseException:
    try:
        getattr(module, function)(argument)
    except Exception as error:  # noqa: BLE001 (any error is the result)
        return error
    raise AssertionError


def test_the_frames_of_the_program_have_source_lines(tmp_path: Path) -> None:
    """A frame of the program shows the lines around its own, which is marked, and the error names its place."""
    found = error_report(raised(program(tmp_path), "paint", "blue"))
    assert found.message == "ValueError: unknown colour 'blue'"
    assert found.place.endswith("painter.py, line 13")
    frame = found.frames[-1]
    assert (frame.is_own, frame.line, frame.function) == (True, 13, "paint")
    assert [(line.number, line.text, line.is_current) for line in frame.source] == [
        (11, "except KeyError as error:", False),
        (12, '    error.add_note("a note")', False),
        (13, '    raise ValueError(f"unknown colour {name!r}") from error', True),
    ]


def test_an_error_has_its_cause(tmp_path: Path) -> None:
    """The error that caused another one is shown with its own frames and notes."""
    cause = error_report(raised(program(tmp_path), "paint", "blue")).cause
    assert cause is not None
    assert cause.text == ("KeyError: 'blue'", "a note")
    assert [frame.function for frame in cause.frames] == ["paint", "lookup"]


def test_frames_of_libraries_are_not_the_programs(tmp_path: Path) -> None:
    """A frame of the standard library is not marked as the program's, and the place is the program's line."""
    found = error_report(raised(program(tmp_path), "parse", "{"))
    assert [(frame.is_own, frame.file) for frame in found.frames[-2:]] == [
        (False, "json/decoder.py"),
        (False, "json/decoder.py"),
    ]
    assert found.place.endswith("painter.py, line 17")


def test_a_recursion_is_cut(tmp_path: Path) -> None:
    """Of a traceback with a thousand frames the innermost ones are kept."""
    assert len(error_report(raised(program(tmp_path), "repeat", 1)).frames) == 30
