"""Spans that were exported, and a controller to trace."""

from __future__ import annotations

import asyncio
from random import Random

from pyctrl.api import GroupVersionKind
from pyctrl.controller import Controller, ControllerOptions, Reconciler, Request

A, B = (Request("default", name) for name in "ab")


async def run(reconcile: object, *requests: Request, patience: float = 1) -> None:
    """Reconcile some requests with one worker."""

    class Own(Reconciler[object]):
        async def reconcile(self, request: Request) -> None:
            await reconcile(request)  # type: ignore[operator]

    kind = GroupVersionKind("example.com", "v1", "Thing")
    controller = Controller("thing", Own(), [], kind=kind, options=ControllerOptions(workers=1), random=Random(1))
    async with asyncio.TaskGroup() as group:
        group.create_task(controller.run())
        for request in requests:
            controller.enqueue(request, priority=7)
        await asyncio.sleep(patience)
        controller.ask_to_stop()
