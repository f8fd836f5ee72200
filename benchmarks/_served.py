"""Serve an API server over HTTP; print its URL, then for each input line its CPU seconds so far."""

from __future__ import annotations

import asyncio
import sys
from random import Random

from _meter import cpu_seconds
from _objects import DEFINITION, encoded

from pyctrl.apiserver import ApiServer, serve


async def main() -> None:
    """Serve until the input ends."""
    server = ApiServer(random=Random(1))
    definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    made = server.handle_nowait("POST", definitions, body=encoded(DEFINITION))
    assert made.status == 201, made.body
    lines = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    async with serve(server) as url:
        print(url, flush=True)
        while await lines.readline():
            print(cpu_seconds(), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
