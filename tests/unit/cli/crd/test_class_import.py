"""`pyctrl crd import`: classes from the CRDs of files and clusters, printed or written."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.cli._command import apiserver
from tests.unit.cli.conftest import Run
from tests.unit.manifests.test_validator import DEFINITION


@pytest.fixture
def crd(tmp_path: Path) -> Path:
    file = tmp_path / "widgets.yaml"
    file.write_text(DEFINITION)
    return file


def test_classes_are_printed(run: Run, crd: Path) -> None:
    """Without `--out` stdout has only the source."""
    ran = run("crd", "import", crd)

    assert (ran.code, ran.err) == (0, "")
    assert "class WidgetSpec(Model, marks=(" in ran.out
    assert 'class Widget(CustomResource[WidgetSpec], group="example.com", version="v1", subresources=()):' in ran.out


def test_a_file_is_written_once(run: Run, crd: Path, tmp_path: Path) -> None:
    """`--out` creates a file and its directories; an existing file needs --force."""
    out = tmp_path / "api" / "widget.py"

    first, second, third = (run("crd", "import", crd, "--out", out, *more) for more in ([], [], ["--force"]))

    assert (first.code, first.out, first.err) == (0, "", f"{out}: Widget\n")
    assert (second.code, second.err) == (1, f"pyctrl: {out} exists; --force overwrites it\n")
    assert third.code == 0
    assert "class Widget(" in out.read_text()


def test_what_classes_cannot_say_is_told(run: Run, crd: Path) -> None:
    """Constraints that classes cannot express are reported on stderr."""
    crd.write_text(DEFINITION.replace("required: [size]", "anyOf: [{required: [size]}, {required: [colour]}]"))

    ran = run("crd", "import", crd)

    assert ran.code == 0
    assert ran.err == "not expressible as classes: anyOf of spec\n"


@pytest.mark.slow("starts a server")
def test_a_kind_of_a_cluster(run: Run, crd: Path, tmp_path: Path) -> None:
    """A definition is read from a cluster by its name."""
    login = tmp_path / "kubeconfig"
    with apiserver("--insecure-http", "--no-controllers", "--no-kubelet", "--apply", crd, "--write-kubeconfig", login):
        ran = run("crd", "import", "cluster:widgets.example.com", "--kubeconfig", login)

    assert ran.code == 0
    assert "class Widget(" in ran.out


def test_a_definition_of_a_chart(run: Run, crd: Path) -> None:
    """Templates in labels, such as cert-manager's, do not prevent the import."""
    label = "metadata:\n  labels: {app: '{{ template \"name\" . }}'}\n"
    crd.write_text(DEFINITION.replace("metadata:\n", label, 1))
    assert "class Widget(" in run("crd", "import", crd).out
