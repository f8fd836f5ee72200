"""Files that are written as a whole or not at all."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

__all__ = ["write_atomically"]


def write_atomically(path: Path, text: str) -> None:
    """Write a file at once: after a full disk or Ctrl-C too it has the old text or the new one.

    Directories are made. A file that is there keeps its mode; of a link, what it leads to is written; what is no
    regular file, such as /dev/stdout, is written to as it is.

    Raises:
        OSError: it cannot be written; what was there is still there.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8")
        return
    target = path.resolve()
    made = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        made.write_text(text, encoding="utf-8")
        if target.exists():
            shutil.copymode(target, made)
        made.replace(target)
    except BaseException:
        made.unlink(missing_ok=True)
        raise
