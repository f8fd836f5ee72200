"""What one server does for all requests: paths of other servers, its own requests, the end of its tasks."""

from __future__ import annotations

import json

import pytest

from pyctrl.apiserver import ApiServer, ClusterAuthenticationInfo, ExtensionResourceRegistry
from tests.unit.apiserver.aggregator._remote import API_SERVICES, NAME, PATH, Remote, extended, get, until_available


async def test_requests_to_another_server_are_authorized_first() -> None:
    """A user without a role gets 403 from this server, which does not call the other one."""
    remote = Remote({f"{PATH}/flavors": {}})
    server = extended(remote, authorization="RBAC")
    async with server.running():
        await until_available(server)
        before = len(remote.requests)
        assert (await server.handle("GET", f"{PATH}/flavors", (), {}, b"")).status == 403
        assert len(remote.requests) == before
        assert (await get(server, f"{PATH}/flavors"))[0] == 200
        assert ("X-Remote-User", "system:apiserver") in remote.requests[-1].headers


async def test_the_server_writes_conditions_under_its_own_name() -> None:
    """The manager of the condition is kube-apiserver."""
    server = extended(Remote())
    async with server.running():
        await until_available(server)
    _, found = await get(server, f"{API_SERVICES}/{NAME}")
    managers = {each["manager"]: each.get("subresource") for each in found["metadata"]["managedFields"]}
    assert managers["kube-apiserver"] == "status"


async def test_an_extension_api_server_has_no_aggregator() -> None:
    """It runs nothing, and publishes nothing."""
    server = ApiServer(registry=ExtensionResourceRegistry())
    async with server.running():
        assert json.loads((await server.handle("GET", "/apis", (), {}, b"")).body or b"")["groups"] == []  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="publishes nothing"):
        server.publish_authentication(ClusterAuthenticationInfo())
