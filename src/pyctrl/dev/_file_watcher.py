"""The files that a program is made of, and whether somebody has saved one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from pathlib import Path

from pyctrl.program import ProgramModule

__all__ = ["FileWatcher", "Fingerprint", "python_files"]

#: What tells that a file is another: when it was written, in nanoseconds, and its bytes.
Fingerprint = tuple[int, int]

DEBOUNCE_SECONDS = 0.05  # an editor may empty a file first and write it then


class FileWatcher:
    """Some files, looked at again and again: without threads, and on every file system.

    Args:
        which: the files there are now; asked at each look.
        every: how long between two looks.
    """

    def __init__(self, which: Callable[[], Iterable[Path]], *, every: timedelta) -> None:
        self._which = which
        self._seconds = every.total_seconds()
        self._seen = self.look()

    def look(self) -> Mapping[Path, Fingerprint]:
        """Return what there is now."""
        return {file: found for file in sorted(set(self._which())) if (found := _fingerprint(file)) is not None}

    def accept(self, before: Mapping[Path, Fingerprint]) -> None:
        """Take what is there for seen, but not what was saved since ``before``, a look of then."""
        self._seen = {file: before.get(file, found) for file, found in self.look().items()}

    async def change(self) -> set[Path]:
        """Wait until files have changed, come or gone, and are not being written any more; gives which."""
        while True:
            await asyncio.sleep(self._seconds)
            if self.look() != self._seen:
                return await self._settled()

    async def _settled(self) -> set[Path]:
        found = self.look()
        while True:
            await asyncio.sleep(DEBOUNCE_SECONDS)
            again = self.look()
            if again == found:
                changed = {file for file in found.keys() | self._seen.keys() if found.get(file) != self._seen.get(file)}
                self._seen = found
                return changed
            found = again


def python_files(place: ProgramModule, *, also_new: bool) -> set[Path]:
    """Return the files of a program's own modules, and all of a package: `setup_package` finds what is new in it.

    Args:
        place: of the program.
        also_new: also those beside a program that is a file, which it may import.
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
    except OSError:  # gone, or just being replaced
        return None
    return found.st_mtime_ns, found.st_size
