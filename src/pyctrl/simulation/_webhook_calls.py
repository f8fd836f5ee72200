"""Calls of the API server to the operator's webhooks; faults may happen there."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from pyctrl.apiserver import WebhookRequest, WebhookResponse
from pyctrl.simulation._history import WebhookCalled
from pyctrl.simulation._loop import simulation_loop
from pyctrl.simulation._schedule import FaultKind, Occasion

if TYPE_CHECKING:
    from pyctrl.simulation._process import Process
    from pyctrl.simulation._world import World

__all__ = ["WebhookCalls"]


class WebhookCalls:
    """Caller of the webhooks of a world's operator, as the server's ``webhooks``."""

    def __init__(self) -> None:
        self._world: World | None = None

    def connect(self, world: World) -> None:
        """Call the processes of a world from now on."""
        self._world = world

    async def __call__(self, request: WebhookRequest, /) -> WebhookResponse:
        """Call one webhook in the first process that runs.

        Raises:
            OSError: No process runs, or a fault says so.
        """
        world = self._world
        assert world is not None, "the world calls no webhook before it exists"
        url = urlsplit(request.url)
        process = next((each for each in world.processes if each.manager is not None and each.is_alive), None)
        point, faults = world.injector.reached(Occasion.WEBHOOK, url.path, process.name if process else "")
        entry = WebhookCalled(process=process.name if process else "", point=point, path=url.path)
        kinds = {fault.kind for fault in faults}
        try:
            await asyncio.sleep(world.network.latency)
            for fault in faults:
                if fault.kind is FaultKind.WEBHOOK_SLOW:
                    await asyncio.sleep(fault.seconds)
            if process is None or FaultKind.WEBHOOK_FAILS in kinds:
                raise ConnectionRefusedError(f"simulation: no connection to the webhook {url.path}")
            answering = self._answer(process, request)
            response = await simulation_loop().start_task(process.context_name, answering, f"webhook {url.path}")
        except OSError as error:
            entry.error = str(error)
            raise
        else:
            entry.status = response.status
            return response
        finally:
            world.note(entry)

    async def _answer(self, process: Process, request: WebhookRequest) -> WebhookResponse:
        url = urlsplit(request.url)
        serving = [each for each in process.webhooks if url.path in each.paths]
        if not serving:
            raise ConnectionRefusedError(f"the program has no webhook at {url.path}")
        timeout = parse_qs(url.query).get("timeout", [""])[0]
        reply = await serving[0].answer(url.path, request.body, timeout=timeout)
        return WebhookResponse(status=reply.status, body=reply.body)
