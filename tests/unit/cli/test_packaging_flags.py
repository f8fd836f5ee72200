"""Flags for packaging: they override [tool.pyctrl]."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyctrl.cli._packaging_flags import NO_PACKAGING_FLAGS, PackagingFlags

SETTINGS = """\
[project]
name = "shop"
version = "1.2.0"
[tool.pyctrl]
program = "shop.py"
replicas = 2
image = "shop:1"
"""


def test_a_flag_overrides_its_setting_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A directory is relative to the current one; the version applies only to the project's own program."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text(SETTINGS)
    (tmp_path / "shop.py").touch()
    settings = PackagingFlags(replicas=0, config_dir=Path("out")).settings(None)
    assert (settings.program, settings.replicas, settings.image) == ("shop.py", 0, "shop:1")
    assert settings.config_dir == str(tmp_path / "out")
    assert NO_PACKAGING_FLAGS.settings("shop.py").version == "1.2.0"
    assert NO_PACKAGING_FLAGS.settings("other.module").version == ""
