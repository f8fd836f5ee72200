"""Atomic file writes."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

__all__ = ["write_atomically", "write_bytes_atomically"]


def write_atomically(path: Path, text: str) -> None:
    """Write a file atomically: after a full disk or Ctrl-C it has either the old or the new text.

    Parent directories are created. An existing file keeps its mode. Of a symbolic link, the target is written. A file
    that is not regular, such as /dev/stdout, is written to directly.

    Raises:
        OSError: the file cannot be written; its old text is unchanged.
    """
    write_bytes_atomically(path, text.encode())


def write_bytes_atomically(path: Path, data: bytes) -> None:
    """Write bytes as `write_atomically` does. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and not path.is_file():
        path.write_bytes(data)
        return
    target = path.resolve()
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        temporary.write_bytes(data)
        if target.exists():
            shutil.copymode(target, temporary)
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
