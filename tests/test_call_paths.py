"""The call paths in docs/architecture.md keep their maximum length."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parent.parent / "tools" / "call_path.py"


@pytest.mark.slow(reason="starts an API server and a program in processes of their own")
@pytest.mark.parametrize("path", ["event", "write", "run"])
def test_a_path_is_no_longer_than_it_may_be(path: str) -> None:
    """An event and a write pass through few files; `pyctrl run` enters the command line once."""
    traced = subprocess.run([sys.executable, TOOL, path, "--check"], capture_output=True, text=True, check=False)

    assert traced.returncode == 0, f"{traced.stderr}\n{traced.stdout}"
