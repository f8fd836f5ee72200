"""Source excerpts of error messages: the line, and the marker below the code."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyctrl._source_excerpts import Excerpt, class_excerpt, error_excerpt, field_excerpt


class Widget:
    """A class with a field and a method."""

    size: int = 1

    def grow(self) -> None:
        self.size += 1


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file in the working directory."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "operator.py"
    path.write_text("size = 1\n\tname = widgte.name\n" + "x" * 300 + "END\n")
    return path


def test_a_place_is_shown_in_the_format_of_rustc(file: Path) -> None:
    """Path, line and column, then the source line with a marker; a tab counts as four spaces."""
    assert str(Excerpt(str(file), 2, 8, 14)) == (
        "  --> operator.py:2:9\n"  # the column counts characters, as editors do
        "  2 |     name = widgte.name\n"
        "    |            ^^^^^^"
    )


def test_without_columns_the_whole_line_is_marked(file: Path) -> None:
    """Without columns the marker begins at the first character that is not white space."""
    assert Excerpt(str(file), 1).source == "  1 | size = 1\n    | ^^^^^^^^"


def test_a_long_line_is_cut_around_the_marker(file: Path) -> None:
    """At most 120 characters are shown, including the marked ones."""
    code, marker = Excerpt(str(file), 3, 300, 303).source.splitlines()
    assert len(code.partition("| ")[2]) <= 120
    start = marker.index("^")
    assert code[start : start + 3] == "END"


@pytest.mark.parametrize("line", [0, 4, 99])
def test_a_line_that_does_not_exist_is_the_place_alone(file: Path, line: int) -> None:
    """If the file has no such line, because it has changed since the import, only the location is shown."""
    assert str(Excerpt(str(file), line)) == f"  --> operator.py:{line}"


def test_a_syntax_error_is_where_it_does_not_parse(file: Path) -> None:
    """A syntax error is marked at the columns that Python reports."""
    with pytest.raises(SyntaxError) as failed:
        compile("a = 1\nb = (2\n", str(file), "exec")
    place = error_excerpt(failed.value)
    assert place is not None
    assert (place.file, place.line) == (str(file), 2)


def test_an_error_without_a_line_of_the_program_has_no_place() -> None:
    """An error without a traceback has no location."""
    assert error_excerpt(ValueError("no")) is None


def test_members_of_a_class_are_found_in_its_source() -> None:
    """The class, a field, a method, and a field named in its annotation are found."""
    whole = class_excerpt(Widget)
    assert whole is not None
    found = (
        whole,
        class_excerpt(Widget, "size"),
        class_excerpt(Widget, "grow"),
        field_excerpt(whole, annotation="int"),
    )
    shown = [each.source.splitlines()[0].partition("| ")[2].strip() for each in found if each is not None]
    assert shown == ["class Widget:", "size: int = 1", "def grow(self) -> None:", "size: int = 1"]
    assert field_excerpt(whole, name="colour") == whole


def test_a_class_without_source_has_no_place() -> None:
    """A class of a C extension has no location."""
    assert class_excerpt(int) is None
