"""Places in Python types that a schema is generated from, and the problems found there."""

from __future__ import annotations

import ast
import inspect
import linecache
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from pyctrl._source_excerpts import Excerpt, shown_path
from pyctrl.errors import DefinitionError

__all__ = ["Location", "Problems", "SourceLocation", "definition_error", "source_of"]


_BEGINNING = re.compile(r"(?P<file>\S.*?):(?P<line>\d+) ")


@dataclass(frozen=True, slots=True)
class Location:
    """A class, one of its fields, and the path from the field to a part of its type, such as ``[]``."""

    cls: type[object]
    field: str = ""
    below: str = ""
    #: The classes from the kind to this one, outermost first.
    within: tuple[type[object], ...] = ()

    def part(self, below: str) -> Location:
        """Return the location of a part of the field's type."""
        return replace(self, below=self.below + below)

    def __str__(self) -> str:
        name = ".".join(filter(None, (self.cls.__name__, self.field))) + self.below
        return " ".join(filter(None, (source_of(self.cls).location(self.field), name)))


@dataclass(slots=True)
class Problems:
    """The problems of the types, collected to be reported in one error."""

    found: list[str] = field(default_factory=list)

    def report(self, place: Location, what: str, cure: str = "") -> None:
        """Add a problem: ``what`` continues the sentence after the place, ``cure`` is the remedy."""
        line = f"{place}: {what}" + (f"; {cure}" if cure else "")
        if line not in self.found:
            self.found.append(line)


def definition_error(subject: str, problems: Iterable[str]) -> DefinitionError:
    """Return the error for problems that begin with their place, each with its source line."""
    lines, excerpts = list(problems), []
    for problem in lines:
        found = _BEGINNING.match(problem)
        source = Excerpt(found["file"], int(found["line"])).source if found else ""
        excerpts.append("" if source in excerpts else source)
    return DefinitionError(subject, lines, excerpts)


@dataclass(frozen=True, slots=True)
class SourceLocation:
    """Source location of a class; empty when there is no source (a class created by a call or on a console)."""

    file: str = ""
    line: int = 0
    #: The line of each field.
    lines: Mapping[str, int] = field(default_factory=dict)
    docstrings: Mapping[str, str] = field(default_factory=dict)

    def location(self, name: str = "") -> str:
        """Return ``file:line`` of the class or of a field; "" if unknown."""
        return f"{self.file}:{self.lines.get(name, self.line)}" if self.file else ""


def source_of(cls: type[object]) -> SourceLocation:
    """Return the source location of a class; a file is read once, and again when it was saved since."""
    try:
        file = inspect.getsourcefile(cls)
    except (OSError, TypeError):
        return SourceLocation()
    found = _classes(file, _saved(file)).get(cls.__qualname__) if file else None
    return found or SourceLocation()


def _saved(file: str) -> int:
    """Return the modification time of a file: `pyctrl dev` reads it repeatedly in one process."""
    try:
        return Path(file).stat().st_mtime_ns
    except OSError:  # not a real file, as in doctests
        return 0


@lru_cache
def _classes(file: str, saved: int) -> dict[str, SourceLocation]:
    """Return the classes of a file by their qualified names; the last one of a name, as in Python."""
    if saved:
        linecache.checkcache(file)
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:  # the file has changed since it was imported
        return {}
    return {name: _source(file, node) for name, node in _walk(tree.body, "")}


def _walk(body: list[ast.stmt], within: str) -> Iterator[tuple[str, ast.ClassDef]]:
    for statement in body:
        if isinstance(statement, ast.ClassDef):
            yield within + statement.name, statement
            yield from _walk(statement.body, f"{within}{statement.name}.")
        elif isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _walk(statement.body, f"{within}{statement.name}.<locals>.")
        elif isinstance(statement, ast.If | ast.With | ast.Try):
            yield from _walk(statement.body, within)


def _source(file: str, node: ast.ClassDef) -> SourceLocation:
    lines: dict[str, int] = {}
    docstrings: dict[str, str] = {}
    for statement, following in zip(node.body, [*node.body[1:], None], strict=True):
        if not (isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)):
            continue
        lines[statement.target.id] = statement.lineno
        if isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant):
            docstrings[statement.target.id] = str(following.value.value)
    return SourceLocation(shown_path(file), node.lineno, lines, docstrings)
