"""Tests of `pyctrl bundle` and `pyctrl bundle validate`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Run

PODSET = Path(__file__).parents[4] / "examples" / "podset"
CSV = Path("bundle", "manifests", "podset.clusterserviceversion.yaml")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text(
        f'[project]\nname = "podset"\nversion = "0.1.0"\n[tool.pyctrl]\nprogram = "{PODSET.as_posix()}"\n'
        '[tool.pyctrl.bundle]\nmin-kube-version = "1.30.0"\nprovider = {name = "Example"}\n'
    )
    return tmp_path


def test_from_nothing_to_a_bundle_that_is_valid(run: Run, folder: Path) -> None:
    """The check reports stale, superfluous and missing files, and nothing after writing."""
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
    """One that cannot be in a bundle stops everything; one of the name of ours is not replaced."""
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
    """No version, no bundle, no such suite."""
    (folder / "pyproject.toml").write_text("[tool.pyctrl]\n")
    none = run("bundle", PODSET)
    assert (none.code, none.err) == (
        1, "pyctrl: no version given: set it with --version 0.1.0, or in pyproject.toml: [project] version\n"
    )  # fmt: skip
    assert run("bundle", "validate", "nowhere").err == (
        "pyctrl: nowhere is not a directory: expected a bundle, as pyctrl bundle writes it\n"
    )
    assert run("bundle", "validate", "--select-optional", "name=all").code == 2
