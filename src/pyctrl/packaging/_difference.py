"""A file that is not as it should be, and what is asked of files before they are written."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pyctrl._atomic_files import write_atomically
from pyctrl.errors import CommandFailed

__all__ = ["Difference", "not_generated", "read_text", "stale"]


@dataclass(frozen=True, slots=True)
class Difference:
    """A file that is not as it should be."""

    path: Path
    before: str | None  # None: it is missing
    after: str | None  # None: it should not be there

    @property
    def verb(self) -> str:
        """What writing it does."""
        if self.before is None:
            return "created"
        return "removed" if self.after is None else "updated"

    def unified(self) -> str:
        """Return it as `diff -u` shows it."""
        before, after = [(text or "").splitlines(keepends=True) for text in (self.before, self.after)]
        old, new = [str(self.path) if text is not None else "/dev/null" for text in (self.before, self.after)]
        return "".join(difflib.unified_diff(before, after, old, new))

    def write(self) -> None:
        """Make it so."""
        if self.after is None:
            self.path.unlink(missing_ok=True)
            _remove_empty(self.path.parent)
        else:
            write_atomically(self.path, self.after)


def _remove_empty(directory: Path) -> None:
    while directory.is_dir() and not any(directory.iterdir()):
        directory.rmdir()
        directory = directory.parent


def stale(found: Iterable[Difference]) -> list[Difference]:
    """Return those of the files that writing changes."""
    return [each for each in found if each.before != each.after]


def read_text(path: Path) -> str | None:
    """Return what a file has; None: there is none. Raises CommandFailed: it cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise CommandFailed(f"{path}: {error}") from error


def not_generated(path: Path) -> CommandFailed:
    """Return what to raise where a file would be written over that is not ours."""
    return CommandFailed(
        f"{path} is there, and was not written by this command: move it away, or let it be replaced with --force"
    )
