"""Insertion of classes into an existing source file; its other lines do not change."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence

from pyctrl.scaffold._existing_source import parsed
from pyctrl.scaffold._webhook_templates import AddedClass

__all__ = ["insert_classes"]

_LINE = 120  # characters, as in the generated pyproject.toml


def insert_classes(path: str, text: str, additions: Iterable[AddedClass]) -> str:
    """Return a file with missing classes inserted before its ``__main__`` block, and with their imports.

    Raises:
        CommandFailed: the file is not valid Python.
    """
    for addition in additions:
        tree = parsed(path, text)
        if any(isinstance(node, ast.ClassDef) and node.name == addition.name for node in tree.body):
            continue
        lines = _with_class(text.splitlines(keepends=True), tree, addition.text)
        for module, names in addition.imports.items():
            lines = _with_import(lines, parsed(path, "".join(lines)), module, names)
        text = "".join(lines)
    return text


def _with_class(lines: list[str], tree: ast.Module, text: str) -> list[str]:
    runs = [node for node in tree.body if isinstance(node, ast.If) and "__main__" in ast.dump(node.test)]
    if runs:
        at = runs[-1].lineno - 1
        return [*lines[:at], f"{text}\n\n", *lines[at:]]
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    if lines and not lines[-1].endswith("\n"):
        lines = [*lines[:-1], f"{lines[-1]}\n"]
    return [*lines, f"\n\n{text}"]


def _with_import(lines: list[str], tree: ast.Module, module: str, names: Sequence[str]) -> list[str]:
    """Add names to the import of a module, or a new import where ruff would sort it."""
    found = [node for node in tree.body if isinstance(node, ast.ImportFrom) and not node.level]
    for node in found:
        start, end = node.lineno - 1, node.end_lineno or node.lineno
        has_comments = any("#" in line for line in lines[start:end])
        if node.module == module and not has_comments and all(each.asname is None for each in node.names):
            every = {*names, *(each.name for each in node.names)}
            return [*lines[:start], _import(module, sorted(every, key=_sorted)), *lines[end:]]
    before = [node for node in found if _root(node) == "pyctrl" and (node.module or "") < module]
    every_import = [node for node in tree.body if isinstance(node, ast.ImportFrom | ast.Import)]
    after: list[ast.ImportFrom | ast.Import] = [*before] or every_import
    at = (after[-1].end_lineno or 0) if after else 0
    return [*lines[:at], _import(module, names), *lines[at:]]


def _root(node: ast.ImportFrom) -> str:
    return (node.module or "").partition(".")[0]


def _import(module: str, names: Sequence[str]) -> str:
    line = f"from {module} import {', '.join(names)}\n"
    if len(line) <= _LINE + 1:
        return line
    return "".join([f"from {module} import (\n", *(f"    {name},\n" for name in names), ")\n"])


def _sorted(name: str) -> tuple[int, str]:
    """Return the sort key of an imported name: constants, classes, then the rest, as ruff sorts them."""
    kind = 0 if re.fullmatch(r"[A-Z][A-Z0-9_]+", name) else 1 if name[:1].isupper() else 2
    return (kind, name)
