"""Closing connections to a server that no longer responds."""

from __future__ import annotations

import asyncio
import gc
import socket
import ssl
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from pyctrl.client import AiohttpTransport, Config, HttpRequest, Tls
from tests.unit.client._authority import Authority

CHUNK = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{}\n\r\n"


@contextmanager
def frozen_server(context: ssl.SSLContext, answer: bytes, asked: threading.Event | None = None) -> Iterator[str]:
    """Send the beginning of one response, then neither read nor write; yield the URL.

    ``asked`` is set when the request has arrived.
    """
    done = threading.Event()
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        connection, _ = listener.accept()
        with context.wrap_socket(connection, server_side=True) as secured:
            secured.recv(65536)
            if asked:
                asked.set()
            secured.sendall(answer)
            done.wait()

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
    """Neither leaving a stream nor closing the transport waits for the server's TLS close, and no socket is left."""

    async def watch(url: str) -> None:
        transport = AiohttpTransport(Config(server=url, tls=Tls(insecure=True)))
        async with transport.stream(HttpRequest(method="GET", path="/x", timeout=None)) as stream:
            assert await anext(aiter(stream.chunks())) == b"{}\n"
            if not leaves_first:
                await transport.aclose()
        await transport.aclose()

    with warnings.catch_warnings(record=True) as seen, frozen_server(Authority().server_context(), CHUNK) as url:
        warnings.simplefilter("always")
        asyncio.run(watch(url))
        gc.collect()
    assert left_open(seen) == []


def test_a_request_that_is_given_up_before_its_answer_leaves_no_socket() -> None:
    """A stopped program ends despite a request to a dead server, and closes its connection."""
    asked = threading.Event()

    async def give_up(url: str) -> None:
        transport = AiohttpTransport(Config(server=url, tls=Tls(insecure=True)))
        request = asyncio.create_task(transport.request(HttpRequest(method="GET", path="/x", timeout=None)))
        await asyncio.to_thread(asked.wait)
        request.cancel()
        with suppress(asyncio.CancelledError):
            await request
        await transport.aclose()

    with warnings.catch_warnings(record=True) as seen, frozen_server(Authority().server_context(), b"", asked) as url:
        warnings.simplefilter("always")
        asyncio.run(give_up(url))
        gc.collect()
    assert left_open(seen) == []


def left_open(seen: list[warnings.WarningMessage]) -> list[str]:
    return [str(warning.message) for warning in seen if issubclass(warning.category, ResourceWarning)]
