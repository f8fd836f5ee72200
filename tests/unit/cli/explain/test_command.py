"""Arguments of `pyctrl explain`: CRDs of the project and of a cluster, and unknown fields."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.cli._command import apiserver
from tests.unit.cli.conftest import Run
from tests.unit.manifests.test_validator import DEFINITION


@pytest.fixture
def crd(tmp_path: Path) -> Path:
    file = tmp_path / "widgets.yaml"
    file.write_text(
        DEFINITION.replace(
            "spec:\n            type: object",
            "spec:\n            description: What is wanted.\n            type: object",
        )
    )
    return file


def test_definitions_beside(run: Run, crd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """CRDs of the project are found without a flag."""
    bases = crd.parent / "config" / "crd" / "bases"
    bases.mkdir(parents=True)
    crd.rename(bases / "widgets.yaml")
    monkeypatch.chdir(crd.parent / "config")

    assert run("explain", "widget.spec.size").out.endswith(
        "FIELD:    spec.size <integer> required\n\nDESCRIPTION:\n    at least 0\n"
    )


@pytest.mark.slow("starts a server")
def test_a_cluster(run: Run, crd: Path, tmp_path: Path) -> None:
    """`--from-cluster` reads the CRD from the cluster of the login."""
    login = tmp_path / "kubeconfig"
    with apiserver("--insecure-http", "--no-controllers", "--no-kubelet", "--apply", crd, "--write-kubeconfig", login):
        ran = run("explain", "widget.spec.size", "--from-cluster", "--kubeconfig", login)

    assert ran.code == 0
    assert "at least 0" in ran.out


@pytest.mark.parametrize(
    ("field", "why"),
    [
        ("widget.spec.sise", "pyctrl: widget.spec has no field 'sise'; did you mean size?\n"),
        ("widgte", "pyctrl: no kind 'widgte'; did you mean widgets.example.com? (name its CRD"),
        ("deployment.spec.template.spec.container", "did you mean containers"),
        ("", "pyctrl: no kind ''"),
        (".", "pyctrl: no kind ''"),
    ],
)
def test_what_leads_nowhere(run: Run, crd: Path, field: str, why: str) -> None:
    """Errors suggest similar names."""
    ran = run("explain", field, "--crd", crd)

    assert (ran.code, ran.out) == (1, "")
    assert why in ran.err
