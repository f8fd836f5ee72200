"""Requests of the API server's aggregator to the extension API servers of the operator."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from pyctrl.api import Key, Unstructured
from pyctrl.apiserver import ProxyRequest, Response, ServiceUnreachable
from pyctrl.simulation._loop import simulation_loop

if TYPE_CHECKING:
    from pyctrl.simulation._process import Process
    from pyctrl.simulation._world import World

__all__ = ["register_operator", "serve_extensions"]

LOOK = 0.05  # seconds between two looks at processes


def serve_extensions(world: World, services: Sequence[Key]) -> None:
    """Lead requests for the extension API servers of the operator to a process that runs.

    Args:
        services: Their Services, in the order in which the program adds them.
    """
    if not services:
        return
    from pyctrl.extension_apiserver import in_process_host  # here: most programs have none

    for number, service in enumerate(services):
        world.server.service_transports[in_process_host(service)] = partial(_call, world, number)


async def register_operator(world: World, registrations: Sequence[dict[str, Any]]) -> None:
    """Register webhooks and APIServices of the operator once it answers, as a Deployment's readiness probe ensures.

    It returns when the APIServices are available.
    """
    while not any(map(_answers, world.processes)):
        await asyncio.sleep(LOOK)
    for each in registrations:
        await world.client.create(Unstructured.from_wire(each))
    for each in registrations:
        if each["kind"] == "APIService":
            while not _is_available(world, each["metadata"]["name"]):
                await asyncio.sleep(LOOK)


def _answers(process: Process) -> bool:
    return process.manager is not None and process.is_alive and process.manager.started.is_set()


def _is_available(world: World, name: str) -> bool:
    stored = world.server.storage.collection("apiregistration.k8s.io", "apiservices").find("", name)
    conditions = {} if stored is None else (stored.decode().get("status") or {}).get("conditions") or ()
    return any((each["type"], each["status"]) == ("Available", "True") for each in conditions)


async def _call(world: World, number: int, request: ProxyRequest, /) -> Response:
    """Send a request to the first process that runs.

    Raises:
        ServiceUnreachable: No process runs.
        ConnectionResetError: The process was killed before it answered.
    """
    await asyncio.sleep(world.network.latency)
    process = next(filter(_answers, world.processes), None)
    servers = () if process is None or process.manager is None else process.manager.api_servers
    if process is None or number >= len(servers):
        raise ServiceUnreachable("simulation: no process of the operator answers")
    name = process.context_name
    answering = simulation_loop().start_task(name, servers[number](request), f"request {request.url}")
    try:
        while not (await asyncio.wait((answering,), timeout=LOOK))[0]:
            if _is_gone(process, name):
                raise ConnectionResetError("simulation: the process was killed")
    finally:
        answering.cancel()  # no effect if it has ended
    return answering.result()


def _is_gone(process: Process, name: str) -> bool:
    return process.context_name != name or not process.is_alive
