"""Arguments of `pyctrl validate`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.cli.conftest import Run
from tests.unit.cli.validate._project import GOOD
from tests.unit.manifests.test_validator import DEFINITION


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a CRD in the default directory of projects, as the current directory."""
    bases = tmp_path / "config" / "crd" / "bases"
    bases.mkdir(parents=True)
    (bases / "example.com_widgets.yaml").write_text(DEFINITION)
    (tmp_path / "config" / "samples").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_definitions_that_are_named(run: Run, tmp_path: Path) -> None:
    """`--crd` reads files or folders; an invalid CRD is reported, and its kind is unknown."""
    (tmp_path / "crd.yaml").write_text(DEFINITION)
    (tmp_path / "broken.yaml").write_text(DEFINITION.replace("scope: Namespaced", "scope: Everywhere"))
    (tmp_path / "good.yaml").write_text(GOOD)

    assert run("validate", tmp_path / "good.yaml", "--crd", tmp_path / "crd.yaml").code == 0
    ran = run("validate", tmp_path / "good.yaml", "--crd", tmp_path / "broken.yaml")

    assert ran.code == 1
    told = ran.out.splitlines()
    assert told[0].startswith(f"{tmp_path / 'broken.yaml'}:7:10: spec.scope: Unsupported value")
    assert told[1].endswith('good.yaml:2:7: no matches for kind "Widget" in version "example.com/v1"')


def test_unknown_kinds(run: Run, tmp_path: Path) -> None:
    """An object of an unknown kind is invalid, unless a flag skips such objects."""
    (tmp_path / "good.yaml").write_text(GOOD)

    assert run("validate", tmp_path / "good.yaml").code == 1
    ran = run("validate", tmp_path / "good.yaml", "--ignore-unknown")

    assert (ran.code, ran.out) == (0, "0 objects, none invalid, 1 of unknown kinds skipped\n")


def test_options_that_do_not_exist(run: Run, project: Path) -> None:
    """A misspelt option is not read as a file."""
    ran = run("validate", "--cdr", "crd.yaml")

    assert ran.code == 2
    assert ran.err.startswith(
        "pyctrl validate: Unknown option: --cdr. Did you mean --crd? A file of that name is ./--cdr"
    )
