"""`pyctrl validate`: output as text and JSON, sources of CRDs, and exit codes."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Run
from tests.unit.cli.validate._project import GOOD
from tests.unit.manifests.test_validator import DEFINITION

BAD = GOOD.replace("size: 3", "size: 3, colur: red")

PROGRAM = """
from pyctrl import CustomResource, Model


class WidgetSpec(Model):
    size: int


class Widget(CustomResource[WidgetSpec], group="example.com", version="v1"):
    pass
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a CRD in the default directory of projects, as the current directory."""
    bases = tmp_path / "config" / "crd" / "bases"
    bases.mkdir(parents=True)
    (bases / "example.com_widgets.yaml").write_text(DEFINITION)
    (tmp_path / "config" / "samples").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_folder_with_a_mistake(run: Run, project: Path) -> None:
    """Each error has a line that editors can open; the CRDs of the project are used; the exit code is 1."""
    (project / "config/samples/bad.yaml").write_text(BAD)
    (project / "config/samples/good.yaml").write_text(GOOD)

    ran = run("validate", "config/samples")

    assert (ran.code, ran.err) == (1, "")
    assert ran.out.splitlines() == [
        'config/samples/bad.yaml:4:17: spec.colur: unknown field "spec.colur" (did you mean colour?)',
        "2 objects, 1 invalid",
    ]


def test_a_whole_project(run: Run, project: Path) -> None:
    """CRDs among the files are validated, too; patches and kustomization files are skipped."""
    (project / "config/patch.yaml").write_text("- {op: add, path: /a, value: b}\n")
    (project / "config/settings.yaml").write_text("namespace: default\n")
    (project / "config/samples/good.yaml").write_text(GOOD)
    (project / "config/kustomization.yaml").write_text("kind: Kustomization\napiVersion: kustomize.config.k8s.io/v1\n")

    ran = run("validate", "config")

    assert (ran.code, ran.out) == (0, "2 objects, none invalid\n")


def test_what_comes_in(run: Run, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`-` reads stdin, and uses the CRDs of the current directory."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(BAD.encode())))

    ran = run("validate", "-")

    assert ran.code == 1
    assert ran.out.startswith("<stdin>:4:17: spec.colur: ")


def test_the_classes_of_a_program(run: Run, tmp_path: Path) -> None:
    """`--types` uses the classes of a program as CRDs."""
    (tmp_path / "widgets.py").write_text(PROGRAM)
    (tmp_path / "bad.yaml").write_text(BAD.replace("size: 3", "size: many"))

    ran = run("validate", tmp_path / "bad.yaml", "--types", tmp_path / "widgets.py")

    assert ran.code == 1
    assert 'bad.yaml:4:14: spec.size: Invalid value: "string": spec.size in body must be of type integer' in ran.out


def test_what_cannot_be_read(run: Run, project: Path) -> None:
    """A missing or unparsable file is exit code 2, and the other files are validated."""
    (project / "no.yaml").write_text("a: [")
    (project / "bad.yaml").write_text(BAD)

    ran = run("validate", "no.yaml", "missing.yaml", "bad.yaml")

    assert ran.code == 2
    told = ran.out.splitlines()
    assert told[0].startswith("bad.yaml:4:17: ")
    assert told[1:] == [
        "unreadable: no.yaml: yaml: line 1: did not find expected node content",
        "unreadable: missing.yaml: No such file or directory",
        "1 object, 1 invalid, 2 unreadable",
    ]


def test_json_for_programs(run: Run, project: Path) -> None:
    """`-o json` lists each object with the lines, columns, paths and reasons of its errors."""
    (project / "bad.yaml").write_text(f"{GOOD}---\n{BAD}")

    ran = run("validate", "bad.yaml", "-o", "json")

    assert ran.code == 1
    good, bad = json.loads(ran.out)["objects"]
    assert (good["valid"], good["document"], good["line"]) == (True, 1, 1)
    assert (bad["kind"], bad["name"], bad["document"]) == ("Widget", "w", 2)
    assert bad["problems"] == [
        {
            "line": 9,
            "column": 17,
            "path": "spec.colur",
            "message": 'unknown field "spec.colur"',
            "reason": "FieldUnknown",
            "hint": "did you mean colour?",
        }
    ]


def test_rules_that_are_not_checked(run: Run, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the extra `cel` a note says that rules are not checked; the exit code is 0."""
    monkeypatch.setitem(sys.modules, "cel_expr_python", None)
    (project / "rule.yaml").write_text(GOOD.replace("size: 3", "size: 7"))

    ran = run("validate", "rule.yaml")

    assert ran.code == 0
    assert "warning: validation rules (CEL) were not checked: pip install 'pyctrl-runtime[cel]'" in ran.out
