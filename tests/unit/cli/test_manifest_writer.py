"""Writing of manifests, and checks that they are up to date."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from subprocess import PIPE, STDOUT

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
    """Without the directory, the check lists the missing files without their content; it succeeds after writing."""
    before = run("manifests", "--check")
    assert before.code == 1
    assert "missing config/crd/bases/apps.jicki.cn_podsets.yaml\n" in before.out
    assert all(line.startswith("missing config/") for line in before.out.splitlines())
    assert before.err == f"{before.out.count(chr(10))} files are out of date; update with: pyctrl manifests\n"

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


def test_what_to_do_is_the_last_line_of_a_log(folder: Path) -> None:
    """The diff comes before the command that updates it, also if both streams go into one pipe."""
    command = [sys.executable, "-m", "pyctrl", "manifests", "--check"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    ran = subprocess.run(command, cwd=folder, env=environment, check=False, stdout=PIPE, stderr=STDOUT, text=True)
    assert ran.stdout.endswith(" files are out of date; update with: pyctrl manifests\n")


def test_a_sample_that_has_become_invalid_is_told(run: Run, folder: Path) -> None:
    """The check validates edited samples as the API server does, and reports the position."""
    run("manifests")
    sample = folder / "config/samples/apps.jicki.cn_v1alpha1_podset.yaml"
    sample.write_text(sample.read_text().replace("size: 1", "size: -1"))
    ran = run("manifests", "--check")
    assert ran.code == 1
    assert "podset.yaml:8:9: spec.size: Invalid value: -1" in ran.err


def test_the_diff_of_a_file_is_bounded(run: Run, folder: Path) -> None:
    """The check prints the beginning of a long diff, and JSON has all of it."""
    run("manifests")
    role = folder / "config/rbac/role.yaml"
    role.write_text("".join(f"# {line}\n" for line in range(100)))
    ran = run("manifests", "--check")
    assert ran.out.endswith(" more lines; -o json has all\n")
    assert ran.out.count("\n") == 41
    assert "# 99" in run("manifests", "--check", "-o", "json").out


def test_the_file_of_all_manifests_is_checked(run: Run, folder: Path) -> None:
    """`build-installer --check` names a missing file and succeeds after writing; the setting names the file."""
    (folder / "pyproject.toml").write_text((folder / "pyproject.toml").read_text() + 'install-file = "all.yaml"\n')
    before = run("build-installer", "--check")
    assert (before.code, before.out) == (1, "missing all.yaml\n")
    assert before.err == "1 file is out of date; update with: pyctrl build-installer\n"
    run("build-installer")
    assert run("build-installer", "--check") == type(before)(0, "", "")
    assert run("build-installer", "--output-file", "b.yaml").out == "created b.yaml\n"


def test_one_file_has_all_of_it(run: Run, folder: Path) -> None:
    """The file has all manifests in the order of their application; one part can be printed separately."""
    assert run("build-installer").out == "created dist/install.yaml\n"
    text = (folder / "dist/install.yaml").read_text()
    assert run("manifests", "-o", "yaml").out == text
    kinds = [each["kind"] for each in yaml.safe_load_all(text)]
    assert kinds[:3] == ["Namespace", "CustomResourceDefinition", "ServiceAccount"]
    assert kinds[-1] == "Deployment"
    printed = run("manifests", "crd", "-o", "yaml")
    assert [each["kind"] for each in yaml.safe_load_all(printed.out)] == ["CustomResourceDefinition"]
