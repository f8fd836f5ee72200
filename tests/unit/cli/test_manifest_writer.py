"""Writing of manifests, and checks that they are up to date."""

from __future__ import annotations

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


def test_from_nothing_to_a_directory_that_is_checked(run: Run, folder: Path) -> None:
    """The check fails with one line without the directory, and succeeds after writing."""
    before = run("manifests", "--check")
    assert before == type(before)(1, "", "no manifests in config; run pyctrl manifests\n")

    written = run("manifests")
    assert (written.code, written.err) == (0, "")
    assert "created config/crd/bases/apps.jicki.cn_podsets.yaml\n" in written.out

    assert run("manifests") == type(written)(0, "nothing changed\n", "")
    assert run("manifests", "--check") == type(written)(0, "", "")


def test_a_check_shows_what_differs_and_names_what_is_missing_or_left_over(run: Run, folder: Path) -> None:
    """The check prints the diff of a changed file, and only the name of a missing or superfluous one."""
    run("manifests")
    (folder / "config/rbac/role.yaml").unlink()
    manager = folder / "config/manager/manager.yaml"
    manager.write_text(manager.read_text().replace("replicas: 1", "replicas: 2"))
    run("manifests", "--prometheus", "--check")
    ran = run("manifests", "--check")
    assert ran.err == "2 files are out of date; update with: pyctrl manifests\n"
    assert "missing config/rbac/role.yaml\n" in ran.out
    assert "-  replicas: 2\n+  replicas: 1\n" in ran.out
    assert "kind: ClusterRole" not in ran.out
    missing = run("manifests", "--check", "--install", "install.yaml").err
    assert missing == "no install.yaml; run pyctrl manifests --install install.yaml\n"


def test_a_sample_that_has_become_invalid_is_told(run: Run, folder: Path) -> None:
    """The check validates edited samples as the API server does, and reports the position."""
    run("manifests")
    sample = folder / "config/samples/apps.jicki.cn_v1alpha1_podset.yaml"
    sample.write_text(sample.read_text().replace("size: 1", "size: -1"))
    ran = run("manifests", "--check")
    assert ran.code == 1
    assert "podset.yaml:8:9: spec.size: Invalid value: -1" in ran.err


def test_one_file_has_all_of_it(run: Run, folder: Path) -> None:
    """The file has all manifests in the order of their application; one part can be printed separately."""
    assert run("manifests", "--install", "install.yaml").out == "created install.yaml\n"
    kinds = [each["kind"] for each in yaml.safe_load_all((folder / "install.yaml").read_text())]
    assert kinds[:3] == ["Namespace", "CustomResourceDefinition", "ServiceAccount"]
    assert kinds[-1] == "Deployment"
    printed = run("manifests", "crd", "-o", "yaml")
    assert [each["kind"] for each in yaml.safe_load_all(printed.out)] == ["CustomResourceDefinition"]
