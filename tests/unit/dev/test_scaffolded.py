"""A session with a project as commands have made it: its webhooks are asked without any set-up."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from pyctrl.api import GroupVersionKind, Key, Unstructured
from pyctrl.dev import DevOptions, DevSession
from pyctrl.errors import Invalid
from pyctrl.manager import Target
from tests.unit.scaffold._generated import DOMAIN, GENERATED

PODSET = GroupVersionKind(f"apps.{DOMAIN}", "v1alpha1", "PodSet")
FLEET, NEW_FLEET = (GroupVersionKind(DOMAIN, version, "Fleet") for version in ("v1", "v2"))
GREETING = GroupVersionKind(DOMAIN, "v1", "Greeting")


@pytest.fixture(autouse=True)
def modules_and_path_as_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What a test imports is forgotten."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = dict(sys.modules)
    yield
    for name in set(sys.modules) - set(before):
        if name.partition(".")[0] in ("shop", "greeter"):
            del sys.modules[name]
    sys.modules.update(before)


def session_of(program: str) -> DevSession:
    """Make a session with a program of tests/generated, without samples."""
    options = DevOptions(controllers=False, kubelet=False, apply=())
    return DevSession(Target.parse(str(GENERATED / program)), options)


def named(kind: GroupVersionKind, name: str) -> Unstructured:
    """Return an object that says nothing."""
    return Unstructured.new(kind, name=name, namespace="default", spec={})


async def test_webhooks_of_a_package_are_asked() -> None:
    """What fills in, what refuses and what converts are found in their modules."""
    async with session_of("package/shop") as session:
        made = await session.admin.create(named(PODSET, "a"))
        assert list(made.metadata.annotations) == [f"apps.{DOMAIN}/created-by"]
        with pytest.raises(Invalid, match=r"metadata\.name: Too long"):
            await session.admin.create(named(PODSET, "x" * 53))
        fleet = Unstructured.new(FLEET, name="b", spec={})
        await session.admin.create(fleet)
        assert (await session.admin.get(NEW_FLEET, Key("", "b"))).gvk == NEW_FLEET
        assert session.problem == ""


async def test_webhooks_of_a_single_file_are_asked() -> None:
    """What was written behind the rest of it is found there."""
    async with session_of("single-file/greeter.py") as session:
        made = await session.admin.create(named(GREETING, "a"))
        assert list(made.metadata.annotations) == [f"{DOMAIN}/created-by"]
        with pytest.raises(Invalid, match=r"metadata\.name: Too long"):
            await session.admin.create(named(GREETING, "x" * 53))
