"""`pyctrl crd diff`: files, folders, programs and clusters, and exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Run
from tests.unit.cli.crd._definitions import NARROWER, _written
from tests.unit.manifests.test_validator import DEFINITION


@pytest.fixture
def old(tmp_path: Path) -> Path:
    file = tmp_path / "old.yaml"
    file.write_text(DEFINITION)
    return file


def test_what_breaks_is_told(run: Run, old: Path, tmp_path: Path) -> None:
    """Breaking changes come first, harmless ones are counted, and the exit code is 1."""
    ran = run("crd", "diff", old, _written(tmp_path, NARROWER))

    assert (ran.code, ran.err) == (1, "")
    assert ran.out == (
        "widgets.example.com\n"
        "  breaking  v1 spec.size\n"
        "            minimum: the value is at least 1, was 0  [bounds-narrowed]\n"
        "  risky     v1 spec.colour\n"
        '            the default was "red", is "blue": objects without the field change  [default-changed]\n'
        "\n"
        "1 breaking, 1 risky, 1 harmless (--all shows harmless changes, too)\n"
    )


def test_what_breaks_nothing(run: Run, old: Path, tmp_path: Path) -> None:
    """The exit code is 0 without breaking changes; `--all` lists harmless ones."""
    wider = _written(tmp_path, DEFINITION.replace("minimum: 0", "description: How much"))

    assert run("crd", "diff", old, old).out == "nothing changed\n"
    ran = run("crd", "diff", old, wider, "--all")

    assert ran.code == 0
    assert "[bounds-widened]" in ran.out
    assert ran.out.endswith("\n2 harmless\n")


def test_json_for_programs(run: Run, old: Path, tmp_path: Path) -> None:
    """`-o json` has all changes, by definition."""
    ran = run("crd", "diff", old, _written(tmp_path, NARROWER), "-o", "json")

    told = json.loads(ran.out)
    assert (ran.code, told["breaks"]) == (1, True)
    assert [each["effect"] for each in told["definitions"]["widgets.example.com"]] == ["breaking", "risky", "harmless"]
