"""Errors of reconciles as data: message, frames with source lines, and the chain of causes."""

from __future__ import annotations

import linecache
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from traceback import format_exception_only

from pyctrl._log import printable
from pyctrl._stack_frames import CodeLine, is_own, own_line, stack_of_traceback
from pyctrl.api import Access
from pyctrl.errors import Forbidden
from pyctrl.rbac import declaration

__all__ = ["ErrorReport", "Frame", "SourceLine", "error_report"]

AROUND = 2  # lines before and after the line of a frame of the program
MOST_FRAMES = 30  # of one error; a recursion has a thousand
MOST_CAUSES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceLine:
    """A line of a source file; ``is_current`` if the frame is at it."""

    number: int
    text: str
    is_current: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """A frame of a traceback. One of the program itself (``is_own``) has the lines around its own, too."""

    file: str
    line: int
    function: str
    is_own: bool
    source: tuple[SourceLine, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorReport:
    """An error, without references to its frames and objects.

    Attributes:
        message: the error in one line, with the permission that the program lacks if that caused it.
        place: the innermost line of the program: ``operator.py, line 21``; "" if there is none.
        text: type, message and notes, as in a traceback.
        frames: the frames, outermost first.
        cause: the error that caused it, or during whose handling it was raised.
    """

    message: str
    place: str
    text: tuple[str, ...]
    frames: tuple[Frame, ...]
    cause: ErrorReport | None = None


def error_report(error: BaseException, *, depth: int = MOST_CAUSES) -> ErrorReport:
    """Return an error as data, with the source lines as they are now."""
    stack = stack_of_traceback(error.__traceback__)
    own, text = own_line(stack), printable(" ".join(str(error).split()))
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return ErrorReport(
        message=(f"{type(error).__name__}: {text}" if text else type(error).__name__) + _missing_rbac(error),
        place=place_of(own),
        text=tuple(printable(line) for each in format_exception_only(error) for line in each.rstrip().split("\n")),
        frames=tuple(_frames(stack)),
        cause=error_report(cause, depth=depth - 1) if cause is not None and depth else None,
    )


def place_of(line: CodeLine | None) -> str:
    """Return a line of code as in a sentence: ``operator.py, line 21``; "" without one."""
    return f"{line.shown_file}, line {line.line}" if line is not None else ""


def _missing_rbac(error: BaseException) -> str:
    """Return the declaration that the program lacks, if that caused the error."""
    access = Access.refused_by(error) if isinstance(error, Forbidden) else None
    return f"; rbac lacks {declaration([access])}" if access is not None and access.is_resource else ""


def _frames(stack: list[CodeLine]) -> Iterator[Frame]:
    for line in stack[-MOST_FRAMES:]:
        own = is_own(line.file)
        yield Frame(
            file=line.shown_file if own else _library_file(line),
            line=line.line,
            function=line.function,
            is_own=own,
            source=tuple(_source(line, around=AROUND if own else 0)),
        )


def _library_file(line: CodeLine) -> str:
    """Return the file of a library from its package on: ``pydantic/main.py``."""
    parts = Path(line.file).parts
    first = next((place for place in reversed(range(len(parts))) if parts[place] == line.package), len(parts) - 1)
    return "/".join(parts[first:])


def _source(line: CodeLine, *, around: int) -> Iterator[SourceLine]:
    """Yield the lines around a line of code, without common indentation and blank lines at the ends."""
    linecache.checkcache(line.file)  # it may have been saved since it was last read
    numbers = range(max(1, line.line - around), line.line + around + 1)
    found = [(number, linecache.getline(line.file, number).expandtabs(4).rstrip()) for number in numbers]
    indents = [len(text) - len(text.lstrip()) for _, text in found if text]
    last = max((number for number, text in found if text), default=0)
    for number, text in found:
        if text or line.line < number < last:
            yield SourceLine(number=number, text=printable(text[min(indents) :]), is_current=number == line.line)
