"""Hand-over: delayed requests of the old leader are logged, and the new leader reconciles the objects."""

from __future__ import annotations

import asyncio

import pytest

from pyctrl.apiserver import ApiServer
from pyctrl.client import Client, Config
from pyctrl.controller import Request
from pyctrl.manager import OnLoss
from pyctrl.testing import ConnectionRefused, Rule
from tests.unit.log._logged import logged
from tests.unit.manager._replicas import Noter, Replica, config_map

NAMES = ("a", "b", "c", "d", "e")


class Slow(Noter):
    """Takes five seconds for each request."""

    async def reconcile(self, request: Request) -> None:
        """Record the request, and take five seconds."""
        await super().reconcile(request)
        await asyncio.sleep(5)


@pytest.mark.parametrize("how", ["stops", "loses its Lease"])
async def test_what_waits_is_told_of_and_done_by_the_next(how: str) -> None:
    """The old leader logs number, keys, priorities and causes of delayed requests; the next leader reconciles them."""
    server = ApiServer()
    one, two = Replica(server, "one", on_loss=OnLoss.CONTEND), Replica(server, "two", on_loss=OnLoss.CONTEND)
    one.noter = Slow()
    with logged() as lines:
        async with Client.connect(Config.in_process(server)) as admin, one.running():
            await one.manager.elected.wait()
            for name in NAMES:
                await admin.create(config_map(name))
            async with two.running():
                await asyncio.sleep(6)
                if how == "stops":
                    one.manager.ask_to_stop()
                else:
                    one.network.add(Rule(ConnectionRefused(), path="*/leases*", times=None))
                await two.manager.elected.wait()
                await asyncio.sleep(1)
                done = list(one.noter.seen)
                assert set(two.noter.seen) == set(NAMES)

    told = [line for line in lines if line["msg"] == "All workers finished" and "dropped" in line]
    left = [name for name in NAMES if name not in done]
    assert left
    assert [(line["controller"], line["dropped"], line["ready"]) for line in told[:1]] == [
        ("configmap", len(left), len(left))
    ]
    for name, text in zip(left, told[0]["requests"], strict=True):
        assert text.startswith(f"default/{name} (priority 0; ready; ConfigMap default/{name} created (version ")
