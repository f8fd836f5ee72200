"""The table ``[tool.pyctrl]`` of pyproject.toml, and the program that it names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyctrl.errors import CommandFailed

__all__ = ["program_of", "program_path", "read_pyproject"]

FILE = "pyproject.toml"


def read_pyproject(start: Path) -> tuple[Path, dict[str, Any]] | None:
    """Read the nearest pyproject.toml that has ``[tool.pyctrl]``, in a directory or above; None if there is none.

    Raises:
        CommandFailed: the file is not valid TOML.
    """
    for directory in (start, *start.parents):
        document = _read(directory / FILE)
        if document is not None and document.get("tool", {}).get("pyctrl") is not None:
            return directory / FILE, document
    return None


def program_of(directory: Path) -> str | None:
    """Return the program that the pyproject.toml of this directory names; None if it names none.

    Raises:
        CommandFailed: the file is not valid TOML.
    """
    document = _read(directory / FILE) or {}
    program = document.get("tool", {}).get("pyctrl", {}).get("program")
    if not isinstance(program, str) or not program or Path(program) == Path():  # "." would name itself
        return None
    return program_path(program, directory)


def program_path(program: str, root: Path) -> str:
    """Return a program with the path of its file or directory, which is relative to ``root``; a module unchanged."""
    place, _, function = program.partition(":")
    found = root / place
    place = str(found) if found.exists() else place
    return f"{place}:{function}" if function else place


def _read(file: Path) -> dict[str, Any] | None:
    if not file.is_file():
        return None
    import tomllib  # here: a program that is a file needs none

    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CommandFailed(f"{file}: {error}") from error
