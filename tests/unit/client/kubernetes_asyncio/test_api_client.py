"""The ApiClient of kubernetes_asyncio over pyctrl's transport: requests, login, answers, errors, limits."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import aiohttp
import pytest
from kubernetes_asyncio.client import (
    ApiClient,
    ApiException,
    AppsV1Api,
    CoreV1Api,
    CustomObjectsApi,
    V1ConfigMap,
    V1DeleteOptions,
    V1ObjectMeta,
)

from pyctrl.client import Config, HttpRequest, Impersonation
from pyctrl.client._kubernetes_asyncio.api_client import TransportRESTClient, http_request, time_limits
from pyctrl.client._transport.leader_gate import write_gates
from pyctrl.client._transport.rest_client import forbidden_log
from pyctrl.errors import Forbidden, NotLeading, RequestTimeout
from tests.unit.client._fake_server import Asked, FakeServer, Reply

LIST: dict[str, Any] = {"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": []}


def config(server: FakeServer, **options: Any) -> Config:
    """Return a login at a scripted server."""
    return replace(Config.in_process(server, token="t"), **options)


class Renewing:
    """Credentials with a token that a rejection renews."""

    def __init__(self) -> None:
        self.number = 0

    async def authorization(self) -> str:
        return f"Bearer {self.number}"

    async def refresh(self, rejected: str | None = None) -> bool:
        self.number += 1
        return True


# --- requests -------------------------------------------------------------------------------------------------------


async def test_a_call_is_a_request_with_pyctrl_s_login(server: FakeServer) -> None:
    """Token, user agent and impersonated user are those of the Config; path and query are the call's."""
    server.reply(LIST)
    login = config(server, user_agent="operator/1", impersonate=Impersonation(user="jane"))
    async with login.api_client() as api:
        pods = await CoreV1Api(api).list_namespaced_pod("shop", label_selector="app=a,b in (c)", limit=5, watch=False)
    assert isinstance(api, ApiClient)
    assert pods.items == []
    [asked] = server.asked
    assert (asked.method, asked.path) == ("GET", "/api/v1/namespaces/shop/pods")
    assert asked.query == {"labelSelector": "app=a,b in (c)", "limit": "5", "watch": "False"}
    assert asked.headers["Authorization"] == "Bearer t"
    assert asked.headers["Impersonate-User"] == "jane"
    assert asked.headers["User-Agent"] == "operator/1"


async def test_the_user_agent_may_be_the_program_s_own(server: FakeServer) -> None:
    """The user agent is pyctrl's until the program sets one."""
    server.reply(LIST)
    server.reply(LIST)
    async with config(server).api_client() as api:
        await CoreV1Api(api).list_namespaced_pod("shop")
        api.user_agent = "mine/1"
        await CoreV1Api(api).list_namespaced_pod("shop")
    first, second = (asked.headers["User-Agent"] for asked in server.asked)
    assert first.startswith("pyctrl/")
    assert second == "mine/1"


async def test_a_token_that_is_rejected_is_renewed(server: FakeServer) -> None:
    """After a 401 the credentials are renewed and the request is repeated, without the program's doing."""
    server.refuse(401, "Unauthorized")
    server.reply(LIST)
    async with config(server, credentials=Renewing()).api_client() as api:
        await CoreV1Api(api).list_namespaced_pod("shop")
    assert [asked.headers["Authorization"] for asked in server.asked] == ["Bearer 0", "Bearer 1"]


@pytest.mark.parametrize(
    ("body", "options", "content_type"),
    [
        ({"data": {"a": "b"}}, {}, "application/strategic-merge-patch+json"),
        (V1ConfigMap(data={"a": "b"}), {}, "application/strategic-merge-patch+json"),
        ([{"op": "add", "path": "/data/a", "value": "b"}], {}, "application/json-patch+json"),
        ({"data": {"a": "b"}}, {"_content_type": "application/merge-patch+json"}, "application/merge-patch+json"),
        (
            {"data": {"a": "b"}},
            {"_content_type": "application/apply-patch+yaml", "field_manager": "me"},
            "application/apply-patch+yaml",
        ),
    ],
)
async def test_every_type_of_patch(server: FakeServer, body: Any, options: dict[str, Any], content_type: str) -> None:
    """A patch is sent with the content type that the library chooses or the program passes."""
    server.reply({"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "a"}})
    async with config(server).api_client() as api:
        patched = await CoreV1Api(api).patch_namespaced_config_map("a", "shop", body, **options)
    assert patched.metadata.name == "a"
    [asked] = server.asked
    assert (asked.method, asked.headers["Content-Type"]) == ("PATCH", content_type)
    assert asked.json in ({"data": {"a": "b"}}, body)


async def test_bodies_of_other_requests(server: FakeServer) -> None:
    """A delete has its options as body, a request without body has no content type, and bytes are sent as they are."""
    server.reply({"kind": "Status", "apiVersion": "v1", "status": "Success"})
    server.reply({"kind": "Thing"})
    server.reply({})
    async with config(server).api_client() as api:
        await AppsV1Api(api).delete_namespaced_deployment(
            "a", "shop", body=V1DeleteOptions(propagation_policy="Orphan")
        )
        await CustomObjectsApi(api).get_cluster_custom_object("demo.test", "v1", "things", "a b")
        await api.call_api(
            "/upload",
            "POST",
            header_params={"Content-Type": "application/octet-stream"},
            body=b"\0\1",
            response_types_map={},
        )
    deleted, got, uploaded = server.asked
    assert deleted.json == {"propagationPolicy": "Orphan"}
    assert (got.path, got.body) == ("/apis/demo.test/v1/things/a b", b"")
    assert (uploaded.body, uploaded.headers["Content-Type"]) == (b"\0\1", "application/octet-stream")


def test_a_body_that_cannot_be_sent() -> None:
    """A body that does not fit its content type, or a URL of another server, is an ApiException without a request."""
    with pytest.raises(ApiException, match="a body of type dict cannot be sent as text/plain"):
        http_request("http://s", "POST", "http://s/a", (), {"Content-Type": "text/plain"}, {})
    with pytest.raises(ApiException, match="not at http://s, the only server"):
        http_request("http://s", "GET", "http://s.evil/a", (), {}, None)
    assert http_request("http://s", "GET", "http://s/a%20b?c=d", {"e": [1, 2]}, {}, None).query == (
        ("c", "d"),
        ("e", "1"),
        ("e", "2"),
    )
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    assert http_request("http://s", "POST", "http://s/a", (), form, None, [("a", "b c")]).body == b"a=b+c"


# --- answers --------------------------------------------------------------------------------------------------------


async def test_errors_are_api_exceptions(server: FakeServer) -> None:
    """An error has status, reason, body as text, and headers, also where the program reads the body itself."""
    for preload in (True, False):
        server.refuse(409, "AlreadyExists", "taken", Retry_After="3")
        async with config(server).api_client() as api:
            with pytest.raises(ApiException) as raised:
                await CoreV1Api(api).create_namespaced_config_map(
                    "shop", V1ConfigMap(metadata=V1ObjectMeta(name="a")), _preload_content=preload
                )
        error: Any = raised.value
        assert (error.status, error.reason) == (409, "Conflict")
        assert json.loads(error.body)["reason"] == "AlreadyExists"
        assert error.headers["retry-after"] == "3"


async def test_answers_with_status_and_headers(server: FakeServer) -> None:
    """``…_with_http_info`` returns the object, the status and the headers; a status without a name has no reason."""
    server.reply(LIST, status=299, headers=[("Audit-Id", "x")])
    async with config(server).api_client() as api:
        _, status, headers = await CoreV1Api(api).list_namespaced_pod_with_http_info("shop")
    assert (status, headers["audit-id"]) == (299, "x")


async def test_a_read_that_is_forbidden_is_known_to_the_controller(server: FakeServer) -> None:
    """In a reconcile, a 403 counts as a missing permission, also if the program handles the ApiException."""
    denied: list[Forbidden] = []
    message = 'pods is forbidden: User "u" cannot list resource "pods" in API group "" in the namespace "shop"'
    server.refuse(403, "Forbidden", message)
    token = forbidden_log.set(denied)
    try:
        async with config(server).api_client() as api:
            with pytest.raises(ApiException):
                await CoreV1Api(api).list_namespaced_pod("shop")
    finally:
        forbidden_log.reset(token)
    assert [error.resource for error in denied] == ["pods"]


async def test_a_replica_that_no_longer_leads_writes_nothing(server: FakeServer) -> None:
    """A write of work that needs leader election is not sent after the lease is lost; a read is."""

    class Lost:
        """A lease that has expired."""

        def check(self, request: HttpRequest) -> None:
            raise NotLeading("the lease has expired")

        def sent(self, answer: object) -> None:
            """Not called: nothing is sent."""

    server.reply(LIST)
    token = write_gates.set((Lost(),))
    try:
        async with config(server).api_client() as api:
            await CoreV1Api(api).list_namespaced_pod("shop")
            with pytest.raises(NotLeading):
                await CoreV1Api(api).delete_namespaced_pod("a", "shop")
    finally:
        write_gates.reset(token)
    assert len(server.asked) == 1


# --- limits ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "limits"),
    [
        (None, (None, None)),
        (0, (None, None)),
        (2.5, (2.5, None)),
        ((1, 3), (None, 3)),
        (aiohttp.ClientTimeout(total=4, sock_read=5), (4, 5)),
    ],
)
def test_limits(given: Any, limits: tuple[float | None, float | None]) -> None:
    """``_request_timeout`` is a total, a pair for connection and reads, or aiohttp's."""
    assert time_limits(given) == limits


@pytest.mark.parametrize("limit", [30, (1, 30)], ids=["total", "between parts"])
async def test_a_request_that_takes_too_long(server: FakeServer, limit: Any) -> None:
    """After its limit a call raises what both libraries call a timeout; without a limit it waits."""

    async def never() -> AsyncIterator[bytes]:
        await asyncio.sleep(100)
        yield b"{}"

    async def slow(_: Asked) -> Reply:
        return Reply(body=never())

    server.handler = slow
    async with config(server).api_client() as api:
        began = asyncio.get_running_loop().time()
        with pytest.raises(asyncio.TimeoutError) as raised:
            await CoreV1Api(api).list_namespaced_pod("shop", _request_timeout=limit)
        assert asyncio.get_running_loop().time() - began == 30
        await CoreV1Api(api).read_namespaced_pod("shop", "a")
        assert asyncio.get_running_loop().time() - began == 130
    assert isinstance(raised.value, RequestTimeout)


# --- the end --------------------------------------------------------------------------------------------------------


async def test_closing_closes_the_transport(server: FakeServer) -> None:
    """After `close` a call fails as one without a connection, for code of both libraries."""
    api = config(server).api_client()
    await api.close()
    with pytest.raises(aiohttp.ClientConnectionError, match="closed"):
        await CoreV1Api(api).list_namespaced_pod("shop")


def test_it_is_made_without_a_loop(server: FakeServer) -> None:
    """An ApiClient may be made before the event loop runs, and knows nothing of the login."""
    api = config(server).api_client()
    assert api.configuration.host == "http://in-process"
    assert api.configuration.api_key == {}
    assert isinstance(api.rest_client, TransportRESTClient)
    with pytest.raises(AttributeError, match="pyctrl's transport sends the requests"):
        _ = api.rest_client.pool_manager
