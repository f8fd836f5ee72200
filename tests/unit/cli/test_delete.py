"""`pyctrl delete`: kinds, which are removed with --yes and otherwise listed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.cli.conftest import Run

NAMED = ("--group", "apps", "--version", "v1", "--kind", "PodSet")


def test_a_kind_is_removed_with_yes_only(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without --yes, the files are listed with the command that removes them."""
    monkeypatch.chdir(tmp_path)
    run("init", "--name", "shop", "--domain", "example.com")
    run("create", "api", *NAMED)
    types = tmp_path / "shop/api/v1/podset.py"
    ran = run("delete", "api", *NAMED)
    assert (ran.code, "would remove shop/api/v1/podset.py\n" in ran.out, types.exists()) == (0, True, True)
    assert "$ pyctrl delete api --group apps --version v1 --kind PodSet --yes\n" in ran.err
    assert "removed shop/api/v1/podset.py\n" in run("delete", "api", *NAMED, "--yes").out
    assert not types.exists()
