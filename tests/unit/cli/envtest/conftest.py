"""The directory of `pyctrl envtest`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.cli.conftest import Run


@pytest.fixture
def assets(run: Run, tmp_path: Path) -> Path:
    """The directory that `pyctrl envtest` prints."""
    told = run("envtest", "--bin-dir", tmp_path / "assets")
    assert (told.code, told.err) == (0, "")
    return Path(told.out.strip())
