"""The public names are pinned: adding one is a decision, and removing one breaks users."""

from __future__ import annotations

import ast
import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import pyctrl
from tools.public_names import SNAPSHOT, public_names, public_packages


def test_public_names_are_those_listed() -> None:
    """The public names are exactly those in tests/public_names.txt, which `make generate` writes."""
    assert public_names() == SNAPSHOT.read_text().splitlines()


@pytest.mark.parametrize("package", public_packages())
def test_every_public_name_exists(package: str) -> None:
    """Each name in the `__all__` of a package exists, once, and the package has a docstring."""
    module = importlib.import_module(package)

    assert (module.__doc__ or "").strip()
    assert len(module.__all__) == len(set(module.__all__))
    assert [name for name in module.__all__ if not hasattr(module, name)] == []


@pytest.mark.parametrize("package", [package for package in public_packages() if package != "pyctrl"])
def test_public_classes_and_functions_are_documented(package: str) -> None:
    """Each public class and function has a docstring of its own."""
    module = importlib.import_module(package)
    silent = [
        name
        for name in module.__all__
        if inspect.isclass(value := getattr(module, name)) or inspect.isfunction(value)
        if not (value.__doc__ or "").strip()
    ]

    assert not silent, ", ".join(silent)


def test_pyctrl_re_exports_the_objects_of_its_packages() -> None:
    """At run time each name of `pyctrl` is the object that type checkers see."""
    source = ast.parse(Path(pyctrl.__file__).read_text())
    seen = {
        alias.name: node.module
        for node in ast.walk(source)
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("pyctrl.")
        if node.module != "pyctrl._lazy_imports"
        for alias in node.names
    }

    assert sorted(seen) == sorted(pyctrl.__all__)
    assert [
        name for name, home in seen.items() if getattr(pyctrl, name) is not getattr(importlib.import_module(home), name)
    ] == []


def test_importing_pyctrl_imports_no_package() -> None:
    """`import pyctrl` imports none of its packages; using a name imports its package."""
    code = (
        "import sys, pyctrl; before = {m for m in sys.modules if m.startswith('pyctrl.')}; pyctrl.Manager; "
        "print(sorted(before), pyctrl.cluster.__name__)"
    )

    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert told == "['pyctrl._lazy_imports'] pyctrl.cluster\n"


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    """A misspelt name raises AttributeError, as with any module."""
    with pytest.raises(AttributeError, match="module 'pyctrl' has no attribute 'Managr'"):
        assert pyctrl.Managr  # type: ignore[attr-defined]
