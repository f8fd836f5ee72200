"""Tests of `pyctrl bundle` and `pyctrl bundle validate`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.cli.bundle._project import CSV, PODSET
from tests.unit.cli.conftest import Run


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text(
        f'[project]\nname = "podset"\nversion = "0.1.0"\n[tool.pyctrl]\nprogram = "{PODSET.as_posix()}"\n'
        '[tool.pyctrl.bundle]\nmin-kube-version = "1.30.0"\nprovider = {name = "Example"}\n'
    )
    return tmp_path


def test_what_is_wrong_is_told_for_people_and_programs(run: Run, folder: Path) -> None:
    """Problems have file, line and field; optional rules do not change the exit code."""
    run("bundle")
    path = folder / CSV
    path.write_text(path.read_text().replace("minKubeVersion: 1.30.0", "minKubeVersion: latest"))
    told = run("bundle", "validate")
    assert (told.code, told.out) == (1, "bundle is not valid\n")
    assert ": spec.minKubeVersion: expected a version, such as 1.30.0; got 'latest'\n" in told.err
    answer = json.loads(run("bundle", "validate", "bundle", "-o", "json").out)
    assert (answer["valid"], [each["path"] for each in answer["objections"]]) == (False, ["spec.minKubeVersion"])

    path.write_text(path.read_text().replace("latest", "1.30.0").replace("    name: Example\n", "    url: http://a\n"))
    assert run("bundle", "validate").code == 0
    hub = run("bundle", "validate", "--select-optional", "name=operatorhub")
    assert (hub.code, "spec.provider.name: expected the name of the publisher" in hub.err) == (1, True)


def test_what_cannot_be_done_is_one_line(run: Run, folder: Path) -> None:
    """A missing version, a missing bundle and an unknown suite are one-line errors."""
    (folder / "pyproject.toml").write_text("[tool.pyctrl]\n")
    none = run("bundle", PODSET)
    assert (none.code, none.err) == (
        1, "pyctrl: no version given: set it with --version 0.1.0, or in pyproject.toml: [project] version\n"
    )  # fmt: skip
    assert run("bundle", "validate", "nowhere").err == (
        "pyctrl: nowhere is not a directory: expected a bundle, as pyctrl bundle writes it\n"
    )
    assert run("bundle", "validate", "--select-optional", "name=all").code == 2
