"""Watching the files of a program for changes, by polling."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from pathlib import Path

from pyctrl.program import ProgramModule

__all__ = ["FileWatcher", "Fingerprint", "python_files"]

#: Modification time in nanoseconds and size in bytes.
Fingerprint = tuple[int, int]

DEBOUNCE_SECONDS = 0.05  # an editor may truncate a file before it writes it


class FileWatcher:
    """Polls files for changes: without threads, and on every file system.

    Args:
        files: returns the current files; called at each poll.
        interval: the time between two polls.
    """

    def __init__(self, files: Callable[[], Iterable[Path]], *, interval: timedelta) -> None:
        self._files = files
        self._seconds = interval.total_seconds()
        self._seen = self.scan()

    def scan(self) -> Mapping[Path, Fingerprint]:
        """Return the fingerprints of the current files."""
        return {file: found for file in sorted(set(self._files())) if (found := _fingerprint(file)) is not None}

    def accept(self, before: Mapping[Path, Fingerprint]) -> None:
        """Mark the current files as seen, except those saved since the earlier scan ``before``."""
        self._seen = {file: before.get(file, found) for file, found in self.scan().items()}

    async def wait_for_change(self) -> set[Path]:
        """Wait until files were changed, added or removed, and writing has stopped; return them."""
        while True:
            await asyncio.sleep(self._seconds)
            if self.scan() != self._seen:
                return await self._wait_until_stable()

    async def _wait_until_stable(self) -> set[Path]:
        found = self.scan()
        while True:
            await asyncio.sleep(DEBOUNCE_SECONDS)
            again = self.scan()
            if again == found:
                changed = {file for file in found.keys() | self._seen.keys() if found.get(file) != self._seen.get(file)}
                self._seen = found
                return changed
            found = again


def python_files(place: ProgramModule, *, also_new: bool) -> set[Path]:
    """Return the files of a program's own modules, and all files of a package, as `setup_package` imports new ones.

    Args:
        place: the program's module.
        also_new: whether to include files beside a program that is a single file, which may import them.
    """
    files = set(place.own_modules().values())
    if place.file is not None:
        files.add(place.file)
    if also_new and place.folder is not None:
        files.update(place.folder.glob("*.py"))
    files.update(place.package_files())
    return files


def _fingerprint(file: Path) -> Fingerprint | None:
    try:
        found = file.stat()
    except OSError:  # removed, or being replaced
        return None
    return found.st_mtime_ns, found.st_size
