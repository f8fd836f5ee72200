"""Waiting for objects until a condition is met, and the error when it is not."""

from __future__ import annotations

import asyncio

import pytest

from pyctrl.api import Key, ObjectMeta
from pyctrl.apiserver import ApiServer
from pyctrl.client import Client, Config, wait_for, wait_for_list, wait_until_gone
from pyctrl.kinds.core.v1 import ConfigMap

KEY = Key("default", "a")


def now() -> float:
    return asyncio.get_running_loop().time()


async def live(client: Client) -> None:
    """Create an object after ten seconds, complete it ten later, and delete it after ten more."""
    await asyncio.sleep(10)
    made = await client.create(ConfigMap(metadata=ObjectMeta(name="a", namespace="default")))
    await asyncio.sleep(10)
    made.data["colour"] = "blue"
    await client.update(made)
    await asyncio.sleep(10)
    await client.delete(made)


async def test_what_is_waited_for_is_told_when_it_happens() -> None:
    """An existing object, its status, a list and a deletion are each noticed within the second of the change."""
    async with Client.connect(Config.in_process(ApiServer())) as client, asyncio.TaskGroup() as group:
        group.create_task(live(client))
        await wait_for(client, ConfigMap, KEY)
        assert now() == 10
        found = await wait_for(client, ConfigMap, KEY, lambda obj: "colour" in obj.data)
        assert (now(), found.data) == (20, {"colour": "blue"})
        await wait_for_list(client, ConfigMap, lambda objects: len(objects) == 1, namespace="default", labels="!x")
        await wait_until_gone(client, ConfigMap, KEY)
        assert now() == 30


async def test_what_does_not_happen_is_told_with_what_was_seen_last() -> None:
    """The error after the timeout shows the objects as last seen."""
    async with Client.connect(Config.in_process(ApiServer())) as client:
        await client.create(ConfigMap(metadata=ObjectMeta(name="a", namespace="default"), data={"colour": "red"}))
        with pytest.raises(TimeoutError, match=r"the condition was not met within 30 s; last seen: .*red"):
            await wait_for(client, ConfigMap, KEY, lambda obj: obj.data["colour"] == "blue")
        assert now() == 30
        with pytest.raises(TimeoutError, match="in 5 s"):
            await wait_until_gone(client, ConfigMap, KEY, timeout=5)
