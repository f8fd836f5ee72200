"""Differences between generated files and the files on disk."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pyctrl._atomic_files import write_atomically
from pyctrl.errors import CommandFailed

__all__ = ["Difference", "generated_differences", "indexed", "not_generated", "read_text", "stale"]


@dataclass(frozen=True, slots=True)
class Difference:
    """A file whose content differs from the generated content."""

    path: Path
    before: str | None  # None: the file does not exist
    after: str | None  # None: the file is to be removed

    @property
    def verb(self) -> str:
        """What `write` does to the file, as a past participle for messages."""
        if self.before is None:
            return "created"
        return "removed" if self.after is None else "updated"

    def unified(self) -> str:
        """Return the difference in the format of `diff -u`."""
        before, after = [(text or "").splitlines(keepends=True) for text in (self.before, self.after)]
        old, new = [str(self.path) if text is not None else "/dev/null" for text in (self.before, self.after)]
        return "".join(difflib.unified_diff(before, after, old, new))

    def write(self) -> None:
        """Write or remove the file; directories that become empty are removed, too."""
        if self.after is None:
            self.path.unlink(missing_ok=True)
            _remove_empty(self.path.parent)
        else:
            write_atomically(self.path, self.after)


def _remove_empty(directory: Path) -> None:
    while directory.is_dir() and not any(directory.iterdir()):
        directory.rmdir()
        directory = directory.parent


def generated_differences(
    wanted: Mapping[str, str], index: str, place: Callable[[str], Path], *, force: bool
) -> list[Difference]:
    """Return the generated files that differ, sorted by path. Files that are no longer generated are to be removed.

    Args:
        wanted: the texts of the generated files by path.
        index: the path of the index file, which lists the generated files.
        place: returns the file of a path.
        force: replace files that were not generated.

    Raises:
        CommandFailed: a file exists that was not generated.
    """
    owned = indexed(place(index))
    texts = {**dict.fromkeys(owned), **wanted, index: "".join(f"{path}\n" for path in wanted)}
    found = {path: Difference(place(path), read_text(place(path)), text) for path, text in sorted(texts.items())}
    for path, each in found.items():
        if each.before not in {None, each.after} and path not in {*owned, index} and not force:
            raise not_generated(each.path)
    return stale(found.values())


def indexed(index: Path) -> set[str]:
    """Return the paths in an index file; none if there is no such file."""
    return set((read_text(index) or "").splitlines()) - {""}


def stale(found: Iterable[Difference]) -> list[Difference]:
    """Return the files that differ."""
    return [each for each in found if each.before != each.after]


def read_text(path: Path) -> str | None:
    """Return the text of a file; None if it does not exist. Raises CommandFailed if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise CommandFailed(f"{path}: {error}") from error


def not_generated(path: Path) -> CommandFailed:
    """Return the error for a file that would be overwritten but was not generated."""
    return CommandFailed(f"{path} exists and was not written by this command: move it away, or replace it with --force")
