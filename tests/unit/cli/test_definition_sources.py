"""Sources of CRDs: directories, programs, clusters, and errors."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.cli._command import apiserver
from tests.unit.cli.conftest import Run
from tests.unit.cli.crd._definitions import NARROWER, _written
from tests.unit.cli.validate.test_files import PROGRAM
from tests.unit.manifests.test_validator import DEFINITION

CONVERTED = """
from pyctrl import CustomResource, Model, Reconciler, Request
from pyctrl.webhook import Conversion, Spoke, same_fields

class One(CustomResource[Model], group="example.com", version="v1", kind="Widget"):
    "One."

class Two(CustomResource[Model], group="example.com", version="v2", kind="Widget"):
    "Two."

CONVERSION = Conversion(One, Spoke(Two, lambda two: same_fields(two, One), lambda one: same_fields(one, Two)))

class Widgets(Reconciler[One]):
    async def reconcile(self, request: Request) -> None: ...
"""


@pytest.fixture
def old(tmp_path: Path) -> Path:
    file = tmp_path / "old.yaml"
    file.write_text(DEFINITION)
    return file


def test_folders_and_programs(run: Run, old: Path, tmp_path: Path) -> None:
    """A side of the comparison is a folder, or a program with its classes."""
    folder, program = tmp_path / "released", tmp_path / "widgets.py"
    folder.mkdir()
    old.rename(folder / "widgets.yaml")
    program.write_text(PROGRAM)

    ran = run("crd", "diff", folder, program)

    assert ran.code == 1
    assert "v1 spec.colour\n            the field is removed" in ran.out


def test_the_conversion_of_a_program_counts(run: Run, tmp_path: Path) -> None:
    """A program with a Conversion equals its deployed CRD with the webhook."""
    program = tmp_path / "widgets.py"
    program.write_text(CONVERTED)
    run("manifests", program, "crd", "--output-dir", tmp_path)
    crds = tmp_path / "crd" / "bases"
    assert "strategy: Webhook" in next(crds.iterdir()).read_text()

    assert run("crd", "diff", crds, program).out == "nothing changed\n"


@pytest.mark.slow("starts a server")
def test_a_cluster(run: Run, old: Path, tmp_path: Path) -> None:
    """A side may be a CRD of a cluster; the error for an unknown name suggests a similar one."""
    login = tmp_path / "kubeconfig"
    with apiserver("--insecure-http", "--no-controllers", "--no-kubelet", "--apply", old, "--write-kubeconfig", login):
        ran = run("crd", "diff", "cluster:widgets.example.com", _written(tmp_path, NARROWER), "--kubeconfig", login)
        lost = run("crd", "diff", "cluster:widget.example.com", old, "--kubeconfig", login)

    assert ran.code == 1
    assert "[bounds-narrowed]" in ran.out
    assert lost.code == 1
    assert "did you mean widgets.example.com?" in lost.err


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (None, "no such file: "),
        ("kind: ConfigMap\napiVersion: v1\n", "no CustomResourceDefinition in"),
        (DEFINITION.replace("scope: Namespaced", "scope: Here"), ':7:10: spec.scope: Unsupported value: "Here"'),
        (DEFINITION.replace("versions:", "version:"), "is not a valid CustomResourceDefinition"),
        ("a: [", "did not find expected node content"),
    ],
    ids=["no file", "no definition", "an invalid one", "one without versions", "no YAML"],
)
def test_what_is_no_definition(run: Run, old: Path, tmp_path: Path, text: str | None, why: str) -> None:
    """The error has the reason and position, and no traceback."""
    file = tmp_path / "other.yaml" if text is None else _written(tmp_path, text)

    ran = run("crd", "diff", old, file)

    assert (ran.code, ran.out) == (1, "")
    assert why in ran.err
    assert "Traceback" not in ran.err


def test_no_such_program(run: Run, old: Path) -> None:
    """A name that is not a file is a module; a missing module is an error."""
    ran = run("crd", "diff", old, "no_such.module")

    assert ran.code == 1
    assert ran.err.startswith("pyctrl: no module 'no_such', seen from")
