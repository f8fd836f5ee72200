"""Defaults of controller-runtime's client, measured rather than read from constants."""

from __future__ import annotations

import asyncio

from pyctrl.api import Key, ObjectMeta
from pyctrl.apiserver import ApiServer
from pyctrl.client import Client, Config
from pyctrl.kinds.core.v1 import ConfigMap
from tests.unit.client._fake_server import FakeServer


async def test_the_client_does_not_limit_itself() -> None:
    """Five hundred concurrent requests are not delayed: only the server limits the rate."""
    async with Client.connect(Config.in_process(ApiServer())) as client, asyncio.TaskGroup() as group:
        for number in range(500):
            group.create_task(client.find(ConfigMap, Key("default", str(number))))

    assert asyncio.get_running_loop().time() == 0


async def test_what_is_not_said_is_not_sent(client: Client, server: FakeServer) -> None:
    """No dry run, field validation, force or delete options are sent: the API server's defaults apply."""
    answer = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default"}}
    for _ in range(4):
        server.reply(answer)
    obj = ConfigMap(metadata=ObjectMeta(name="a", namespace="default"))
    await client.create(obj)
    await client.update(obj)
    await client.apply(obj)
    await client.delete(obj)

    assert [asked.query for asked in server.asked] == [{"fieldManager": "pyctrl"}] * 3 + [{}]
    assert [asked.body for asked in server.asked if asked.method == "DELETE"] == [b""]
