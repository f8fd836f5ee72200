"""A program that serves kinds of its own, in a `pyctrl dev` session in virtual time."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from pyctrl.api import GroupVersionKind, Key, Unstructured
from pyctrl.apiserver import User
from pyctrl.client import Client, wait_for
from pyctrl.dev import DevOptions, DevSession
from pyctrl.dev._requirements import find_requirements
from pyctrl.errors import Forbidden, ServiceUnavailable
from pyctrl.kinds.apiregistration.v1 import APIService
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.program import Target
from tests.unit.dev._programs import EXTENSION

pytestmark = pytest.mark.usefixtures("imports_as_before")

FLAVOR = GroupVersionKind("dev.example.com", "v1", "Flavor")


def flavor(name: str) -> Unstructured:
    """Return an object of the kind."""
    metadata = {"name": name, "namespace": "default"}
    return Unstructured({"apiVersion": "dev.example.com/v1", "kind": "Flavor", "metadata": metadata})


async def create(client: Client, name: str) -> None:
    """Create a flavor as soon as its server is available."""
    while True:
        try:
            await client.create(flavor(name))
        except ServiceUnavailable:
            await asyncio.sleep(1)
        else:
            return


async def test_the_kinds_are_served_and_reconciled(tmp_path: Path) -> None:
    """Clients of the cluster read and write the kinds, and after a reload the new version serves them."""
    file = tmp_path / "flavors.py"
    file.write_text(EXTENSION)
    options = DevOptions(controllers=False, kubelet=False, apply=[])
    async with DevSession(Target.parse(str(file)), options) as session:
        await wait_for(
            session.admin, APIService, Key("", "v1.dev.example.com"), lambda each: bool(each.status.conditions)
        )
        await create(session.admin, "vanilla")
        await wait_for(session.admin, ConfigMap, Key("default", "vanilla-one"))
        async with Client.connect(session.cluster.config_for(User(name="jane"))) as jane:
            with pytest.raises(Forbidden):
                await jane.list(FLAVOR)
        file.write_text(EXTENSION.replace('"one"', '"other"'))
        assert await session.reload()
        await create(session.admin, "mint")
        await wait_for(session.admin, ConfigMap, Key("default", "mint-other"))


async def test_a_program_that_serves_nothing_any_more_has_no_api_service(tmp_path: Path) -> None:
    """The APIServices of the previous version are deleted."""
    file = tmp_path / "flavors.py"
    file.write_text(EXTENSION)
    options = DevOptions(controllers=False, kubelet=False, apply=[])
    async with DevSession(Target.parse(str(file)), options) as session:
        file.write_text("def add_nothing(manager):\n    pass\n")
        assert await session.reload()
        assert await session.admin.find(APIService, Key("", "v1.dev.example.com")) is None


async def test_the_objects_for_them_are_found(tmp_path: Path) -> None:
    """The program may review the access of users, and has a Service, an APIService and no definition."""
    file = tmp_path / "flavors.py"
    file.write_text(EXTENSION)
    found = await find_requirements(Target.parse(str(file)).find(), name="flavors", account=Key("a", "operator"))
    assert found.definitions == []
    assert [each["kind"] for each in found.registrations] == ["ClusterRoleBinding", "Service", "APIService"]
    assert found.services == [Key("a", "flavors-apiserver-0")]
