"""`pyctrl helm`: a chart in a directory, and the check that the chart is up to date."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.cli.conftest import Run

PODSET = Path(__file__).parents[3] / "examples" / "podset"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text(
        f'[tool.pyctrl]\nprogram = "{PODSET.as_posix()}"\nimage = "registry.example/podset:0.1.0"\n'
    )
    return tmp_path


def test_a_chart_is_written_and_checked(run: Run, folder: Path) -> None:
    """The check lists missing files without a chart, succeeds after writing, and fails after the program changes."""
    before = run("helm", "--check")
    assert before.code == 1
    assert all(line.startswith("missing chart/") for line in before.out.splitlines())
    assert before.err.endswith(" files are out of date; update with: pyctrl helm\n")

    made = run("helm")
    assert (made.code, made.err) == (0, "")
    assert "created chart/templates/crd/apps.jicki.cn_podsets.yaml\n" in made.out
    assert 'appVersion: "0.1.0"\n' in (folder / "chart/Chart.yaml").read_text()
    assert run("helm", "--check") == type(made)(0, "", "")

    later = run("helm", "--check", "--replicas", "2")
    assert later.code == 1
    assert "-replicas: 1\n+replicas: 2\n" in later.out


def test_a_chart_may_be_elsewhere(run: Run, folder: Path) -> None:
    """`--output-dir` is the directory of the chart, also for a program that is given as argument."""
    ran = run("helm", PODSET, "--output-dir", "charts/sets", "--name", "sets")
    assert (ran.code, ran.err) == (0, "")
    assert "name: sets\n" in (folder / "charts/sets/Chart.yaml").read_text()
    assert 'define "sets.fullname"' in (folder / "charts/sets/templates/_helpers.tpl").read_text()
