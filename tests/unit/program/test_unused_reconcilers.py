"""Reconcilers and webhooks that would never run are errors."""

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


WEBHOOK = (
    "from pyctrl.webhook import AdmissionRequest, Defaulter, WebhookBuilder, Webhooks, WebhookServer\n\n\n"
    "class Defaults(Defaulter[Foo]):\n"
    "    def default(self, obj: Foo, request: AdmissionRequest) -> None: ...\n\n\n"
)


def test_a_webhook_that_no_setup_function_adds_is_an_error(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A defaulter or validator beside a setup function that does not add it would never be called."""
    monkeypatch.chdir(tmp_path)
    module = f"{HEAD}{WEBHOOK}class R(Reconciler[Foo]):\n{METHOD}\n\n"
    setup = "def add_foo(manager: Manager) -> None:\n    Builder(manager).build(R())\n"
    served = (
        "    webhooks = Webhooks()\n    WebhookBuilder(webhooks).admits(Foo).build(Defaults())\n"
        "    manager.add(WebhookServer(webhooks))\n"
    )
    (tmp_path / "operator.py").write_text(module + setup)
    (tmp_path / "served.py").write_text(module + setup + served)
    (tmp_path / "declared.py").write_text(module)

    error = run("rbac", "generate", "operator.py").err
    assert "no function of the program adds Defaults, so the API server would never call it" in error
    assert "WebhookBuilder(webhooks).admits(KIND).build(Defaults())" in error
    assert run("rbac", "generate", "served.py").err == ""
    assert run("rbac", "generate", "declared.py").err == ""
