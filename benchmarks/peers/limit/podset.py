"""The physical limit of an operator on the paced server: one decode of its lists and of each event.

It reconciles nothing: it records the time after decoding an event.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from pathlib import Path

import aiohttp
import msgspec
from peers._commands import Facts, packages, serve
from peers.limit.peer import Event, Page

PATHS = ("/apis/apps.jicki.cn/v1alpha1/podsets", "/apis/apps/v1/deployments", "/api/v1/pods")


class Stamps(msgspec.Struct):
    """The annotation with the time of a write."""

    written: str = msgspec.field(name="benchmarks/written")


class Metadata(msgspec.Struct):
    """The metadata with the annotations."""

    annotations: Stamps


class Written(msgspec.Struct):
    """A written object."""

    metadata: Metadata


class Follower:
    """Lists all three kinds, and follows PodSets."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session
        self._latencies: list[int] = []

    async def start(self) -> str:
        """List; return the version to watch from."""
        scan, version = msgspec.json.Decoder(Page).decode, ""
        for path in reversed(PATHS):
            async with self._session.get(path) as response:
                version = scan(await response.read()).metadata.resourceVersion
        return version

    async def follow(self, version: str) -> None:
        """Watch, and record the age of each event."""
        scan, rest = msgspec.json.Decoder(Event).decode_lines, b""
        stamped = msgspec.json.Decoder(Written).decode
        async with self._session.get(f"{PATHS[0]}?watch=true&resourceVersion={version}") as response:
            async for chunk in response.content.iter_any():
                lines, end, rest = (rest + chunk).rpartition(b"\n")
                for event in scan(lines) if end else ():
                    written = int(stamped(event.object).metadata.annotations.written)
                    self._latencies.append(time.monotonic_ns() - written)

    async def latencies(self) -> Facts:
        """Return the ages since the last call, in nanoseconds."""
        taken, self._latencies = self._latencies, []
        return {"nanoseconds": taken}


async def main() -> None:
    """Execute commands until the input ends."""
    config = json.loads(Path(os.environ["KUBECONFIG"]).read_text(encoding="utf-8"))
    server = config["clusters"][0]["cluster"]["server"]
    timeout = aiohttp.ClientTimeout(total=None)
    async with (
        aiohttp.ClientSession(server, trust_env=False, timeout=timeout) as session,
        asyncio.TaskGroup() as group,
    ):
        follower, running = Follower(session), list[asyncio.Task[None]]()

        async def start() -> Facts:
            running.append(group.create_task(follower.follow(await follower.start())))
            return {}

        await serve({"start": start, "latencies": follower.latencies}, packages("aiohttp", "msgspec"))
        for task in running:
            task.cancel()


if __name__ == "__main__":
    asyncio.run(main())
