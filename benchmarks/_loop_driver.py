"""The driver that creates PodSets and waits for their convergence. Not part of the measurement."""

from __future__ import annotations

import asyncio
import json
from collections import deque

import aiohttp
from _loop_server import DRIVER

PODSETS = "/apis/apps.jicki.cn/v1alpha1/namespaces/default/podsets"
AT_ONCE = 32  # concurrent requests


class Driver:
    """A client with two requests."""

    def __init__(self, session: aiohttp.ClientSession, size: int) -> None:
        self._session, self._size = session, size

    async def create(self, count: int) -> None:
        """Create this many PodSets as fast as the server accepts them."""
        waiting = deque(_name(number) for number in range(count))

        async def work() -> None:
            while waiting:
                podset = {"apiVersion": "apps.jicki.cn/v1alpha1", "kind": "PodSet"}
                body = {**podset, "metadata": {"name": waiting.popleft()}, "spec": {"size": self._size}}
                async with self._session.post(PODSETS, json=body) as answer:
                    answer.raise_for_status()

        async with asyncio.TaskGroup() as group:
            for _ in range(AT_ONCE):
                group.create_task(work())

    async def wait_for_converged(self, count: int) -> None:
        """Watch until this many PodSets have the names of all their pods in the status."""
        converged: set[str] = set()
        limit = 2**24  # each event is a line
        async with self._session.get(
            PODSETS,
            params={
                "watch": "true",
                "sendInitialEvents": "true",
                "resourceVersionMatch": "NotOlderThan",
                "allowWatchBookmarks": "true",
            },
            read_bufsize=limit,
        ) as events:
            events.raise_for_status()
            while len(converged) < count:
                event = json.loads(await events.content.readline())
                if event["type"] in {"ADDED", "MODIFIED"} and self._is_converged(event["object"]):
                    converged.add(event["object"]["metadata"]["name"])

    def _is_converged(self, podset: dict[str, dict[str, list[str]]]) -> bool:
        return len(podset.get("status", {}).get("nodes", [])) == self._size


def _name(number: int) -> str:
    return f"podset-{number:06}"


def driving(url: str) -> aiohttp.ClientSession:
    """Open a session and close it at the end of the block."""
    timeout = aiohttp.ClientTimeout(total=None, sock_read=600)
    return aiohttp.ClientSession(url, headers={"User-Agent": DRIVER}, timeout=timeout)
