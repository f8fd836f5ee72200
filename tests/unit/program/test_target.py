"""Programs by file, directory or module, with and without a setup function."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyctrl.client import Config
from pyctrl.controller import Controller
from pyctrl.errors import CommandFailed
from pyctrl.manager import Manager, NoServer
from pyctrl.program import Target, offline_manager
from pyctrl.webhook import WebhookServer

pytestmark = pytest.mark.usefixtures("imports_as_before")


DECLARED = '''\
from pyctrl import CustomResource, Model, Reconciler, Request
from pyctrl.controller import mapped
from pyctrl.kinds.apps.v1 import Deployment
from pyctrl.kinds.core.v1 import Pod
from pyctrl.webhook import AdmissionRequest, Defaulter



class Spec(Model):
    size: int = 1


class PodSet(CustomResource[Spec], group="a.example.com", version="v1"):
    """Pods."""


class PodSetReconciler(Reconciler[PodSet]):
    owns = (Deployment,)
    watches = ((Pod, mapped(lambda pod: [Request(pod.metadata.namespace, "a")])),)

    async def reconcile(self, request: Request) -> None: ...


class PodSetDefaults(Defaulter[PodSet]):
    def default(self, obj: PodSet, request: AdmissionRequest) -> None:
        obj.spec.size = 2
'''


async def sources_of(target: str) -> dict[str, list[str]]:
    async with offline_manager(target) as manager:
        controllers = [each.runnable for each in manager.members if isinstance(each.runnable, Controller)]
        return {each.name: [str(source) for source in each.sources] for each in controllers}


async def test_declared_classes_are_set_up(tmp_path: Path) -> None:
    """A file with a reconciler, its owned and watched kinds, and a webhook needs no setup function."""
    file = tmp_path / "operator.py"
    file.write_text(DECLARED)
    assert await sources_of(str(file)) == {
        "podset": [
            "kind source: a.example.com/v1, Kind=PodSet",
            "kind source: apps/v1, Kind=Deployment",
            "kind source: v1, Kind=Pod",
        ]
    }
    assert await sources_of(f"{file}:PodSetReconciler") == await sources_of(str(file))
    async with Manager(Config.in_process(NoServer())) as manager:
        Target.parse(str(file)).find()(manager)
        assert [type(each.runnable) for each in manager.members if each.name == "webhook"] == [WebhookServer]


async def test_webhooks_alone_are_a_program(tmp_path: Path) -> None:
    """A module without reconcilers serves its webhooks and its conversions."""
    file = tmp_path / "hooks.py"
    kind = DECLARED[: DECLARED.index("class PodSetReconciler")]
    hook = "class PodSetDefaulter(Defaulter[PodSet]):\n    def default(self, obj, request): ...\n"
    file.write_text(kind + "from pyctrl.webhook import Defaulter\n" + hook)
    async with Manager(Config.in_process(NoServer())) as manager:
        Target.parse(str(file)).find()(manager)
        [server] = [each.runnable for each in manager.members if isinstance(each.runnable, WebhookServer)]
    assert server.webhooks.paths == ("/mutate-a-example-com-v1-podset",)


async def test_a_function_comes_before_classes(tmp_path: Path) -> None:
    """A setup function overrides the declared classes."""
    wiring = "\n\ndef add_two(manager):\n    from pyctrl import Builder\n"
    wiring += "    Builder(manager).options(name='mine').reconciles(PodSet).build(PodSetReconciler())\n"
    (tmp_path / "two.py").write_text(DECLARED.partition("class PodSetDefaults")[0] + wiring)
    assert list(await sources_of(str(tmp_path / "two.py"))) == ["mine"]


async def test_a_class_that_needs_arguments_is_an_error(tmp_path: Path) -> None:
    """The error names the class, and the function to write instead."""
    file = tmp_path / "needy.py"
    file.write_text(DECLARED.replace("    owns = ", "    def __init__(self, image): ...\n    owns = "))
    with pytest.raises(
        CommandFailed, match=r"PodSetReconciler cannot be created without arguments.*def add_controllers"
    ):
        await sources_of(str(file))


@pytest.mark.parametrize("layout", ["__init__", "__main__", "named", "dotted"])
async def test_a_directory_is_a_package(tmp_path: Path, layout: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package is set up from its root or its ``__main__``, by path or by module name."""
    package = tmp_path / "ops_root" / "ops" if layout == "dotted" else tmp_path / "ops"
    package.mkdir(parents=True)
    (package / "kinds.py").write_text(DECLARED)
    main = "__init__" if layout == "__init__" else "__main__"
    (package / f"{main}.py").write_text("from .kinds import PodSetReconciler\n")
    monkeypatch.chdir(tmp_path)
    target = Target.parse({"named": "ops", "dotted": "ops_root.ops"}.get(layout, str(package)))
    assert target.name == "ops"
    async with Manager(Config.in_process(NoServer())) as manager:
        target.find()(manager)
        assert manager.controller_names == {"podset"}
    assert {file.name for file in target.place.own_modules().values()} == {f"{main}.py", "kinds.py"}


def test_a_directory_without_a_package_is_an_error(tmp_path: Path) -> None:
    """The error says what makes a directory a program."""
    with pytest.raises(CommandFailed, match=r"no package: it has no __init__.py .* no project: it has no pyproject"):
        Target.parse(str(tmp_path))


async def test_a_directory_is_a_project(tmp_path: Path) -> None:
    """The pyproject.toml of a directory names its program, and the directory may be any name."""
    project = tmp_path / "01-project"
    project.mkdir()
    (project / "ops.py").write_text(DECLARED)
    (project / "pyproject.toml").write_text('[tool.pyctrl]\nprogram = "ops.py"\n')
    assert Target.parse(str(project)).name == "ops"
    assert list(await sources_of(str(project))) == ["podset"]
    assert list(await sources_of(f"{project}:PodSetReconciler")) == ["podset"]


async def test_a_package_comes_before_the_project(tmp_path: Path) -> None:
    """The ``__main__`` of a directory is its program, whatever its pyproject.toml names."""
    (tmp_path / "ops").mkdir()
    (tmp_path / "ops" / "__main__.py").write_text(DECLARED)
    (tmp_path / "ops" / "pyproject.toml").write_text('[tool.pyctrl]\nprogram = "missing.py"\n')
    assert Target.parse(str(tmp_path / "ops")).place.module == "ops.__main__"


@pytest.mark.parametrize("text", ['[tool.pyctrl]\nimage = "a"\n', '[tool.pyctrl]\nprogram = "."\n', "[project]\n"])
def test_a_directory_without_a_program_is_not_a_package(tmp_path: Path, text: str) -> None:
    """A pyproject.toml that names no program, or its own directory, changes nothing."""
    (tmp_path / "pyproject.toml").write_text(text)
    with pytest.raises(CommandFailed, match=r"is no package: it has no __init__\.py and no __main__\.py"):
        Target.parse(str(tmp_path))
