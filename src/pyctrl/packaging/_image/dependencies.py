"""The Python dependencies of a program's image, including those that an image build cannot reach."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyctrl._distribution import DISTRIBUTION
from pyctrl.errors import CommandFailed

__all__ = ["LOCK", "Dependencies", "read_dependencies"]

LOCK = "requirements.txt"
_REQUIREMENT = re.compile(
    r"\s*(?P<name>[\w.-]+)\s*(?P<extras>\[[^\]]*\])?\s*(@\s*(?P<url>[^\s;]+))?(?P<rest>.*)", re.DOTALL
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependencies:
    """The distributions that are installed into an image.

    Attributes:
        requirements: the requirements of the program; empty if there is a lock file.
        unreachable: direct references to local files or version control, which an image build cannot reach (slim images
            have no git). Wheels are built from them beforehand.
        has_lock: whether there is a requirements.txt.
        has_hashes: whether the requirements.txt has hashes.
        is_project: whether the program belongs to a project that pip can install.
        is_dynamic: whether only the project's build backend knows its dependencies.
    """

    requirements: tuple[str, ...]
    unreachable: tuple[str, ...] = ()
    has_lock: bool = False
    has_hashes: bool = False
    is_project: bool = False
    is_dynamic: bool = False

    @property
    def lock_command(self) -> str:
        """The command that writes a lock file for a project."""
        return lock_command(self.names)

    @property
    def names(self) -> list[str]:
        """The distributions that are `unreachable`."""
        return [_parsed(each)["name"] or "" for each in self.unreachable]


def lock_command(left_out: Sequence[str]) -> str:
    """Return the command that writes a lock file without the distributions that come as wheels."""
    without = "".join(f"--no-emit-package {name} " for name in left_out)
    return f"uv pip compile --universal --generate-hashes {without}pyproject.toml -o {LOCK}"


def read_dependencies(context: Path, runtime: str) -> Dependencies:
    """Read the dependencies of a program from its pyproject.toml and requirements.txt; by default pyctrl alone.

    Args:
        context: the directory of the program.
        runtime: the requirement for pyctrl, for a program that does not declare it.

    Raises:
        CommandFailed: a file cannot be read, or the lock file has an entry that an image build cannot install.
    """
    found, lock = _project(context / "pyproject.toml"), _text(context / LOCK)
    project: Mapping[str, Any] = found or {}
    declared, is_dynamic = project.get("dependencies", []), "dependencies" in project.get("dynamic", [])
    names = {_normalized(each) for each in (project.get("name"), *(_parsed(each)["name"] for each in declared))}
    own = [] if DISTRIBUTION in names or is_dynamic else [runtime]
    unreachable = tuple(each for each in [*declared, *own] if _is_unreachable(each))
    if lock is not None:
        _check_lock(lock, [each for each in own if each not in unreachable])
    return Dependencies(
        requirements=() if lock is not None else tuple(map(_by_name, [*declared, *own])),
        unreachable=unreachable,
        has_lock=lock is not None,
        has_hashes="--hash=" in (lock or ""),
        is_project=found is not None,
        is_dynamic=is_dynamic,
    )


def _project(file: Path) -> Mapping[str, Any] | None:
    """Return the table ``[project]``; None if there is none."""
    text = _text(file)
    try:
        project: Mapping[str, Any] | None = tomllib.loads(text or "").get("project")
    except ValueError as error:
        raise CommandFailed(f"{file}: {error}") from error
    return project


def _text(file: Path) -> str | None:
    try:
        return file.read_text(encoding="utf-8") if file.is_file() else None
    except (OSError, ValueError) as error:
        raise CommandFailed(f"{file} cannot be read: {error}") from error


def _parsed(asked: str) -> dict[str, str | None]:
    found = _REQUIREMENT.fullmatch(asked)
    return found.groupdict() if found else {"name": asked, "extras": None, "url": None, "rest": ""}


def _normalized(name: str | None) -> str:
    return re.sub(r"[-_.]+", "-", name or "").lower()


def _is_unreachable(asked: str) -> bool:
    url = _parsed(asked)["url"]
    return url is not None and not url.startswith(("http://", "https://"))


def _by_name(asked: str) -> str:
    """Return a requirement without the URL of a distribution that is installed from a wheel."""
    if not _is_unreachable(asked):
        return asked
    parts = _parsed(asked)
    return f"{parts['name']}{parts['extras'] or ''}{parts['rest'] or ''}".strip()


def _check_lock(lock: str, own: Sequence[str]) -> None:
    lines = [line.strip() for line in lock.splitlines()]
    locked = {_normalized(_parsed(line)["name"]) for line in lines if line and line[0].isalnum()}
    for line in lines:
        if line and line[0].isalnum() and _is_unreachable(line):
            raise CommandFailed(
                f"{LOCK} has {line!r}, which an image build cannot reach. Keep it in pyproject.toml only, and lock the "
                f"other dependencies: {lock_command([_parsed(line)['name'] or ''])}"
            )
    if own and DISTRIBUTION not in locked:
        raise CommandFailed(f"{LOCK} lacks {DISTRIBUTION}, which runs the program; add {own[0]} and lock again")
