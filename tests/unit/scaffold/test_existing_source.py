"""The source from which a new project installs pyctrl."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from pyctrl._distribution import requirement
from tests.unit.cli.conftest import Run, run

__all__ = ["run"]

COMMIT = "git+https://git.example/pyctrl.git@3f786850e387550fdab836ed7e6dc881de23001b"


def made(root: Path) -> tuple[str, dict[str, Requirement], bool]:
    """Return the text of pyproject.toml, its requirement of pyctrl, and whether it allows direct references."""
    text = (root / "pyproject.toml").read_text()
    document = tomllib.loads(text)
    (runtime,) = map(Requirement, document["project"]["dependencies"])
    found = {each.name: each for each in map(Requirement, document["project"]["optional-dependencies"]["dev"])}
    assert "dependency-groups" not in document  # pip before 25.1 has no --group
    hatch = document["tool"]["hatch"].get("metadata", {})
    return text, {"runtime": runtime, "test": found["pyctrl-runtime"]}, hatch.get("allow-direct-references", False)


def test_it_comes_from_where_this_pyctrl_came_from(run: Run, tmp_path: Path) -> None:
    """Both requirements have the source or version of the running pyctrl, with the needed extras."""
    assert run("init", tmp_path, "--name", "shop").code == 0
    _, asked, is_allowed = made(tmp_path)
    assert str(asked["runtime"]) == str(Requirement(requirement("webhook", "metrics")))
    assert str(asked["test"]) == str(Requirement(requirement("dev", "test")))
    assert is_allowed is bool(asked["runtime"].url)


@pytest.mark.parametrize(
    ("source", "is_portable"),
    [
        (COMMIT, True),
        ("https://files.example/p-1.zip", True),
        ("file:///src/pyctrl", False),
        ("git+file:///src", False),
    ],
)
def test_a_url_is_a_direct_reference(source: str, is_portable: bool, run: Run, tmp_path: Path) -> None:
    """A URL becomes a direct reference that hatchling allows; comments explain how to replace it, and local paths."""
    assert run("init", tmp_path, "--name", "shop", "--pyctrl-from", source).code == 0
    text, asked, is_allowed = made(tmp_path)
    assert (asked["runtime"].url, asked["runtime"].extras, is_allowed) == (source, {"webhook", "metrics"}, True)
    assert (asked["test"].url, asked["test"].extras) == (source, {"dev", "test"})
    assert "edit it here and in the extra dev." in text
    assert ("It is a local path." in text) is not is_portable
    assert ("from a local path of the machine" in (tmp_path / "README.md").read_text()) is not is_portable


def test_a_version_comes_from_an_index(run: Run, tmp_path: Path) -> None:
    """A version requirement accepts later fixes of this version."""
    assert run("init", tmp_path, "--name", "shop", "--pyctrl-from", "0.2.1").code == 0
    _, asked, is_allowed = made(tmp_path)
    assert (str(asked["runtime"].specifier), asked["runtime"].url, is_allowed) == ("~=0.2.1", None, False)


@pytest.mark.parametrize("source", ["main", "file:///with space", '0.1"', "1"])
def test_what_is_no_source(source: str, run: Run, tmp_path: Path) -> None:
    """An invalid source fails with one line that names the expected form, and writes nothing."""
    told = run("init", tmp_path / "shop", "--pyctrl-from", source)
    assert (told.code, len(told.err.splitlines())) == (1, 1)
    assert "expected a version such as 0.1.0, or a URL such as git+https://HOST/REPOSITORY@COMMIT" in told.err
    assert not (tmp_path / "shop").exists()


def test_again_it_leaves_the_dependencies_alone(run: Run, tmp_path: Path) -> None:
    """Running init again keeps the dependencies in pyproject.toml and writes other missing files."""
    run("init", tmp_path, "--name", "shop", "--pyctrl-from", "0.1.0")
    file = tmp_path / "pyproject.toml"
    file.write_text(file.read_text().replace("dependencies = [", 'dependencies = ["httpx", '))
    before = file.read_text()
    (tmp_path / ".dockerignore").unlink()
    told = run("init", tmp_path, "--name", "shop", "--pyctrl-from", COMMIT)
    assert (told.code, told.out.strip().endswith(".dockerignore")) == (0, True)
    assert file.read_text() == before
