"""Atomic writes of files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pyctrl._atomic_files import write_atomically


def test_a_file_is_written_below_directories_that_are_made(tmp_path: Path) -> None:
    """The write creates missing directories and leaves no other file."""
    write_atomically(tmp_path / "a" / "b.yaml", "text: ü\n")
    assert (tmp_path / "a" / "b.yaml").read_text(encoding="utf-8") == "text: ü\n"
    assert [each.name for each in (tmp_path / "a").iterdir()] == ["b.yaml"]


def test_what_fails_leaves_what_was_there(tmp_path: Path) -> None:
    """A failed write, here of text that cannot be encoded, leaves the old file."""
    file = tmp_path / "a"
    file.write_text("old")
    with pytest.raises(UnicodeEncodeError):
        write_atomically(file, "x" * 100_000 + "\udc80")
    assert (file.read_text(), list(tmp_path.iterdir())) == ("old", [file])


def test_modes_and_links_stay(tmp_path: Path) -> None:
    """A script stays executable, and a symbolic link is followed."""
    file, link = tmp_path / "a", tmp_path / "b"
    file.write_text("old")
    file.chmod(0o750)
    link.symlink_to(file)
    write_atomically(link, "new")
    assert (link.is_symlink(), file.read_text(), file.stat().st_mode & 0o777) == (True, "new", 0o750)


def test_a_directory_or_a_device_is_not_replaced(tmp_path: Path) -> None:
    """Directories and devices are not replaced. The test uses a terminal, because root could replace /dev/stdout."""
    ours, theirs = os.openpty()
    try:
        device = Path(os.ttyname(theirs))
        write_atomically(device, "text")
        assert os.read(ours, 100) == b"text"
        assert device.is_char_device()
    finally:
        os.close(ours)
        os.close(theirs)
    with pytest.raises(IsADirectoryError):
        write_atomically(tmp_path, "text")
