"""`pyctrl dev` sessions with scaffolded projects: webhooks work without any setup."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pyctrl.api import GroupVersionKind, Key, Unstructured
from pyctrl.dev import DevOptions, DevSession
from pyctrl.errors import Forbidden, Invalid
from pyctrl.program import Target
from tests.unit.scaffold._generated import DOMAIN, GENERATED

PODSET = GroupVersionKind(f"apps.{DOMAIN}", "v1alpha1", "PodSet")
FLEET, NEW_FLEET = (GroupVersionKind(DOMAIN, version, "Fleet") for version in ("v1", "v2"))
GREETING = GroupVersionKind(DOMAIN, "v1", "Greeting")


@pytest.fixture(autouse=True)
def modules_and_path_as_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Remove the modules that a test has imported."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = dict(sys.modules)
    yield
    for name in set(sys.modules) - set(before):
        if name.partition(".")[0] in ("shop", "greeter", "admitted_things"):
            del sys.modules[name]
    sys.modules.update(before)


def session_of(program: str) -> DevSession:
    """Make a session with a program of tests/generated, without samples."""
    options = DevOptions(controllers=False, kubelet=False, apply=())
    return DevSession(Target.parse(str(GENERATED / program)), options)


def named(kind: GroupVersionKind, name: str) -> Unstructured:
    """Return an object with an empty spec."""
    return Unstructured.new(kind, name=name, namespace="default", spec={})


async def test_webhooks_of_a_package_are_asked() -> None:
    """Defaulters, validators and converters are found in the modules of a package."""
    async with session_of("package/shop") as session:
        made = await session.admin.create(named(PODSET, "a"))
        assert list(made.metadata.annotations) == [f"apps.{DOMAIN}/created-by"]
        with pytest.raises(Invalid, match=r"metadata\.name: Too long"):
            await session.admin.create(named(PODSET, "x" * 53))
        fleet = Unstructured.new(FLEET, name="b", spec={})
        await session.admin.create(fleet)
        assert (await session.admin.get(NEW_FLEET, Key("", "b"))).gvk == NEW_FLEET
        assert session.problem == ""


ADMITS = """
from pyctrl import CustomResource, Manager, Model
from pyctrl.errors import Denied
from pyctrl.webhook import AdmissionRequest, Validator, WebhookBuilder, Webhooks, WebhookServer


class Thing(CustomResource[Model], group="dev.example.com", version="v1"):
    "Nobody reconciles it."


class ThingValidation(Validator[Thing]):
    def validate_create(self, obj: Thing, request: AdmissionRequest) -> None:
        raise Denied("not today")


def add_things(manager: Manager) -> None:
    webhooks = Webhooks()
    WebhookBuilder(webhooks).admits(Thing).build(ThingValidation())
    manager.add(WebhookServer(webhooks))
"""


async def test_a_kind_that_is_only_admitted_is_there(tmp_path: Path) -> None:
    """A session works for a program with a webhook for a kind but no controller of it."""
    (tmp_path / "admitted_things.py").write_text(ADMITS)
    async with session_of(str(tmp_path / "admitted_things.py")) as session:
        with pytest.raises(Forbidden, match="not today"):
            await session.admin.create(named(GroupVersionKind("dev.example.com", "v1", "Thing"), "a"))


async def test_webhooks_of_a_single_file_are_asked() -> None:
    """The webhooks at the end of a single-file program are found."""
    async with session_of("single-file/greeter.py") as session:
        made = await session.admin.create(named(GREETING, "a"))
        assert list(made.metadata.annotations) == [f"{DOMAIN}/created-by"]
        with pytest.raises(Invalid, match=r"metadata\.name: Too long"):
            await session.admin.create(named(GREETING, "x" * 53))
