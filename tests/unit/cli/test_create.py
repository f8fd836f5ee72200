"""`pyctrl create`: the arguments of kinds and webhooks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.cli.conftest import Run

API = ("create", "api", "--group", "apps", "--version", "v1", "--kind", "PodSet")
WEBHOOK = ("create", "webhook", "--group", "apps", "--version", "v1", "--kind", "PodSet")


@pytest.fixture(autouse=True)
def project(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a new project the current directory."""
    monkeypatch.chdir(tmp_path)
    run("init", "--name", "shop", "--domain", "example.com")
    return tmp_path


def test_a_kind_has_types_controller_and_test(run: Run, project: Path) -> None:
    """Each created file is reported, and stderr names the next step."""
    ran = run(*API)
    assert ran.code == 0
    for file in ("shop/api/v1/podset.py", "shop/controllers/podset.py", "tests/test_podset.py"):
        assert f"wrote {file}\n" in ran.out
        assert (project / file).is_file()
    assert ran.err.endswith("$ pyctrl dev\n")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ((*API, "--no-resource"), 1, "the controller of PodSet needs its types"),
        ((*API, "--image", "web:1", "--no-controller"), 1, "--image needs types and controller"),
        (API[:-2], 2, "--kind KIND is missing"),
        (WEBHOOK, 1, "PodSet"),
    ],
)
def test_what_cannot_be_created_is_an_error(
    run: Run, project: Path, arguments: tuple[str, ...], code: int, message: str
) -> None:
    """Invalid arguments are errors, and the project is unchanged."""
    before = sorted(project.rglob("*"))
    ran = run(*arguments)
    assert (ran.code, message in ran.err) == (code, True)
    assert sorted(project.rglob("*")) == before
