"""Source excerpts for error messages: file, line, and a marker below the erroneous code."""

from __future__ import annotations

import ast
import inspect
import os
from collections.abc import Iterator
from pathlib import Path
from types import FrameType, TracebackType

from msgspec import Struct

from pyctrl._stack_frames import is_own

__all__ = ["Excerpt", "class_excerpt", "error_excerpt", "field_excerpt", "shown_path"]

LONGEST = 120  # characters of a line that are shown
TAB = "    "


class Excerpt(Struct, frozen=True):
    """A place in a source file.

    Attributes:
        file: its path.
        line: the number of the line, from 1.
        start, end: the characters to mark, from 0; ``end`` is exclusive. Without ``end``, the character at ``start`` is
            marked; without both, the whole line.
    """

    file: str
    line: int
    start: int = 0
    end: int = 0

    def __str__(self) -> str:
        """Return the place and its source line in rustc's format; only the place if the line does not exist."""
        column, *lines = self._marked()
        place = f"  --> {shown_path(self.file)}:{self.line}"
        return "\n".join([f"{place}:{column}", *lines]) if lines else place

    @property
    def source(self) -> str:
        """The source line with the marker below it; "" if the line does not exist."""
        return "\n".join(self._marked()[1:])

    def _marked(self) -> list[str]:
        """Return the column, from 1, and the lines of `source`."""
        text = _line(self.file, self.line)
        if not text.strip():
            return [""]
        start, end = self.start, self.end
        if 0 < start <= len(text) and end <= start:  # something is missing at `start`
            end = start + 1
        if not start < end <= len(text) + 1:
            start, end = len(text) - len(text.lstrip()), len(text)
        column = str(start + 1)
        if len(text) > LONGEST:
            first = max(0, start - LONGEST // 2)
            text, start, end = text[first : first + LONGEST], start - first, min(end - first, LONGEST)
        before, marked = _printable(text[:start]), _printable(text[start:end])
        number = str(self.line)
        return [
            column,
            f"  {number} | {before}{marked}{_printable(text[end:])}",
            f"  {' ' * len(number)} | {' ' * len(before)}{'^' * max(len(marked), 1)}",
        ]


def error_excerpt(error: BaseException) -> Excerpt | None:
    """Return the place of an error in the program's own files; None if no frame is in one.

    For a syntax error, this is the place that does not parse, otherwise the innermost line of the program.
    """
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        start = max((error.offset or 1) - 1, 0)
        return Excerpt(error.filename, error.lineno, start, (error.end_offset or 0) - 1)
    frames = list(_frames(error.__traceback__))
    if isinstance(error, SyntaxError | UnicodeDecodeError) and (file := _compiled(frame for frame, _, _ in frames)):
        return Excerpt(file, _first_bad_line(file))
    own = [(frame, line, last) for frame, line, last in frames if is_own(frame.f_code.co_filename)]
    return _frame_excerpt(*own[-1]) if own else None


def class_excerpt(cls: type, member: str = "") -> Excerpt | None:
    """Return the place of a class, or of an attribute or method in its body; None if its source is not available."""
    if member:
        cls = next((each for each in cls.__mro__ if member in vars(each)), cls)
    try:
        file = inspect.getsourcefile(cls)
    except (OSError, TypeError):
        return None
    node = next((each for name, each in _classes(_tree(file), "") if name == cls.__qualname__), None) if file else None
    if file is None or node is None:
        return None
    found = next((each for each in node.body if member and member in _bound(each)), None)
    if found is None:
        return _head(file, node)
    return _head(file, found) if isinstance(found, _DEFINITIONS) else _node_excerpt(file, found)


def field_excerpt(place: Excerpt, *, name: str = "", annotation: str = "") -> Excerpt:
    """Return the place of a field in the class at ``place``; ``place`` itself if there is no such field.

    Args:
        place: the place of the class statement.
        name: the name of the field.
        annotation: a name in the field's annotation, if the name of the field is not known.
    """
    for _, node in _classes(_tree(place.file), ""):
        first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
        if not first <= place.line <= node.lineno:
            continue
        for each in node.body:
            if isinstance(each, ast.AnnAssign) and (name in _bound(each) or annotation in _names(each.annotation)):
                return _node_excerpt(place.file, each)
    return place


# -- frames --------------------------------------------------------------------------------------------------------


def _frames(trace: TracebackType | None) -> Iterator[tuple[FrameType, int, int]]:
    """Yield the frames of a traceback, outermost first, with the line and the last instruction of each."""
    while trace is not None:
        yield trace.tb_frame, trace.tb_lineno, trace.tb_lasti
        trace = trace.tb_next


def _frame_excerpt(frame: FrameType, line: int, last: int) -> Excerpt:
    file = frame.f_code.co_filename
    positions = list(frame.f_code.co_positions())
    first, final, start, end = positions[last // 2] if last // 2 < len(positions) else (None, None, None, None)
    if first != line or start is None or end is None:
        return Excerpt(file, line)
    text = _line(file, line).encode()
    end = end if final == line else len(text.rstrip())
    return Excerpt(file, line, *(len(text[:column].decode(errors="replace")) for column in (start, end)))


def _compiled(frames: Iterator[FrameType]) -> str:
    """Return the file that Python's import was compiling; "" if none."""
    paths = [frame.f_locals.get("path") for frame in frames if frame.f_code.co_name == "source_to_code"]
    return str(paths[-1]) if paths else ""


def _first_bad_line(file: str) -> int:
    """Return the first line with bytes that are not valid source text; 1 if there is none."""
    for number, line in enumerate(_bytes(file).split(b"\n"), 1):
        try:
            line.decode()
        except UnicodeDecodeError:
            return number
        if b"\0" in line:
            return number
    return 1


# -- source text ---------------------------------------------------------------------------------------------------

_DEFINITIONS = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def _bytes(file: str) -> bytes:
    try:
        return Path(file).read_bytes()
    except OSError:
        return b""


def _text(file: str) -> str:
    return _bytes(file).decode("utf-8-sig", errors="replace")


def _line(file: str, line: int) -> str:
    lines = _text(file).split("\n")
    return lines[line - 1].rstrip() if 0 < line <= len(lines) else ""


def _tree(file: str | None) -> ast.Module:
    try:
        return ast.parse(_text(file or ""))
    except (SyntaxError, ValueError):  # the file has changed since it was imported
        return ast.Module(body=[], type_ignores=[])


def _classes(node: ast.AST, within: str) -> Iterator[tuple[str, ast.ClassDef]]:
    """Yield the classes of a tree with their qualified names."""
    for each in ast.iter_child_nodes(node):
        if isinstance(each, ast.ClassDef):
            yield within + each.name, each
            yield from _classes(each, f"{within}{each.name}.")
        elif isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _classes(each, f"{within}{each.name}.<locals>.")
        else:
            yield from _classes(each, within)


def _bound(node: ast.stmt) -> set[str]:
    """Return the names that a statement binds."""
    if isinstance(node, _DEFINITIONS):
        return {node.name}
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return {each.id for each in targets if isinstance(each, ast.Name)}


def _names(node: ast.expr) -> set[str]:
    found = [each.id if isinstance(each, ast.Name) else getattr(each, "attr", "") for each in ast.walk(node)]
    return set(found) - {""}


def _node_excerpt(file: str, node: ast.stmt) -> Excerpt:
    text = _line(file, node.lineno).encode()
    end = node.end_col_offset if node.end_lineno == node.lineno else None
    columns = (node.col_offset, len(text) if end is None else end)
    return Excerpt(file, node.lineno, *(len(text[:column].decode(errors="replace")) for column in columns))


def _head(file: str, node: ast.stmt) -> Excerpt:
    """Return the first line of a class or function."""
    text = _line(file, node.lineno)
    return Excerpt(file, node.lineno, len(text) - len(text.lstrip()), len(text))


def _printable(text: str) -> str:
    return "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in text.replace("\t", TAB))


def shown_path(file: str) -> str:
    """Return the path relative to the working directory, if it is below it."""
    relative = os.path.relpath(file)
    return file if relative.startswith("..") else relative
