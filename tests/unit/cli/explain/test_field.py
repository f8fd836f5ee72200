"""Tests of `pyctrl explain`: kinds of files, programs and clusters, built-in kinds, and errors."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Run
from tests.unit.cli.validate.test_files import PROGRAM
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


def test_a_field_of_a_definition(run: Run, crd: Path) -> None:
    """The page of a field has type, description, rules, and the fields inside with their own."""
    ran = run("explain", "widget.spec", "--crd", crd)

    assert (ran.code, ran.err) == (0, "")
    assert ran.out == textwrap.dedent(
        """\
        KIND:     Widget (widgets)
        VERSION:  example.com/v1
        FIELD:    spec <Object>

        DESCRIPTION:
            What is wanted.

            rule: self.size < 5 -- too much

        FIELDS:
          size <integer> required
            at least 0

          colour <string>
            default: red

          labels <map[string]string>

          parts <[]Object>
        """
    )


def test_the_whole_tree(run: Run, crd: Path) -> None:
    """`--recursive` prints one field per line."""
    ran = run("explain", "widgets.example.com.spec", "--recursive", "--crd", crd)

    assert ran.out.endswith(
        "FIELDS:\n"
        "  size <integer> required\n"
        "  colour <string>, default: red\n"
        "  labels <map[string]string>\n"
        "  parts <[]Object>\n"
        "    name <string>\n"
    )


def test_the_kinds_of_a_package(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The name of a package finds the kinds of all its modules."""
    (tmp_path / "atelier" / "api").mkdir(parents=True)
    for folder in ("atelier", "atelier/api"):
        (tmp_path / folder / "__init__.py").write_text("")
    (tmp_path / "atelier" / "api" / "widget.py").write_text(PROGRAM)
    monkeypatch.chdir(tmp_path)

    assert "size <integer> required" in run("explain", "widget.spec", "--types", "atelier").out


def test_built_in_kinds_and_programs(run: Run, tmp_path: Path) -> None:
    """Built-in kinds need no file, `--types` names a program with classes, and both can be printed as JSON."""
    (tmp_path / "widgets.py").write_text(PROGRAM)

    deployment = run("explain", "deploy.spec.replicas", "-o", "json")
    widget = run("explain", "widget.spec.size", "--types", tmp_path / "widgets.py", "-o", "json")

    assert json.loads(deployment.out) == {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "path": "spec.replicas",
        "name": "replicas",
        "type": "integer",
        "required": False,
        "schema": {
            "type": "integer",
            "format": "int32",
            "description": "Number of desired pods. This is a pointer to distinguish between explicit zero and not "
            "specified. Defaults to 1.",
        },
        "fields": [],
    }
    assert json.loads(widget.out)["required"] is True
