"""Writing and validation of bundles."""

from __future__ import annotations

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


def test_from_nothing_to_a_bundle_that_is_valid(run: Run, folder: Path) -> None:
    """The check fails before writing, a new version updates and removes files, and the bundle is valid."""
    assert run("bundle", "--check").code == 1
    made = run("bundle")
    assert (made.code, made.err) == (0, f"warning: {CSV}:24:1: spec.icon: there is no icon [operatorhub]\n")
    assert "created bundle.Dockerfile\n" in made.out
    assert run("bundle", "--check").code == 0

    next_one = run(
        "bundle", "--version", "0.2.0", "--replaces", "0.1.0", "--channels", "stable,fast", "--metrics", "off"
    )
    assert f"updated {CSV}\n" in next_one.out
    assert "removed bundle/manifests/podset-controller-manager-metrics-service_v1_service.yaml\n" in next_one.out
    text = (folder / CSV).read_text()
    assert "  replaces: podset.v0.1.0\n" in text
    assert "image: podset:0.2.0\n" in text

    judged = run("bundle", "validate", "--select-optional", "suite=operatorframework")
    assert (judged.code, judged.out) == (0, "bundle is valid\n")


def test_files_of_others_are_left_alone_and_checked(run: Run, folder: Path) -> None:
    """A foreign object that bundles cannot contain is an error; a foreign file is replaced only with --force."""
    other = folder / "bundle" / "manifests" / "more.yaml"
    other.parent.mkdir(parents=True)
    other.write_text(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: web, image: web}]}\n"
    )
    refused = run("bundle")
    assert refused.code == 1
    assert "bundle/manifests/more.yaml: a bundle cannot contain a Pod" in refused.err
    assert not (folder / CSV).exists()

    other.write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more}\n")
    (folder / CSV).write_text("mine\n")
    assert "was not written by this command: move it away" in run("bundle").err
    assert run("bundle", "--force").code == 0
    assert other.exists()
