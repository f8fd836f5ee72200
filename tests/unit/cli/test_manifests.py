"""Tests of `pyctrl manifests`: a directory, one file, stdout, and checks."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.unit.cli._manifests import PODSET
from tests.unit.cli.conftest import Run


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text(
        f'[tool.pyctrl]\nprogram = "{PODSET.as_posix()}"\nimage = "registry.example/podset:0.1.0"\n'
    )
    return tmp_path


def test_flags_go_before_the_file(run: Run, folder: Path) -> None:
    """Flags for the program and the settings override pyproject.toml."""
    ran = run(
        "manifests", PODSET, "manager", "-o", "yaml", "--image", "other:1", "--replicas", "3", "--namespace", "here"
    )
    namespace, _, deployment = yaml.safe_load_all(ran.out)
    assert namespace["metadata"]["name"] == "here"
    assert deployment["spec"]["replicas"] == 3
    assert deployment["spec"]["template"]["spec"]["containers"][0]["image"] == "other:1"


def test_no_program_is_named(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If no program is given or configured, the error names the argument and the setting."""
    monkeypatch.chdir(tmp_path)
    ran = run("manifests")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("pyctrl: no program given: name FILE.py or MODULE, or set it in pyproject.toml")
    assert run("manifests", "a.py", "b.py").err.startswith("pyctrl: expected one program")


def test_kustomize_builds_what_is_installed(run: Run, folder: Path) -> None:
    """`kubectl apply -k config/default` applies the objects of install.yaml."""
    kubectl = shutil.which("kubectl")
    if kubectl is None:
        return  # no prompt in tests
    run("manifests", "--network-policy")
    built = subprocess.run(
        [kubectl, "kustomize", "config/default"], capture_output=True, text=True, check=True, cwd=folder
    )
    installed = run("manifests", "--network-policy", "-o", "yaml").out
    assert _by_name(built.stdout) == _by_name(installed)


def _by_name(text: str) -> dict[tuple[str, str, str], object]:
    return {
        (each["kind"], each["metadata"].get("namespace", ""), each["metadata"]["name"]): each
        for each in yaml.safe_load_all(text)
    }
