"""A chart on a disk: what is stale, missing or left over of it, and what its author has changed and keeps."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pyctrl.packaging._chart.chart import CHART, VALUES, Chart
from pyctrl.packaging._chart.values import read_values, with_missing
from pyctrl.packaging._difference import Difference, not_generated, read_text, stale

__all__ = ["ChartDirectory"]

#: Names the files that were written, one in a line; of those that people edit, with what was written.
INDEX = ".pyctrl-chart"

_EDITED = (CHART, VALUES)


@dataclass(frozen=True, slots=True)
class ChartDirectory:
    """A directory with a chart, most files of which are ours.

    Ours are those that its index names. They become what they should be, and go when nobody wants them any more. Files
    that others put beside them are left alone, templates of theirs too. ``Chart.yaml`` and ``values.yaml`` are their
    author's from the first change on: what is in them stays, and values that are new are added.
    """

    path: Path

    def differences(self, chart: Chart, *, force: bool = False) -> list[Difference]:
        """Return the files that are not as they should be, in the order of their names.

        Args:
            chart: what should be there.
            force: take over files that somebody else has written or changed.

        Raises:
            CommandFailed: a file that should be there is somebody else's; or values.yaml is none.
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
        """Return the files that their author has changed, as they should be."""
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
        """Return the files of the index, and of those that people edit what was written."""
        lines = (line.partition(" ") for line in (self._read(INDEX) or "").splitlines())
        return {path: digest for path, _, digest in lines}

    def _read(self, path: str) -> str | None:
        return read_text(self.path / path)


def _index(wanted: Mapping[str, str], edited: Mapping[str, str]) -> str:
    lines = [f"{path} {_digest(wanted[path])}" if path in _EDITED else path for path in wanted if path not in edited]
    return "".join(f"{line}\n" for line in lines)


def _digest(text: str) -> str:
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
