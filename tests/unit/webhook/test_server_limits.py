"""The webhook server with clients that never finish and with a changing client authority, on real sockets."""

from __future__ import annotations

import asyncio
import gzip
import json
import logging
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from pyctrl.webhook import AdmissionRequest, AdmissionResponse, ServerLimits, Webhooks, WebhookServer
from tests.unit._loop_time import elapse_until_done
from tests.unit.client._authority import Authority
from tests.unit.webhook._kinds import podset, question

pytestmark = pytest.mark.real_time  # real sockets

CLUSTER, OTHER = Authority(), Authority()
SERVER = CLUSTER.server("localhost")
REVIEW = json.dumps(question("CREATE", podset())).encode()


class Asked:
    """A webhook that answers when the test allows it."""

    def __init__(self) -> None:
        self.asked, self.go_on = asyncio.Event(), asyncio.Event()

    async def review(self, request: AdmissionRequest) -> AdmissionResponse:
        self.asked.set()
        await self.go_on.wait()
        return AdmissionResponse(allowed=True)


@asynccontextmanager
async def serving(directory: Path, *, asked: Asked | None = None, **options: Any) -> AsyncIterator[WebhookServer]:
    (directory / "tls.crt").write_bytes(SERVER.certificate)
    (directory / "tls.key").write_bytes(SERVER.key)
    webhooks, answering = Webhooks(), asked or Asked()
    webhooks.add("/slow", answering.review)
    if asked is None:
        answering.go_on.set()
    server = WebhookServer(webhooks, certificates=directory, host="127.0.0.1", port=0, **options)
    async with asyncio.TaskGroup() as group:
        group.create_task(server.run())
        await server.wait_until_ready()
        try:
            yield server
        finally:
            server.ask_to_stop()


def trust(authority: Authority | None = None, directory: Path | None = None) -> ssl.SSLContext:
    """Return the context of a client with a certificate of an authority."""
    context = ssl.create_default_context(cadata=CLUSTER.pem.decode())
    context.check_hostname = False
    if authority is not None and directory is not None:
        issued = authority.client()
        (directory / "client.crt").write_bytes(issued.certificate)
        (directory / "client.key").write_bytes(issued.key)
        context.load_cert_chain(directory / "client.crt", directory / "client.key")
    return context


def post(body: bytes, *headers: str, length: int | None = None) -> bytes:
    lines = ["POST /slow HTTP/1.1", "Host: localhost", "Content-Type: application/json", *headers]
    return "\r\n".join([*lines, f"Content-Length: {len(body) if length is None else length}", "", ""]).encode() + body


async def connect(server: WebhookServer, *, tls: bool = True) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.open_connection("127.0.0.1", server.port, ssl=trust() if tls else None)


async def cut(reader: asyncio.StreamReader) -> bytes:
    """Wait until the server closes a connection and return the data before that."""
    try:
        return await reader.read()
    except ConnectionError:
        return b""


@pytest.mark.parametrize(("tls", "sent"), [(False, b""), (True, b""), (True, b"POST /slow HTTP/1.1\r\nHo")])
async def test_a_client_that_does_not_come_to_the_point_is_cut(
    tmp_path: Path, tls: bool, sent: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A connection without a handshake, a request or a complete head is closed at its time limit."""
    async with serving(tmp_path, limits=ServerLimits(head_seconds=60)) as server:
        reader, writer = await connect(server, tls=tls)
        writer.write(sent)
        closing = asyncio.create_task(cut(reader))
        assert await elapse_until_done(monkeypatch, closing, step=5) > 40  # more than the default, 32
        assert await closing == b""
        writer.close()


async def test_a_body_that_does_not_end_is_answered_408(tmp_path: Path) -> None:
    """An incomplete body is answered with 408 and the connection is closed."""
    async with serving(tmp_path, limits=ServerLimits(body_seconds=0.1)) as server:
        reader, writer = await connect(server)
        writer.write(post(b"{", length=1000))
        assert (await reader.readline()).startswith(b"HTTP/1.1 408")
        writer.close()


async def test_a_client_that_goes_amid_its_body_leaves_no_trace(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A connection that breaks in the middle of a review logs nothing."""
    caplog.set_level(logging.WARNING)
    async with serving(tmp_path) as server:
        reader, writer = await connect(server)
        writer.write(post(b"{", "Expect: 100-continue", length=1000))
        assert await reader.readline() == b"HTTP/1.1 100 Continue\r\n"
        writer.transport.abort()

    assert [record.getMessage() for record in caplog.records] == []


async def test_a_new_client_takes_the_place_of_the_longest_idle(tmp_path: Path) -> None:
    """At the connection limit, the longest idle connection is closed; a request in progress is answered."""
    asked = Asked()
    async with serving(tmp_path, asked=asked, limits=ServerLimits(connections=2)) as server:
        busy, writer = await connect(server)
        writer.write(post(REVIEW))
        await asked.asked.wait()
        idle, idle_writer = await connect(server)

        new, new_writer = await connect(server)
        assert await cut(idle) == b""
        asked.go_on.set()
        assert (await busy.readline()).startswith(b"HTTP/1.1 200")
        new_writer.write(post(REVIEW))
        assert (await new.readline()).startswith(b"HTTP/1.1 200")
        for each in (writer, idle_writer, new_writer):
            each.close()


async def test_compressed_reviews_are_not_unpacked(tmp_path: Path) -> None:
    """A compressed review is refused, because API servers do not compress reviews."""
    async with serving(tmp_path) as server:
        reader, writer = await connect(server)
        writer.write(post(gzip.compress(REVIEW), "Content-Encoding: gzip"))
        assert (await reader.readline()).startswith(b"HTTP/1.1 400")
        writer.close()


async def test_a_renewed_client_authority_counts_at_once(tmp_path: Path) -> None:
    """If only the file of client authorities changes, the new authority is trusted and the old one is not."""
    (tmp_path / "ca.crt").write_bytes(CLUSTER.pem)
    (tmp_path / "old").mkdir()
    (tmp_path / "new").mkdir()
    old, new = trust(CLUSTER, tmp_path / "old"), trust(OTHER, tmp_path / "new")
    async with serving(tmp_path, client_ca_name="ca.crt", poll_seconds=0.01) as server:

        async def is_answered(tls: ssl.SSLContext) -> bool:
            url = f"https://127.0.0.1:{server.port}/slow"
            try:
                async with aiohttp.ClientSession() as session, session.post(url, data=REVIEW, ssl=tls) as answer:
                    return answer.status > 0
            except (aiohttp.ClientError, ConnectionError):
                return False

        assert (await is_answered(old), await is_answered(new)) == (True, False)
        (tmp_path / "ca.crt").write_bytes(OTHER.pem)
        while not await is_answered(new):
            await asyncio.sleep(0.01)
        assert not await is_answered(old)
