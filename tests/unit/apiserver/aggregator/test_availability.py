"""Availability of extension API servers."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pyctrl.apiserver import ApiServer, ProxyRequest, Response, ServiceReference
from pyctrl.apiserver._aggregator.api_service import APIService
from pyctrl.apiserver._aggregator.availability import Availability, AvailableConditionController
from pyctrl.apiserver._aggregator.proxy_handler import ProxyHandler
from pyctrl.apiserver._webhooks import EndpointServiceResolver
from tests.unit.apiserver.aggregator._remote import PATH, SERVICES, Remote, api_service, create, service
from tests.unit.apiserver.registry.pods._kubelet import RefusingKubelet

SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"
PORTS = [{"port": 443, "name": "https"}]


def endpoints(*, ready: bool | None = True, port: str = "https") -> dict[str, Any]:
    """Return an EndpointSlice of the service."""
    conditions = {} if ready is None else {"ready": ready}
    return {
        "metadata": {"name": "flavors-1", "labels": {"kubernetes.io/service-name": "flavors"}},
        "addressType": "IPv4",
        "endpoints": [{"addresses": ["10.0.0.1"], "conditions": conditions}],
        "ports": [{"name": port, "port": 6443}],
    }


def resolve(reference: ServiceReference) -> tuple[str, int]:
    """Resolve every service."""
    return "flavors.invalid", reference.port


async def check(server: ApiServer, remote: Any) -> Availability:
    """Return the availability of the APIService."""
    controller = AvailableConditionController(server.storage, ProxyHandler(resolve, remote, {}))
    return await controller.check(APIService.from_object(api_service()))


async def test_a_service_and_its_endpoints_must_exist() -> None:
    """The reasons and messages are those of kube-apiserver."""
    server, remote = ApiServer(), Remote()
    why = 'service/flavors in "default" is not present'
    assert await check(server, remote) == Availability("False", "ServiceNotFound", why)
    create(server, SERVICES, service(type="ClusterIP", externalName=None, ports=[{"port": 80}]))
    why = 'service/flavors in "default" is not listening on port 443'
    assert await check(server, remote) == Availability("False", "ServicePortError", why)
    assert remote.requests == []


@pytest.mark.parametrize(
    ("found", "reason", "why"),
    [
        pytest.param(
            None, "EndpointsNotFound", 'cannot find endpointslices for service/flavors in "default"', id="none"
        ),
        pytest.param(
            endpoints(ready=False),
            "MissingEndpoints",
            'endpointslices for service/flavors in "default" have no addresses with port name "https"',
            id="not ready",
        ),
        pytest.param(
            endpoints(port="http"),
            "MissingEndpoints",
            'endpointslices for service/flavors in "default" have no addresses with port name "https"',
            id="another port",
        ),
        pytest.param(endpoints(ready=None), "Passed", "all checks passed", id="ready by default"),
        pytest.param(endpoints(), "Passed", "all checks passed", id="ready"),
    ],
)
async def test_a_service_of_the_cluster_needs_a_ready_endpoint(
    found: dict[str, Any] | None, reason: str, why: str
) -> None:
    """Endpoints are matched by the name of the port."""
    server = ApiServer()
    create(server, SERVICES, service(type="ClusterIP", externalName=None, ports=PORTS))
    if found is not None:
        create(server, SLICES, found)
    result = await check(server, Remote())
    assert (result.reason, result.message, result.status) == (reason, why, "True" if reason == "Passed" else "False")
    assert not result.is_retried


async def test_the_server_must_serve_the_group_version() -> None:
    """A failed discovery check is reported with the URL, and repeated."""
    server, remote = ApiServer(), Remote()
    create(server, SERVICES, service())
    url = f"https://flavors.invalid:443{PATH}"
    remote.documents[PATH] = Response(status=302)
    found = await check(server, remote)
    assert found.message == f"failing or missing response from {url}: bad status from {url}: 302"
    assert (found.reason, found.is_retried) == ("FailedDiscoveryCheck", True)
    remote.why_down = "EOF"
    assert (await check(server, remote)).message == f'failing or missing response from {url}: Get "{url}": EOF'


async def test_the_check_has_five_seconds() -> None:
    """A server that does not answer is not available."""

    async def silent(request: ProxyRequest) -> Response:
        await asyncio.Event().wait()
        raise AssertionError

    server = ApiServer()
    create(server, SERVICES, service())
    started = asyncio.get_running_loop().time()
    assert "context deadline exceeded" in (await check(server, silent)).message
    assert asyncio.get_running_loop().time() - started == 5


async def test_the_check_is_made_by_an_administrator() -> None:
    """The extension API server needs no role for it."""
    server, remote = ApiServer(), Remote()
    create(server, SERVICES, service())
    await check(server, remote)
    assert [*remote.requests[0].headers] == [
        ("X-Remote-User", "system:kube-aggregator"),
        ("X-Remote-Group", "system:masters"),
    ]


async def test_one_endpoint_that_responds_is_enough() -> None:
    """The check sends five requests at once, each to any of the endpoints."""
    remote, urls = Remote(), []

    async def first_is_silent(request: ProxyRequest) -> Response:
        urls.append(request.url)
        if "10.0.0.1" in request.url:
            await asyncio.Event().wait()
        return await remote(request)

    server = ApiServer()
    create(server, SERVICES, service(type="ClusterIP", externalName=None, ports=PORTS))
    found = endpoints()
    found["endpoints"] += [{"addresses": ["10.0.0.2"]}]
    create(server, SLICES, found)
    resolver = EndpointServiceResolver(server.storage)
    controller = AvailableConditionController(server.storage, ProxyHandler(resolver, first_is_silent, {}))
    started = asyncio.get_running_loop().time()
    assert (await controller.check(APIService.from_object(api_service()))).is_available
    assert asyncio.get_running_loop().time() == started
    assert (len(urls), len(set(urls))) == (5, 2)


async def test_a_simulated_pod_without_the_port_refuses_the_check() -> None:
    """The message is that of a pod in which nothing listens, and no connection is opened."""
    server, remote = ApiServer(), Remote()
    create(server, SERVICES, service(type="ClusterIP", externalName=None, ports=PORTS))
    found = endpoints()
    found["endpoints"][0] |= {
        "nodeName": "node-1",
        "targetRef": {"kind": "Pod", "namespace": "default", "name": "flavors-a"},
    }
    create(server, SLICES, found)
    resolver = EndpointServiceResolver(server.storage, {"node-1": RefusingKubelet("")})
    controller = AvailableConditionController(server.storage, ProxyHandler(resolver, remote, {}))
    result = await controller.check(APIService.from_object(api_service()))
    url = f"https://10.0.0.1:6443{PATH}"
    refused = "dial tcp 10.0.0.1:6443: connect: connection refused"
    assert result.message == f'failing or missing response from {url}: Get "{url}": {refused}'
    assert (result.reason, remote.requests) == ("FailedDiscoveryCheck", [])
