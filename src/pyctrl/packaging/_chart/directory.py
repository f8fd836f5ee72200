"""The chart directory on disk: generated files, and the author's edits of Chart.yaml and values.yaml."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pyctrl.packaging._chart.chart import CHART, VALUES, Chart
from pyctrl.packaging._chart.values import read_values, with_missing
from pyctrl.packaging._difference import Difference, not_generated, read_text, stale

__all__ = ["ChartDirectory"]

#: The index file: the paths of generated files, one per line; those that users edit with their digest.
INDEX = ".pyctrl-chart"

_EDITED = (CHART, VALUES)


@dataclass(frozen=True, slots=True)
class ChartDirectory:
    """A directory with a chart, most files of which are generated.

    The generated files are listed in its index. They are updated, and removed when they are no longer generated. Other
    files, such as additional templates, are left alone. Once edited, ``Chart.yaml`` and ``values.yaml`` belong to their
    author: their content stays, and new values are added.
    """

    path: Path

    def differences(self, chart: Chart, *, force: bool = False) -> list[Difference]:
        """Return the files that differ from the generated ones, sorted by path.

        Args:
            chart: the generated chart.
            force: replace files that were not generated, or were edited.

        Raises:
            CommandFailed: a file exists that was not generated, or values.yaml is invalid.
        """
        owned = self._owned()
        wanted = chart.texts()
        edited = {} if force else self._edited(chart, wanted, owned)
        if VALUES in edited:
            wanted = chart.texts(read_values(edited[VALUES], str(self.path / VALUES)))
        for path, text in wanted.items():
            if path not in owned and path not in _EDITED and not force:
                self._check_free(path, text)
        texts: dict[str, str | None] = dict.fromkeys(owned.keys() - wanted.keys())
        texts |= {**wanted, **edited, INDEX: _index(wanted, edited)}
        return stale(Difference(self.path / path, self._read(path), text) for path, text in sorted(texts.items()))

    def _edited(self, chart: Chart, wanted: Mapping[str, str], owned: Mapping[str, str]) -> dict[str, str]:
        """Return the files that their author has edited, with new values added."""
        found = {}
        for path in _EDITED:
            current = self._read(path)
            if current is not None and current != wanted[path] and _digest(current) != owned.get(path):
                found[path] = current
        if VALUES in found:
            found[VALUES] = with_missing(found[VALUES], chart.values, str(self.path / VALUES))
        return found

    def _check_free(self, path: str, text: str) -> None:
        if self._read(path) not in (None, text):
            raise not_generated(self.path / path)

    def _owned(self) -> dict[str, str]:
        """Return the files of the index, with the digests of those that users edit."""
        lines = (line.partition(" ") for line in (self._read(INDEX) or "").splitlines())
        return {path: digest for path, _, digest in lines}

    def _read(self, path: str) -> str | None:
        return read_text(self.path / path)


def _index(wanted: Mapping[str, str], edited: Mapping[str, str]) -> str:
    lines = [f"{path} {_digest(wanted[path])}" if path in _EDITED else path for path in wanted if path not in edited]
    return "".join(f"{line}\n" for line in lines)


def _digest(text: str) -> str:
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
