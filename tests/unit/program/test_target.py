"""Programs by their names: files, directories and modules, with and without a function that wires them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pyctrl.client import Config
from pyctrl.controller import Controller
from pyctrl.errors import CommandFailed
from pyctrl.manager import Manager, NoServer
from pyctrl.program import Target, offline_manager
from pyctrl.program._module import ProgramModule
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


async def test_classes_that_say_it_all_are_wired_by_themselves(tmp_path: Path) -> None:
    """A file with a reconciler of a kind, what it owns and watches, and a webhook needs no function."""
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


async def test_a_function_comes_before_classes(tmp_path: Path) -> None:
    """Who writes a function decides what is wired."""
    wiring = "\n\ndef add_two(manager):\n    from pyctrl import Builder\n"
    wiring += "    Builder(manager).options(name='mine').reconciles(PodSet).build(PodSetReconciler())\n"
    (tmp_path / "two.py").write_text(DECLARED + wiring)
    assert list(await sources_of(str(tmp_path / "two.py"))) == ["mine"]


async def test_a_class_that_needs_arguments_is_refused(tmp_path: Path) -> None:
    """The message says which class, and what to write instead."""
    file = tmp_path / "needy.py"
    file.write_text(DECLARED.replace("    owns = ", "    def __init__(self, image): ...\n    owns = "))
    with pytest.raises(
        CommandFailed, match=r"PodSetReconciler cannot be created without arguments.*def add_controllers"
    ):
        await sources_of(str(file))


@pytest.mark.parametrize("layout", ["__init__", "__main__", "named", "dotted"])
async def test_a_directory_is_a_package(tmp_path: Path, layout: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the package or its ``__main__`` wires, by directory or by module name; its modules import each other."""
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


def test_importing_anew_sees_what_was_saved_and_forgets_what_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two saves within a second the second counts; one that cannot be imported leaves the modules as they were."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    file = tmp_path / "number.py"
    file.write_text("value = 1\n")
    place = Target.parse(str(file)).place
    assert place.load().value == 1
    file.write_text("value = 2\n")
    with place.reimported():
        assert place.load().value == 2
    file.write_text("value = 3\nraise ValueError('half')\n")
    with pytest.raises(CommandFailed, match=r"ValueError: half\n  --> .*number.py:2:1"), place.reimported():
        place.load()
    assert place.load().value == 2
    file.write_text("value =\n")
    with pytest.raises(CommandFailed, match=r"SyntaxError: invalid syntax\n  --> .*number.py:1:8"), place.reimported():
        place.load()


def test_files_of_one_name_in_two_directories_are_two_programs(tmp_path: Path) -> None:
    """The second is imported, and the first is not what is found in its place; nor is it lost when the second fails."""
    places = [tmp_path / name / "ops.py" for name in ("one", "two", "broken")]
    for place, text in zip(places, ("value = 1\n", "value = 2\n", "value =\n"), strict=True):
        place.parent.mkdir()
        place.write_text(text)
    one, two, broken = (ProgramModule.parse(str(place)) for place in places)
    assert [one.load().value, two.load().value] == [1, 2]
    with pytest.raises(CommandFailed, match="SyntaxError"):
        broken.load()
    assert sys.modules["pyctrl_target_ops"].value == 2


@pytest.mark.parametrize("named", [".", "ops.py"])
def test_a_file_may_have_the_name_of_its_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str) -> None:
    """Where one works in ops/, beside ops.py, the package ops is not taken for the file."""
    folder = tmp_path / "ops"
    folder.mkdir()
    (folder / "ops.py").write_text("value = 1\n")
    (folder / "__main__.py").write_text("from .ops import value\n")
    monkeypatch.chdir(folder)
    assert ProgramModule.parse(named).load().value == 1


def test_a_directory_without_a_program_is_refused(tmp_path: Path) -> None:
    """A directory that is no package is said to be none."""
    with pytest.raises(CommandFailed, match="is not a package: it has no __init__.py and no __main__.py"):
        Target.parse(str(tmp_path))
