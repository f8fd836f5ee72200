"""Files with what programs were recorded to ask for, as pytest --rbac-record writes them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pyctrl.errors import CommandFailed
from pyctrl.rbac import Asked, read_recording

__all__ = ["read_recordings"]


def read_recordings(files: Iterable[Path]) -> list[Asked]:
    """Read files, one after the other. Raises CommandFailed, or RbacError if one is no recording."""
    found = []
    for file in files:
        try:
            found += read_recording(file.read_text(), str(file))
        except OSError as error:
            raise CommandFailed(f"{file}: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise CommandFailed(f"{file} is no text: {error.reason}") from error
    return found
