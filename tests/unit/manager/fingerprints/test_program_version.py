"""The version of a program changes with everything that a reconcile depends on, and with nothing else."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pyctrl.manager._fingerprints.program_version import program_version
from pyctrl.manager._fingerprints.saved_data import difference

NAME = "fingerprinted_program"


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with a template, imported."""
    directory = tmp_path / NAME
    (directory / "below").mkdir(parents=True)
    (directory / "__init__.py").write_text("")
    (directory / "operator.py").write_text("SIZE = 1\n")
    (directory / "below" / "deployment.yaml").write_text("kind: Deployment\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in (NAME, f"{NAME}.operator"):
        sys.modules.pop(name, None)  # of an earlier test
    importlib.import_module(f"{NAME}.operator")
    return directory


def touch_cache(package: Path) -> None:
    (package / "__pycache__").mkdir(exist_ok=True)
    (package / "__pycache__" / "operator.pyc").write_bytes(b"1")
    (package / ".editor").mkdir()
    (package / ".editor" / "state").write_bytes(b"1")


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda package: (package / "operator.py").write_text("SIZE = 22\n"), "files"),
        (lambda package: (package / "below" / "deployment.yaml").write_text("kind: DaemonSet\n"), "files"),
        (lambda package: (package / "new.py").write_text(""), "files"),
        (lambda package: (package / "below" / "deployment.yaml").unlink(), "files"),
        (touch_cache, ""),
        (lambda _package: os.environ.update(POD_NAME="op-2", HOSTNAME="op-2", WEB_SERVICE_HOST="10.0.0.1"), ""),
        (lambda _package: os.environ.update(STORAGE_CLASS="fast"), "environment"),
        (lambda _package: sys.argv.append("--storage-class=fast"), "arguments"),
    ],
    ids=["code", "template", "new file", "removed file", "caches", "of the pod", "variable", "argument"],
)
def test_each_part_changes_with_what_it_covers(
    change: Callable[[Path], object], expected: str, package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A changed file, template, argument or variable changes its part; caches and names of the pod change nothing."""
    monkeypatch.setattr(sys, "argv", [*sys.argv])
    monkeypatch.setattr(os, "environ", os.environ.copy())
    before = program_version([f"{NAME}.operator"])
    assert difference(before, program_version([f"{NAME}.operator"])) == ""
    change(package)
    assert difference(before, program_version([f"{NAME}.operator"])) == expected


def test_an_installed_distribution_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another version of an installed distribution changes the part of the packages."""
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "templates-1.0.dist-info").mkdir()
    before = program_version([])
    (tmp_path / "templates-1.0.dist-info").rename(tmp_path / "templates-1.1.dist-info")
    assert difference(before, program_version([])) == "packages"


def test_what_the_user_adds_counts() -> None:
    """The text of ``code=`` is a part of its own."""
    assert difference(program_version([], code="a"), program_version([], code="b")) == "code"
