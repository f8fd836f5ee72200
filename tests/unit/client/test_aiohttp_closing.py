"""Closing connections to a server that no longer says anything."""

from __future__ import annotations

import asyncio
import gc
import socket
import ssl
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from pyctrl.client import AiohttpTransport, Config, HttpRequest, Tls
from tests.unit.client._authority import Authority

CHUNK = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{}\n\r\n"


@contextmanager
def frozen_server(context: ssl.SSLContext) -> Iterator[str]:
    """Answer one request with the beginning of a stream, and from then on neither read nor write; gives the URL."""
    done = threading.Event()
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        connection, _ = listener.accept()
        with context.wrap_socket(connection, server_side=True) as secured:
            secured.recv(65536)
            secured.sendall(CHUNK)
            done.wait(10)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield f"https://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        done.set()
        thread.join()
        listener.close()


@pytest.mark.parametrize("leaves_first", [True, False])
def test_a_watch_of_a_dead_server_leaves_no_socket(leaves_first: bool) -> None:
    """Neither leaving a stream nor closing the transport waits for a goodbye that never comes."""

    async def watch(url: str) -> None:
        transport = AiohttpTransport(Config(server=url, tls=Tls(insecure=True)))
        async with transport.stream(HttpRequest(method="GET", path="/x", timeout=None)) as stream:
            assert await anext(aiter(stream.chunks())) == b"{}\n"
            if not leaves_first:
                await transport.aclose()
        await transport.aclose()

    with warnings.catch_warnings(record=True) as seen, frozen_server(Authority().server_context()) as url:
        warnings.simplefilter("always")
        asyncio.run(watch(url))
        gc.collect()
    assert [str(warning.message) for warning in seen if issubclass(warning.category, ResourceWarning)] == []
