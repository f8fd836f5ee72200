"""Fingerprints in a file."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

from pyctrl._atomic_files import write_bytes_atomically
from pyctrl.manager._fingerprints.store import Fingerprints

__all__ = ["FileFingerprints"]


class FileFingerprints(Fingerprints):
    """Keeps fingerprints in a file, on a volume that outlives the pod. The other options are those of `Fingerprints`.

    The file is replaced atomically. Without a volume it is lost with the pod, and all requests run.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        verify_within: timedelta = timedelta(hours=10),
        interval: timedelta = timedelta(minutes=1),
        code: str = "",
    ) -> None:
        super().__init__(verify_within=verify_within, interval=interval, code=code)
        self.path: Path = Path(path)

    async def load(self) -> bytes | None:
        """Return the content of the file. Raises OSError."""
        try:
            return self.path.read_bytes()
        except FileNotFoundError:
            return None

    async def save(self, data: bytes) -> None:
        """Replace the file. Raises OSError."""
        write_bytes_atomically(self.path, data)

    def __repr__(self) -> str:
        return f"FileFingerprints({str(self.path)!r})"
