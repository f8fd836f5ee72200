"""Tests of `-o json`: exactly one document on stdout."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Run

PODSET = Path(__file__).parents[3] / "examples" / "podset"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project without generated manifests, as the current directory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text(f'[tool.pyctrl]\nprogram = "{PODSET.as_posix()}"\nimage = "podset:1"\n')
    return tmp_path


def test_manifests_are_a_list_that_kubectl_applies(run: Run, folder: Path) -> None:
    """`-o json` prints a List that kubectl can apply, and writes no files."""
    ran = run("manifests", "crd", "-o", "json")
    told = json.loads(ran.out)
    assert (ran.code, ran.err, told["kind"], [each["kind"] for each in told["items"]]) == (
        0,
        "",
        "List",
        ["CustomResourceDefinition"],
    )
    assert not (folder / "config").exists()


def test_a_check_tells_each_file(run: Run, folder: Path) -> None:
    """The check reports missing files, stale files with diffs, and invalid samples."""
    run("manifests")
    assert json.loads(run("manifests", "--check", "-o", "json").out) == {"upToDate": True, "files": [], "problems": []}

    (folder / "config/rbac/role.yaml").unlink()
    manager = folder / "config/manager/manager.yaml"
    manager.write_text(manager.read_text().replace("podset:1", "podset:2"))
    sample = folder / "config/samples/apps.jicki.cn_v1alpha1_podset.yaml"
    sample.write_text(sample.read_text().replace("size: 1", "size: -1"))
    ran = run("manifests", "--check", "-o", "json")
    told = json.loads(ran.out)

    assert (ran.code, ran.err, told["upToDate"]) == (1, "", False)
    states = {each["path"]: each["state"] for each in told["files"]}
    assert states == {"config/rbac/role.yaml": "missing", "config/manager/manager.yaml": "stale"}
    assert "+        image: podset:1" in next(each["diff"] for each in told["files"] if each["state"] == "stale")
    assert "podset.yaml:8:9: spec.size: Invalid value: -1" in told["problems"][0]


def test_yaml_is_of_manifests_only(run: Run, folder: Path) -> None:
    """`-o yaml` with a check is an error, because a check prints no manifests."""
    ran = run("manifests", "--check", "-o", "yaml")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == "pyctrl: -o yaml prints the manifests; --check and --diff print text or -o json\n"


def test_what_is_missing_in_a_cluster_without_a_server(run: Run, tmp_path: Path) -> None:
    """With an unreachable server stdout is empty, so that jq gets no partial document."""
    kubeconfig = tmp_path / "kubeconfig"
    cluster = {"name": "a", "cluster": {"server": "http://127.0.0.1:9"}}
    context = {"name": "a", "context": {"cluster": "a", "user": ""}}
    kubeconfig.write_text(json.dumps({"clusters": [cluster], "contexts": [context], "current-context": "a"}))
    for command in (["whoami"], ["url", "pods"], ["rbac", "doctor"], ["crd", "diff", "cluster", "cluster"]):
        ran = run(*command, "-o", "json", "--kubeconfig", kubeconfig)
        assert (ran.code, ran.out) == (1, ""), command
        assert "http://127.0.0.1:9" in ran.err.splitlines()[0]
