"""Files that a `pyctrl dev` session watches: new modules of a package, and the samples of the project."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from pyctrl.api import GroupVersionKind, Key, Unstructured
from pyctrl.client import wait_for
from pyctrl.dev import DevOptions, DevSession
from pyctrl.program import Target, find_samples
from tests.unit.dev._programs import PROGRAM, SAMPLE

pytestmark = pytest.mark.usefixtures("imports_as_before")


BOX = GroupVersionKind("dev.example.com", "v1", "Box")
MAIN = """\
from pyctrl.program import setup_package

import crates


def add_crates(manager):
    setup_package(manager, crates)
"""
DEFAULTS = """\
from pyctrl.webhook import AdmissionRequest, Defaulter

from crates.boxes import Box



class BoxDefaults(Defaulter[Box]):
    def default(self, obj: Box, request: AdmissionRequest) -> None:
        obj.spec.size = 7
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project like those of `pyctrl init`, in the current directory."""
    folder = tmp_path / "crates"
    folder.mkdir()
    for name, text in {"__init__": "", "__main__": MAIN, "boxes": PROGRAM}.items():
        (folder / f"{name}.py").write_text(text)
    (tmp_path / "pyproject.toml").write_text("")
    monkeypatch.chdir(tmp_path)
    return folder


@asynccontextmanager
async def session_of(target: str) -> AsyncIterator[DevSession]:
    options = DevOptions(controllers=False, kubelet=False)
    async with DevSession(Target.parse(target), options) as session, asyncio.TaskGroup() as group:
        following = group.create_task(session.run())
        yield session
        following.cancel()


@pytest.mark.parametrize("target", ["crates", "./crates"])
@pytest.mark.parametrize("path", ["defaults.py", "webhooks/defaults.py"])
async def test_a_new_module_is_loaded_when_it_is_written(package: Path, target: str, path: str) -> None:
    """A new module of the package is loaded, and its webhook called, although no other file imports it."""
    async with session_of(target) as session:
        if not (package / path).parent.is_dir():
            (package / path).parent.mkdir()
            (package / path).parent.joinpath("__init__.py").write_text("")
        (package / path).write_text(DEFAULTS)
        await asyncio.sleep(5)
        made = await session.admin.create(Unstructured.new(BOX, name="a", namespace="default", spec={}))
        assert (session.reloads, made["spec"]) == (1, {"size": 7})


async def test_samples_of_the_project_are_applied_wherever_they_are(package: Path) -> None:
    """Samples in ``config/samples`` and ``config/sample.yaml`` are applied; those of another project are not."""
    (package.parent / "config" / "samples").mkdir(parents=True)
    (package.parent / "config" / "samples" / "box.yaml").write_text(SAMPLE)
    (package.parent / "config" / "sample.yaml").write_text(SAMPLE.replace("name: sample", "name: second"))
    async with session_of("crates") as session:
        for name in ("sample", "second"):
            await wait_for(session.admin, BOX, Key("default", name), lambda box: box["spec"]["size"] == 2, timeout=10)


def test_samples_are_looked_for_up_to_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Samples beside a program come first, then those above it; samples outside of its project are ignored."""
    program = tmp_path / "project" / "src" / "operator"
    program.mkdir(parents=True)
    outside, inside = tmp_path / "config", tmp_path / "project" / "config"
    for config in (outside, inside):
        config.mkdir()
        (config / "sample.yaml").write_text(SAMPLE)
    (tmp_path / "project" / "pyproject.toml").write_text("")
    monkeypatch.chdir(tmp_path)
    assert find_samples(program) == [inside / "sample.yaml"]
    (inside / "sample.yaml").unlink()
    assert find_samples(program) == []
