"""Aggregator: which requests are proxied, and when an extension API server is checked."""

from __future__ import annotations

import asyncio
import json
from base64 import b64encode
from random import Random

import pytest

from pyctrl.apiserver import ApiServer, Response
from tests.unit.apiserver.aggregator._https import CLUSTER, Conversation, serving
from tests.unit.apiserver.aggregator._remote import (
    AGGREGATED,
    API_SERVICES,
    GROUP,
    HOST,
    NAME,
    PATH,
    SERVICES,
    Remote,
    api_service,
    condition,
    create,
    extended,
    get,
    service,
    until_available,
)

ITEMS = {"kind": "FlavorList", "items": []}


async def test_requests_are_proxied_while_the_server_is_available() -> None:
    """Below the group version, the extension API server answers, when it was found to be available."""
    remote = Remote({f"{PATH}/flavors": ITEMS})
    server = extended(remote)
    assert await get(server, f"{PATH}/flavors") == (503, "service unavailable\n")
    async with server.running():
        await until_available(server)
        assert await get(server, f"{PATH}/flavors") == (200, ITEMS)
        assert (await get(server, f"{PATH}/other"))[0] == 404
        remote.why_down = "EOF"
        assert await get(server, f"{PATH}/flavors") == (503, "error trying to reach service: EOF\n")


async def test_a_group_version_is_listed_before_its_server_answers() -> None:
    """Discovery has a group version as soon as its APIService exists, without resources and as stale."""
    remote = Remote()
    remote.why_down = "EOF"
    server = extended(remote)
    async with server.running():
        await until_available(server, "False")
        _, found = await get(server, "/apis", AGGREGATED)
        stale = {"version": "v1", "freshness": "Stale"}
        assert {"metadata": {"name": GROUP}, "versions": [stale]} in found["items"]
        assert (await get(server, f"/apis/{GROUP}"))[1]["preferredVersion"]["version"] == "v1"


async def test_a_check_that_fails_is_repeated_soon_and_then_less_often() -> None:
    """The first retry is after 10 ms; later ones are at most 30 seconds apart."""
    remote = Remote()
    remote.why_down = "EOF"
    server = extended(remote)
    loop = asyncio.get_running_loop()
    started = loop.time()
    async with server.running():
        await until_available(server, "False")
        await asyncio.sleep(60)
        assert 12 < len(remote.requests) / 5 < 20  # five for each check
        remote.why_down = ""
        await until_available(server)
        assert loop.time() - started < 100


async def test_a_server_is_checked_every_thirty_seconds() -> None:
    """A server that stops answering becomes unavailable without an event; its documents are fetched each minute."""
    remote = Remote()
    server = extended(remote)
    async with server.running():
        await until_available(server)
        await asyncio.sleep(125)
        assert remote.paths().count("/apis") == 3
        assert remote.paths().count(PATH) == 5 * 5
        remote.why_down = "EOF"
        await until_available(server, "False")
        assert (await condition(server))["reason"] == "FailedDiscoveryCheck"


async def test_a_server_that_becomes_unavailable_has_stale_documents() -> None:
    """At once, not only with the next fetch of its documents."""
    remote = Remote()
    server = extended(remote)
    async with server.running():
        await until_available(server)
        remote.why_down = "EOF"
        await until_available(server, "False")
        await asyncio.sleep(0)
        _, found = await get(server, "/apis", AGGREGATED)
        (group,) = [each for each in found["items"] if each["metadata"]["name"] == GROUP]
        assert group["versions"] == [{"version": "v1", "freshness": "Stale"}]


async def test_a_change_of_the_service_is_noticed_at_once() -> None:
    """An APIService becomes available when its service is created."""
    remote = Remote()
    server = ApiServer()
    server.service_transports["elsewhere.invalid"] = remote
    create(server, API_SERVICES, api_service())
    async with server.running():
        await until_available(server, "False")
        assert (await condition(server))["reason"] == "ServiceNotFound"
        started = asyncio.get_running_loop().time()
        create(server, SERVICES, service(externalName="elsewhere.invalid"))
        await until_available(server)
        assert asyncio.get_running_loop().time() - started < 1


async def test_a_deleted_api_service_is_gone() -> None:
    """Without its APIService, a group version is neither served nor listed."""
    server = extended(Remote({f"{PATH}/flavors": ITEMS}))
    async with server.running():
        await until_available(server)
        server.handle_nowait("DELETE", f"{API_SERVICES}/{NAME}")
        assert (await get(server, f"{PATH}/flavors"))[0] == 404
        assert GROUP not in json.dumps((await get(server, "/apis"))[1])
        create(server, API_SERVICES, api_service())
        await until_available(server)


async def test_a_service_that_is_removed_makes_the_group_version_local() -> None:
    """An APIService without a service is served by this server, which does not know the group."""
    server = extended(Remote({f"{PATH}/flavors": ITEMS}))
    async with server.running():
        await until_available(server)
        patch = json.dumps({"spec": {"service": None}}).encode()
        headers = {"Content-Type": "application/merge-patch+json"}
        assert server.handle_nowait("PATCH", f"{API_SERVICES}/{NAME}", headers=headers, body=patch).status == 200
        assert (await get(server, f"{PATH}/flavors"))[0] == 404


async def test_a_resource_version_of_the_other_server_is_not_awaited() -> None:
    """Versions of another storage have nothing to do with those of this server."""
    server = extended(Remote({f"{PATH}/flavors": ITEMS}))
    async with server.running():
        await until_available(server)
        loop = asyncio.get_running_loop()
        started = loop.time()
        found = await server.handle("GET", f"{PATH}/flavors", [("resourceVersion", "99999999")], {}, b"")
        assert (found.status, loop.time() - started) == (200, 0)


async def test_a_request_that_may_not_wait_is_refused() -> None:
    """`handle_nowait` cannot proxy."""
    server = extended(Remote())
    with pytest.raises(RuntimeError, match="has to wait"):
        server.handle_nowait("GET", f"{PATH}/flavors")


async def test_openapi_v3_documents_are_proxied() -> None:
    """The documents that the extension API server lists are read from it."""
    path = f"apis/{GROUP}/v1"
    index = {"paths": {path: {"serverRelativeURL": f"/openapi/v3/{path}?hash=1"}, "version": {}}}
    server = extended(Remote({"/openapi/v3": index, f"/openapi/v3/{path}": {"openapi": "3.0.0"}}))
    async with server.running():
        await until_available(server)
        await asyncio.sleep(0)
        paths = (await get(server, "/openapi/v3"))[1]["paths"]
        assert paths[path] == index["paths"][path]
        assert (await get(server, f"/openapi/v3/{path}"))[1] == {"openapi": "3.0.0"}
        assert (await get(server, f"/openapi/v3/apis/{GROUP}/v2"))[0] == 404


async def test_openapi_v2_of_a_server_without_v3_is_converted() -> None:
    """This server then serves the v3 document, until the other one does."""
    path = f"apis/{GROUP}/v1"
    remote = Remote({"/openapi/v2": {"swagger": "2.0", "info": {"title": "flavors"}, "paths": {}}})
    server = extended(remote)
    async with server.running():
        await until_available(server)
        await asyncio.sleep(0)
        (url,) = (await get(server, "/openapi/v3"))[1]["paths"][path].values()
        assert url.startswith(f"/openapi/v3/{path}?hash=")
        code, document = await get(server, f"/openapi/v3/{path}")
        assert (code, document["openapi"], document["info"]) == (200, "3.0.0", {"title": "flavors"})
        own = {"serverRelativeURL": f"/openapi/v3/{path}?hash=1"}
        remote.documents |= {"/openapi/v3": {"paths": {path: own}}, f"/openapi/v3/{path}": {"openapi": "3.1.0"}}
        await asyncio.sleep(120)
        assert (await get(server, "/openapi/v3"))[1]["paths"][path] == own
        assert (await get(server, f"/openapi/v3/{path}"))[1] == {"openapi": "3.1.0"}


async def test_metrics_tell_which_servers_are_unavailable() -> None:
    """The counter grows when a server that was available is not any more."""
    remote, name = Remote(), f'{{name="{NAME}"'
    server = extended(remote)

    async def samples() -> list[str]:
        _, text = await get(server, "/metrics")
        return [line for line in text.splitlines() if line.startswith("aggregator_") and NAME in line]

    async with server.running():
        await until_available(server)
        assert await samples() == [f"aggregator_unavailable_apiservice{name}}} 0"]
        remote.why_down = "EOF"
        await until_available(server, "False")
        assert await samples() == [
            f"aggregator_unavailable_apiservice{name}}} 1",
            f'aggregator_unavailable_apiservice_total{name},reason="FailedDiscoveryCheck"}} 1',
        ]
        _, text = await get(server, "/metrics")
        assert 'aggregator_unavailable_apiservice{name="v1.apps"} 0\n' in text


async def test_blocks_may_overlap() -> None:
    """A cluster that is served runs the aggregator twice, but only one checks."""
    remote = Remote()
    server = extended(remote)
    async with server.running():
        async with server.running():
            await until_available(server)
        await asyncio.sleep(0)
        checks = remote.paths().count(PATH)
        await asyncio.sleep(31)
        assert remote.paths().count(PATH) == checks + 5


async def test_a_broken_response_is_passed_on() -> None:
    """Status, headers and body of the other server are passed on as they are."""
    odd = Response(status=418, headers=[("X-A", "1"), ("X-A", "2"), ("Audit-Id", "theirs")], body=b"{")
    server = extended(Remote({f"{PATH}/flavors": odd}))
    async with server.running():
        await until_available(server)
        found = await server.handle("GET", f"{PATH}/flavors", (), {}, b"")
        assert (found.status, list(found.headers), found.body) == (418, [("X-A", "1"), ("X-A", "2")], b"{")
        assert found.is_verbatim


async def test_the_legacy_group_can_be_remote() -> None:
    """With a service in APIService `v1.`, all of /api is proxied; other groups stay as they are."""
    documents = {"/api": {"kind": "APIVersions"}, "/api/v1": {"kind": "APIResourceList"}, "/api/v1/pods": {"a": 1}}
    remote = Remote(documents)
    server = ApiServer(random=Random(7))
    server.service_transports[HOST] = remote
    create(server, SERVICES, service())
    _, before = await get(server, "/apis")
    own = {"Authorization": f"Bearer {server.loopback_token}"}
    code, local = await get(server, f"{API_SERVICES}/v1.")
    assert (code, "service" in local["spec"]) == (200, False)
    local["spec"] |= {"service": {"namespace": "default", "name": "flavors"}, "insecureSkipTLSVerify": True}
    async with server.running():
        made = await server.handle("PUT", f"{API_SERVICES}/v1.", (), own, json.dumps(local).encode())
        assert made.status == 200, made.body
        while (await condition(server, "v1.")).get("reason") != "Passed":
            await server.storage.reaches(server.storage.version + 1, seconds=3600)
        assert "/api/v1" in remote.paths()
        for path in ("/api", "/api/v1", "/api/v1/pods"):
            assert await get(server, path) == (200, remote.documents[path])
        assert await get(server, "/apis") == (200, before)
        assert (await get(server, "/apis/apps/v1/deployments"))[0] == 200


@pytest.mark.real_time
async def test_proxied_requests_share_connections() -> None:
    """While the server runs, requests one after the other need no further connection to the service."""
    script = Conversation()
    async with serving(script) as port:
        server = ApiServer(random=Random(7))
        create(server, SERVICES, service(externalName="localhost"))
        reference = {"namespace": "default", "name": "flavors", "port": port}
        create(server, API_SERVICES, api_service(service=reference, caBundle=b64encode(CLUSTER.pem).decode()))
        async with server.running():
            await until_available(server)
            assert (await get(server, f"{PATH}/flavors"))[0] == 200
            before = script.connections
            for _ in range(3):
                assert (await get(server, f"{PATH}/flavors"))[0] == 200
    assert script.connections == before
