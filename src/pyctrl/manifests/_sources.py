"""What only the source text of a class says: lines, and the docstrings below its fields."""

from __future__ import annotations

import ast
import inspect
import os
import textwrap
from dataclasses import dataclass, field

__all__ = ["Source", "source_of"]


@dataclass(frozen=True, slots=True)
class Source:
    """Where a class is written; empty when its text is not at hand (made by a call, or typed into a console)."""

    file: str = ""
    line: int = 0
    #: The line of each field, from the first one of the class.
    lines: dict[str, int] = field(default_factory=dict)
    docstrings: dict[str, str] = field(default_factory=dict)

    def location(self, name: str = "") -> str:
        """Return ``file:line`` of the class or of a field, and "" when nobody knows."""
        return f"{self.file}:{self.line + self.lines.get(name, 0)}" if self.file else ""


_READ: dict[type[object], Source] = {}


def source_of(cls: type[object]) -> Source:
    """Return the source of a class, which is read once."""
    if cls not in _READ:
        _READ[cls] = _read(cls)
    return _READ[cls]


def _read(cls: type[object]) -> Source:
    try:
        text, line = inspect.getsourcelines(cls)
        file = inspect.getsourcefile(cls) or ""
        tree = ast.parse(textwrap.dedent("".join(text)))
    except (OSError, TypeError, SyntaxError):
        return Source()
    body = tree.body[0].body if tree.body and isinstance(tree.body[0], ast.ClassDef) else []
    lines: dict[str, int] = {}
    docstrings: dict[str, str] = {}
    for statement, following in zip(body, [*body[1:], None], strict=False):
        if not (isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)):
            continue
        lines[statement.target.id] = statement.lineno - 1
        if isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant):
            docstrings[statement.target.id] = str(following.value.value)
    return Source(_shown(file), line, lines, docstrings)


def _shown(file: str) -> str:
    """Name a file from the working directory, if it is below."""
    relative = os.path.relpath(file)
    return file if relative.startswith("..") else relative
