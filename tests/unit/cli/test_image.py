"""Tests of `pyctrl image build` up to the call of the build tool."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.cli.conftest import Run

PROJECT = """\
[project]
name = "shop"
version = "1"
dependencies = ["pyctrl-runtime~=0.1.0"]

[tool.pyctrl]
program = "shop"
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project, and a build tool that keeps the Dockerfile that it gets."""
    root, tool = tmp_path / "shop", tmp_path / "tool"
    (root / "shop").mkdir(parents=True)
    (root / "shop" / "__init__.py").touch()
    (root / "pyproject.toml").write_text(PROJECT)
    tool.write_text(f'#!/bin/sh\ncat > "{tmp_path}/Dockerfile"\n')
    tool.chmod(0o755)
    monkeypatch.setenv("CONTAINER_TOOL", str(tool))
    monkeypatch.chdir(root)
    return root


def test_the_context_is_prepared(run: Run, project: Path) -> None:
    """A missing .dockerignore is written, and for a missing lock file the command that writes one is printed."""
    told = run("image", "build")
    assert told.code == 0
    assert "COPY . .\n" in (project.parent / "Dockerfile").read_text()
    assert told.err.splitlines()[0] == "wrote .dockerignore"
    assert "!dist/wheels\n" in (project / ".dockerignore").read_text()
    assert "uv pip compile --universal --generate-hashes pyproject.toml -o requirements.txt" in told.err
    (project / ".dockerignore").write_text("mine\n")
    (project / "requirements.txt").write_text("pyctrl-runtime==0.1.0\n")
    assert run("image", "build").err == ""
    assert (project / ".dockerignore").read_text() == "mine\n"


@pytest.mark.slow(reason="it runs pip")
def test_a_wheel_that_cannot_be_made(run: Run, project: Path, tmp_path: Path) -> None:
    """pip's output comes first, then the failed dependency; no image is built."""
    nowhere = (tmp_path / "nowhere").as_uri()
    (project / "pyproject.toml").write_text(PROJECT.replace("pyctrl-runtime~=0.1.0", f"pyctrl-runtime @ {nowhere}"))
    told = run("image", "build")
    assert told.code == 1
    assert f"cannot build a wheel of pyctrl-runtime @ {nowhere}" in told.err
    assert not (tmp_path / "Dockerfile").exists()


def test_what_is_printed_is_not_done(run: Run, project: Path, tmp_path: Path) -> None:
    """The commands are printed to stderr, the one that builds wheels first, and nothing is written."""
    asked = f"pyctrl-runtime @ {(tmp_path / 'runtime').as_uri()}"
    (project / "pyproject.toml").write_text(PROJECT.replace("pyctrl-runtime~=0.1.0", asked))
    told = run("image", "build", "--print")
    assert "COPY dist/wheels /wheels\n" in told.out
    assert [" wheel " in line for line in told.err.splitlines()] == [True, False]
    assert not (project / ".dockerignore").exists()
