"""Writing of generated files to a project directory without overwriting edited ones."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pyctrl._atomic_files import write_atomically
from pyctrl.errors import CommandFailed

__all__ = ["Folder"]

#: Files that are kept as they are if they exist.
SHARED = frozenset({"__init__.py", "README.md", ".dockerignore", ".gitignore", "test_simulation.py"})


@dataclass(frozen=True, slots=True)
class Folder:
    """A directory that generated files are written to."""

    root: Path

    def missing(
        self, files: Mapping[str, str], *, force: bool = False, made: Mapping[str, str] | None = None
    ) -> dict[str, str]:
        """Return the files that have to be written.

        Args:
            files: texts by path.
            force: also overwrite files that differ.
            made: texts by path that were generated before: files with such a text are unedited.

        Raises:
            CommandFailed: files exist and differ; none of them is written.
        """
        wanted = {path: text for path, text in files.items() if self._is_wanted(path, text)}
        before = made or {}
        there = [path for path in wanted if self.text(path) not in (None, before.get(path))]
        if there and not force:
            verb = "exists and differs" if len(there) == 1 else "exist and differ"
            raise CommandFailed(
                f"{', '.join(there)} {verb} from the generated text; nothing was changed, --force overwrites"
            )
        return wanted

    def write(self, files: Mapping[str, str]) -> None:
        """Write files, and create their directories. Raises CommandFailed."""
        for path, text in files.items():
            file = self.root / path
            try:
                write_atomically(file, text)
            except OSError as error:
                raise CommandFailed(f"{file}: {error.strerror}") from error

    def remove(self, paths: Iterable[str]) -> None:
        """Remove files. Raises CommandFailed."""
        for path in paths:
            file = self.root / path
            try:
                file.unlink()
            except OSError as error:
                raise CommandFailed(f"{file}: {error.strerror}") from error

    def differences(self, files: Mapping[str, str]) -> Iterator[str]:
        """Yield the lines of a patch with the changes that writing would make."""
        for path, text in files.items():
            before = self.text(path)
            yield from difflib.unified_diff(
                (before or "").splitlines(keepends=True),
                text.splitlines(keepends=True),
                "/dev/null" if before is None else f"a/{path}",
                f"b/{path}",
            )

    def text(self, path: str) -> str | None:
        """Return the text of a file; None if it does not exist. Raises CommandFailed if it cannot be read."""
        file = self.root / path
        try:
            return file.read_text(encoding="utf-8") if file.exists() else None
        except (OSError, ValueError) as error:
            raise CommandFailed(f"{file} cannot be read: {error}") from error

    def _is_wanted(self, path: str, text: str) -> bool:
        found = self.text(path)
        return found is None or (found != text and Path(path).name not in SHARED)
