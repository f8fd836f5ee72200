"""Setup of a package: each class and function of its modules once."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from pyctrl.client import Config
from pyctrl.controller import Controller
from pyctrl.manager import Manager, NoServer
from pyctrl.program import setup_package
from pyctrl.webhook import WebhookServer

HEAD = """\
from pyctrl import Builder, CustomResource, Manager, Model, Reconciler, Request
from pyctrl.webhook import AdmissionRequest, Defaulter
"""
KIND = """
class {kind}(CustomResource[Model, Model], group="wire.example.com", version="v1"):
    "A kind."


class {kind}Reconciler(Reconciler[{kind}]):
    async def reconcile(self, request: Request) -> None: ...
"""

Package = Callable[[dict[str, str]], ModuleType]


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Package:
    """Make a package of these modules, and import it."""

    def make(modules: dict[str, str]) -> ModuleType:
        name = "wired_" + request.node.name
        for path, text in modules.items():
            file = tmp_path / name / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text.replace("PACKAGE", name))
        monkeypatch.syspath_prepend(tmp_path)
        return importlib.import_module(name)

    return make


async def wired(package: ModuleType) -> tuple[list[str], list[tuple[str, ...]]]:
    """Return the names of the controllers, and the paths of each webhook server."""
    async with Manager(Config.in_process(NoServer())) as manager:
        setup_package(manager, package)
        runnables = [member.runnable for member in manager.members]
    names = [each.name for each in runnables if isinstance(each, Controller)]
    return names, [each.webhooks.paths for each in runnables if isinstance(each, WebhookServer)]


async def test_each_module_is_found_once(package: Package) -> None:
    """A class is set up once, in the module that defines it; __main__ is not run."""
    found = package(
        {
            "__init__.py": "",
            "__main__.py": "raise AssertionError",
            "a.py": HEAD + KIND.format(kind="Apple"),
            "deep/__init__.py": "from PACKAGE.a import Apple, AppleReconciler\n",
            "deep/b.py": HEAD + KIND.format(kind="Berry") + "from PACKAGE.a import AppleReconciler\n",
        }
    )
    assert await wired(found) == (["apple", "berry"], [])


async def test_a_function_of_a_module_wires_what_it_has(package: Package) -> None:
    """A setup function of a module replaces its classes; one of the package itself is not called."""
    function = (
        "\ndef add_apple(manager: Manager) -> None:\n"
        "    Builder(manager).options(name='mine').build(AppleReconciler())\n"
    )
    found = package(
        {
            "__init__.py": "def add_all(manager): raise AssertionError\n",
            "a.py": HEAD + KIND.format(kind="Apple") + function,
            "b.py": "from PACKAGE.a import add_apple\n",
        }
    )
    assert await wired(found) == (["mine"], [])


async def test_webhooks_of_all_modules_have_one_server(package: Package) -> None:
    """All webhooks share one server, because there is one port."""
    webhook = "\nclass {kind}Defaulter(Defaulter[{kind}]):\n    def default(self, obj, request): ...\n"
    found = package(
        {
            "__init__.py": "",
            **{
                f"{kind.lower()}.py": HEAD + KIND.format(kind=kind) + webhook.format(kind=kind)
                for kind in ("Apple", "Berry")
            },
        }
    )
    _, servers = await wired(found)
    assert servers == [("/mutate-wire-example-com-v1-apple", "/mutate-wire-example-com-v1-berry")]
