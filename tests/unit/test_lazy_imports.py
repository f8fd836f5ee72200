"""Lazy imports of the public names of a package."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from pyctrl._lazy_imports import lazy_function

pytestmark = pytest.mark.usefixtures("imports_as_before")

HOOKS = {
    "names": 'lazy_names(__name__, {"one": "_first", "two": "_second"})',
    "search": 'lazy_search(__name__, ["_first", "_second"])',
}


@pytest.fixture(params=HOOKS)
def package(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A package with the names `one` and `two`, each in its own module."""
    name = f"lazy_{request.param}"
    (tmp_path / name).mkdir()
    head = "from pyctrl._lazy_imports import lazy_names, lazy_search\n__all__ = ['one', 'two']\n"
    (tmp_path / name / "__init__.py").write_text(f"{head}__getattr__, __dir__ = {HOOKS[request.param]}\n")
    (tmp_path / name / "_first.py").write_text("__all__ = ['one']\none = 1\n")
    (tmp_path / name / "_second.py").write_text("__all__ = ['two']\ntwo = 2\n")
    monkeypatch.syspath_prepend(tmp_path)
    return name


def test_a_name_imports_its_module_only(package: str) -> None:
    """Importing the package imports no module; a name imports its own module, and becomes an attribute."""
    module = importlib.import_module(package)
    assert f"{package}._first" not in sys.modules
    assert module.one == 1
    assert f"{package}._second" not in sys.modules
    assert vars(module)["one"] == 1
    assert module.two == 2


def test_unknown_names_are_attribute_errors(package: str) -> None:
    """The message is Python's own, and `dir` lists all names."""
    module = importlib.import_module(package)
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'three'"):
        module.three  # noqa: B018
    assert {"one", "two"} <= set(dir(module))


def test_a_lazy_function_imports_when_it_is_called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The module of a lazy function is imported by the first call, and not before."""
    (tmp_path / "lazy_double.py").write_text("def double(number, *, plus=0):\n    return 2 * number + plus\n")
    monkeypatch.syspath_prepend(tmp_path)
    double = lazy_function("lazy_double", "double")
    assert "lazy_double" not in sys.modules
    assert [double(2), double(2, plus=1)] == [4, 5]
