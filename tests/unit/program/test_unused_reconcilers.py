"""Reconcilers that would never run are errors."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.cli.conftest import Run, run
from tests.unit.program._broken import CASES, HEAD, METHOD, check

__all__ = ["run"]

pytestmark = pytest.mark.usefixtures("imports_as_before")


def test_a_class_that_is_named_as_program_has_to_be_complete(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A class without a kind is an error when it is named as the program."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "operator.py").write_text(CASES["no kind"][0])
    check(run("rbac", "generate", "operator.py:R").err, *CASES["no kind"][1:], "operator.py")


def test_a_module_may_wire_the_reconcilers_of_another(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reconciler without a kind is valid if a function of the package uses it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "stall").mkdir()
    wiring = (
        "from pyctrl import Builder\nfrom stall.foo import Foo, R\n\n\n"
        "def add_foo(manager):\n    Builder(manager).reconciles(Foo).build(R())\n"
    )
    main = "from pyctrl.program import setup_package\nimport stall\n\n\ndef add_stall(manager):\n"
    for name, text in {
        "__init__": "",
        "__main__": f"{main}    setup_package(manager, stall)\n",
        "foo": CASES["no kind"][0],
        "wiring": wiring,
    }.items():
        (tmp_path / "stall" / f"{name}.py").write_text(text)
    assert run("rbac", "generate", "stall").err == ""


def test_a_reconciler_may_be_a_base_or_be_wired_under_a_condition(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Base classes are valid, and so are classes that a setup function adds only conditionally."""
    monkeypatch.chdir(tmp_path)
    bases = f"{HEAD}class Base(Reconciler):\n{METHOD}\n\nclass R(Base, Reconciler[Foo]): ...\n\n\n"
    (tmp_path / "operator.py").write_text(bases)
    assert run("rbac", "generate", "operator.py").err == ""
    wiring = (
        "def add_foo(manager: Manager, *, second: bool = False) -> None:\n"
        "    Builder(manager).build(R())\n    if second:\n        Builder(manager).options(name='s').build(S())\n"
    )
    (tmp_path / "other.py").write_text(f"{bases}class S(Reconciler[Foo]):\n{METHOD}\n\n{wiring}")
    assert run("rbac", "generate", "other.py").err == ""
