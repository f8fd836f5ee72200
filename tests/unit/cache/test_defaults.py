"""Measured defaults of informers, equal to controller-runtime's."""

from __future__ import annotations

import asyncio

from pyctrl.apiserver import ApiServer
from pyctrl.cache import Cache
from pyctrl.client import Client, InProcessTransport
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.testing import FaultyTransport


async def test_lists_are_streamed_and_watches_ask_for_bookmarks_and_end_in_time() -> None:
    """One request lists and watches for a random four to five minutes; the next one resumes at its last version."""
    network = FaultyTransport(InProcessTransport(ApiServer()))
    async with asyncio.TaskGroup() as group:
        cache = Cache(Client(network))
        cache.informer(ConfigMap)
        running = group.create_task(cache.run())
        await asyncio.sleep(3600)
        running.cancel()

    asked = [dict(request.query) for request in network.requests if request.path.endswith("/configmaps")]
    asked = [query for query in asked if "watch" in query]  # other clients compare versions: nothing happens here
    seconds = [int(query["timeoutSeconds"]) for query in asked]
    assert all(query["allowWatchBookmarks"] == "true" for query in asked)
    assert [query.get("sendInitialEvents") for query in asked] == ["true"] + [None] * (len(asked) - 1)
    assert all("resourceVersion" in query for query in asked[1:])
    assert 12 <= len(asked) <= 16
    assert 240 <= min(seconds) < max(seconds) <= 290
