"""`pyctrl envtest`: the directory that it prints, in three forms."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Run


def test_the_directory_has_the_executables_of_envtest(assets: Path) -> None:
    """etcd, kube-apiserver and kubectl are executables in the directory, and nothing else is."""
    assert sorted(each.name for each in assets.iterdir()) == ["etcd", "kube-apiserver", "kubectl"]
    assert all(os.access(each, os.X_OK) for each in assets.iterdir())


def test_the_directory_is_stable(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Two calls print the same directory, below XDG_CACHE_HOME; one with controllers prints another."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    first, second, other = run("envtest"), run("envtest", "-p", "path"), run("envtest", "--controllers")
    assert first.out == second.out != other.out
    assert Path(first.out.strip()).parent == tmp_path / "pyctrl" / "envtest"


def test_a_shell_can_evaluate_it(run: Run, tmp_path: Path) -> None:
    """`eval $(pyctrl envtest -p env)` exports KUBEBUILDER_ASSETS, also for a directory with a space."""
    directory = tmp_path / "with space"
    told = run("envtest", "-p", "env", "--bin-dir", directory)
    shown = subprocess.run(
        ["sh", "-c", f"eval {shlex.quote(told.out)}\nenv"], capture_output=True, text=True, check=True
    )
    assert f"KUBEBUILDER_ASSETS={directory}\n" in shown.stdout


def test_an_overview_has_the_version(run: Run, tmp_path: Path) -> None:
    """The overview has the version of Kubernetes and the path."""
    told = run("envtest", "-p", "overview", "--bin-dir", tmp_path)
    assert told.out.startswith("Version: 1.36.2 (pyctrl ")
    assert told.out.endswith(f"Path: {tmp_path}\n")


def test_a_directory_that_cannot_be_written(run: Run, tmp_path: Path) -> None:
    """The error is one line and names the flag."""
    (tmp_path / "file").touch()
    told = run("envtest", "--bin-dir", tmp_path / "file" / "assets")
    assert (told.code, told.out) == (1, "")
    assert told.err.startswith("pyctrl: cannot write ")
    assert told.err.endswith("see --bin-dir\n")


def test_controllers_are_chosen_by_name(run: Run, tmp_path: Path) -> None:
    """kube-apiserver of the directory gets the names; a name that does not exist is one line with the choices."""
    names = ("garbage-collector-controller", "namespace-controller")
    flags = [part for name in names for part in ("--controller-name", name)]
    assert run("envtest", *flags, "--bin-dir", tmp_path).code == 0
    assert f"PYCTRL_ENVTEST_CONTROLLERS={','.join(names)}" in (tmp_path / "kube-apiserver").read_text()
    told = run("envtest", "--controller-name", "gc", "--bin-dir", tmp_path)
    assert (told.code, told.out) == (1, "")
    assert "pyctrl: --controller-name gc: there is no such controller; there are " in told.err


def test_the_number_of_nodes_is_written(run: Run, tmp_path: Path) -> None:
    """`--nodes 2` starts two simulated nodes beside each API server, without `--kubelet`."""
    assert run("envtest", "--bin-dir", str(tmp_path), "--nodes", "2").code == 0
    assert "PYCTRL_ENVTEST_NODES=2" in (tmp_path / "kube-apiserver").read_text()


def test_a_script_is_checked_when_the_directory_is_written(run: Run, tmp_path: Path) -> None:
    """kube-apiserver gets the absolute path of the script; a function that does not exist is one line."""
    (tmp_path / "containers.py").write_text("def script(pod, container): return None\n")
    assets = tmp_path / "assets"
    assert run("envtest", "--pod-script", tmp_path / "containers.py:script", "--bin-dir", assets).code == 0
    text = (assets / "kube-apiserver").read_text()
    assert f"PYCTRL_ENVTEST_POD_SCRIPT={(tmp_path / 'containers.py').resolve()}:script" in text
    told = run("envtest", "--pod-script", tmp_path / "containers.py:none", "--bin-dir", assets)
    assert (told.code, told.out) == (1, "")
    assert told.err.endswith("has no function 'none'\n")
