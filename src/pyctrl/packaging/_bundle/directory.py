"""The bundle directory on disk: generated files, and files of others, which are part of the bundle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pyctrl.packaging._bundle.contents import read_files
from pyctrl.packaging._bundle.files import DOCKERFILE
from pyctrl.packaging._config.directory import INDEX
from pyctrl.packaging._difference import Difference, generated_differences, indexed

__all__ = ["BundleDirectory"]


@dataclass(frozen=True, slots=True)
class BundleDirectory:
    """A directory of a bundle. Its index, which is not part of the bundle, lists the generated files."""

    path: Path

    def differences(self, wanted: Mapping[str, str], *, force: bool = False) -> list[Difference]:
        """Return the files that differ from the generated ones, sorted by path.

        Args:
            wanted: the generated files, as returned by `bundle`.
            force: replace files that were not generated.

        Raises:
            CommandFailed: a file exists that was not generated.
        """
        return generated_differences(wanted, INDEX, self._place, force=force)

    def contents(self, wanted: Mapping[str, str]) -> dict[str, bytes]:
        """Return the files that the bundle will have: the generated ones, and those of others."""
        owned = indexed(self._place(INDEX))
        there = read_files(self.path) if self.path.is_dir() else {}
        others = {path: data for path, data in there.items() if path not in owned and path != INDEX}
        ours = {path: text.encode() for path, text in wanted.items() if path != DOCKERFILE}
        return {**others, **ours}

    def _place(self, path: str) -> Path:
        return self.path.parent / path if path == DOCKERFILE else self.path / path
