"""Flags for packaging: they override [tool.pyctrl]."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pyctrl.cli._packaging_flags import (
    NO_PACKAGING_FLAGS,
    PackagingFlags,
    find_program,
    output_path,
    packaged_program,
)

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
    """A directory of a flag is relative to the current one; the version applies only to the project's own program."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text(SETTINGS)
    (tmp_path / "shop.py").touch()
    assert PackagingFlags(shards="auto").settings(None).shards == "auto"
    settings = PackagingFlags(replicas=0, watch_namespace=("web,shop", "ci")).settings(None)
    assert (settings.program, settings.replicas, settings.image) == ("shop.py", 0, "shop:1")
    assert settings.watch_namespaces == ("web", "shop", "ci")
    assert output_path(Path("out"), settings, settings.chart_dir) == Path("out")
    assert output_path(None, replace(settings, root=tmp_path), settings.chart_dir) == tmp_path / "chart"
    assert NO_PACKAGING_FLAGS.settings("shop.py").version == "1.2.0"
    assert NO_PACKAGING_FLAGS.settings("other.module").version == ""


def test_the_program_of_the_project_is_the_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Flags override pyproject.toml; an option in place of the program is a flag of the project's program."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text('[tool.pyctrl]\nprogram = "shop"\nwatch-namespaces = ["web"]\n')
    program, watched = packaged_program(None, ())
    assert (program, list(watched)) == ("shop", ["web"])
    assert packaged_program("other.py", ["a,b"]) == ("other.py", ("a", "b"))
    assert find_program("other.py", ["--a"]) == ("other.py", ["other.py"], ["--a"])
    assert find_program(None, ["--a"]) == ("shop", [], ["--a"])
    assert find_program("--colour", ["blue"]) == ("shop", [], ["--colour", "blue"])
