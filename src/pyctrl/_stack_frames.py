"""Lines of code on a stack: which belong to the user's program, and their format in messages."""

from __future__ import annotations

import linecache
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from types import FrameType, TracebackType
from typing import NamedTuple

__all__ = ["CodeLine", "is_own", "own_line", "stack_of", "stack_of_traceback"]

_PYCTRL = Path(__file__).parent
_PACKAGES = frozenset({"site-packages", "dist-packages"})  # the second is Debian's


class CodeLine(NamedTuple):
    """One line of a stack."""

    file: str
    line: int
    function: str
    #: The top-level package or module of the line.
    package: str

    def __str__(self) -> str:
        """Return ``operator.py:21 in reconcile``, with the path of `shown_file`."""
        return f"{self.shown_file}:{self.line} in {self.function}"

    @property
    def shown_file(self) -> str:
        """The file, relative to the working directory if it is below it."""
        path = Path(self.file)
        try:
            here = Path.cwd()
        except OSError:  # it was deleted
            return self.file
        return str(path.relative_to(here)) if path.is_relative_to(here) else self.file

    @property
    def source(self) -> str:
        """The text of the line; "" if its file cannot be read."""
        return linecache.getline(self.file, self.line).strip()


def stack_of(frame: FrameType | None) -> list[CodeLine]:
    """Return the stack that ends in a frame, outermost first."""
    found = []
    while frame is not None:
        found.append(_code_line(frame, frame.f_lineno))
        frame = frame.f_back
    return found[::-1]


def stack_of_traceback(trace: TracebackType | None) -> list[CodeLine]:
    """Return the lines of a traceback, outermost first."""
    found = []
    while trace is not None:
        found.append(_code_line(trace.tb_frame, trace.tb_lineno))
        trace = trace.tb_next
    return found


def own_line(stack: Sequence[CodeLine]) -> CodeLine | None:
    """Return the innermost line of the program: not of pyctrl, the standard library or an installed package.

    If there is none, the program is an installed package itself: that of the outermost line which is not of pyctrl or
    the standard library. Then return the innermost line of that package. None if there is no such line either.
    """
    outside = [line for line in stack if _owner(line.file) != "runtime"]
    own = [line for line in outside if _owner(line.file) == "program"]
    return _last(own) or _last(line for line in outside if line.package == outside[0].package)


def is_own(file: str) -> bool:
    """Return whether a source file belongs to the program: not to pyctrl, Python or an installed package."""
    return file.endswith(".py") and _owner(file) == "program"


def _last(lines: Iterable[CodeLine]) -> CodeLine | None:
    return next(iter([*lines][-1:]), None)


@cache
def _owner(file: str) -> str:
    """Return "program", "package" for an installed package, or "runtime" for pyctrl, Python and generated code."""
    path = Path(file)
    if path.is_relative_to(_PYCTRL) or file.startswith("<"):
        return "runtime"
    if not _PACKAGES.isdisjoint(path.parts):
        return "package"
    return "runtime" if any(path.is_relative_to(each) for each in _standard_library()) else "program"


@cache
def _standard_library() -> frozenset[Path]:
    import sysconfig  # here: only needed when an error is reported

    return frozenset(Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib"))


def _code_line(frame: FrameType, line: int | None) -> CodeLine:
    module = str(frame.f_globals.get("__name__", ""))
    return CodeLine(frame.f_code.co_filename, line or 0, frame.f_code.co_name, module.partition(".")[0])
