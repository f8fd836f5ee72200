"""The webhook server on loopback: requests, certificates and shutdown."""

from __future__ import annotations

import asyncio
import os
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from pyctrl.apiserver import ApiServer
from pyctrl.client import Config
from pyctrl.errors import ConfigError
from pyctrl.manager import Manager
from pyctrl.webhook import AdmissionRequest, AdmissionResponse, WebhookBuilder, Webhooks, WebhookServer
from pyctrl.webhook._certificates.certificate_watcher import ServingCertificate
from tests.unit.client._authority import Authority, Issued
from tests.unit.webhook._kinds import PodSet, PodSetWebhook, podset, question

pytestmark = pytest.mark.real_time  # real sockets

VALIDATE = "/validate-apps-jicki-cn-v1alpha1-podset"
CLUSTER = Authority()
FIRST, SECOND = CLUSTER.server("localhost"), CLUSTER.server("localhost", "second")


def write(issued: Issued, directory: Path) -> None:
    directory.mkdir(exist_ok=True)
    (directory / "tls.crt").write_bytes(issued.certificate)
    (directory / "tls.key").write_bytes(issued.key)


def trust(issued: Issued | None = None, directory: Path | None = None) -> ssl.SSLContext:
    context = ssl.create_default_context(cadata=CLUSTER.pem.decode())
    if issued is not None and directory is not None:
        write(issued, directory)
        context.load_cert_chain(directory / "tls.crt", directory / "tls.key")
    return context


@asynccontextmanager
async def serving(server: WebhookServer) -> AsyncIterator[WebhookServer]:
    async with asyncio.TaskGroup() as group:
        group.create_task(server.run())
        await server.wait_until_ready()
        try:
            yield server
        finally:
            server.ask_to_stop()


async def post(server: WebhookServer, path: str, body: Any, *, tls: ssl.SSLContext | None = None) -> tuple[int, Any]:
    url = f"https://localhost:{server.port}{path}"
    async with aiohttp.ClientSession() as session, session.post(url, json=body, ssl=tls or trust()) as answer:
        return answer.status, await answer.json()


async def shown_by(server: WebhookServer) -> set[str]:
    """Return the names of the certificate that a new connection gets."""
    _, writer = await asyncio.open_connection("localhost", server.port, ssl=trust())
    certificate = writer.get_extra_info("peercert")
    writer.close()
    await writer.wait_closed()
    return {name for _, name in certificate["subjectAltName"]}


def certificate_of(server: WebhookServer) -> ServingCertificate:
    assert server.certificate is not None
    return server.certificate


def podset_server(directory: Path, **options: Any) -> WebhookServer:
    webhooks = Webhooks()
    WebhookBuilder(webhooks).admits(PodSet).build(PodSetWebhook())
    return WebhookServer(webhooks, certificates=directory, host="localhost", port=0, **options)


async def test_questions_are_answered_over_https(tmp_path: Path) -> None:
    """A review posted to its path is answered; other paths and methods get a Status."""
    write(FIRST, tmp_path)
    async with serving(podset_server(tmp_path)) as server:
        assert (server.is_serving, server.why_not_ready) == (True, "")
        status, answer = await post(server, f"{VALIDATE}?timeout=10s", question("CREATE", podset(size=1)))
        assert (status, answer["response"]["status"]["code"]) == (200, 422)
        assert (await post(server, "/other", {}))[0] == 404
        url = f"https://localhost:{server.port}{VALIDATE}"
        async with aiohttp.ClientSession() as session, session.get(url, ssl=trust()) as reply:
            assert (reply.status, (await reply.json())["reason"]) == (405, "MethodNotAllowed")

    assert (server.is_serving, server.why_not_ready) == (False, "the webhook server has stopped")


async def test_a_review_that_is_too_large_is_refused(tmp_path: Path) -> None:
    """A review above the size limit is refused without reading it to the end."""
    write(FIRST, tmp_path)
    server = WebhookServer(Webhooks(body_limit=1000), certificates=tmp_path, host="localhost", port=0)
    async with serving(server):
        status, answer = await post(server, "/any", {"a": "x" * 2000})

    assert (status, answer["message"]) == (413, "the review is too large; the limit is 1000 bytes")


async def test_tls_1_2_is_spoken_and_nothing_older(tmp_path: Path) -> None:
    """A client with TLS 1.2 is answered; the TLS context refuses older versions."""
    write(FIRST, tmp_path)
    old = trust()
    old.maximum_version = ssl.TLSVersion.TLSv1_2
    async with serving(podset_server(tmp_path)) as server:
        status, _ = await post(server, VALIDATE, question("CREATE", podset()), tls=old)
        assert status == 200
        assert certificate_of(server).load().minimum_version == ssl.TLSVersion.TLSv1_2


async def test_a_renewed_certificate_is_shown_to_new_connections(tmp_path: Path) -> None:
    """After the kubelet swaps the symlink, new connections get the new certificate; open connections continue."""
    write(FIRST, tmp_path / "..1")
    (tmp_path / "..data").symlink_to("..1")
    for name in ("tls.crt", "tls.key"):
        (tmp_path / name).symlink_to(Path("..data") / name)
    async with serving(podset_server(tmp_path, poll_seconds=0.01)) as server, aiohttp.ClientSession() as session:
        url = f"https://localhost:{server.port}{VALIDATE}"

        async def ask() -> int:
            async with session.post(url, json=question("CREATE", podset()), ssl=tls) as answer:
                return answer.status

        tls = trust()
        assert await ask() == 200
        assert await shown_by(server) == {"localhost"}
        write(SECOND, tmp_path / "..2")
        (tmp_path / "..new").symlink_to("..2")
        os.replace(tmp_path / "..new", tmp_path / "..data")  # noqa: PTH105 (what the kubelet does)
        while await shown_by(server) != {"localhost", "second"}:
            await asyncio.sleep(0.01)
        assert await ask() == 200


async def test_files_that_do_not_fit_leave_the_certificate_as_it_was(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A key that does not match the certificate is logged once; the server keeps its certificate until both match."""
    write(FIRST, tmp_path)
    async with serving(podset_server(tmp_path, poll_seconds=0.01)) as server:
        (tmp_path / "tls.key").write_bytes(SECOND.key)
        while not certificate_of(server).read_error:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)
        assert await shown_by(server) == {"localhost"}
        write(SECOND, tmp_path)
        while await shown_by(server) != {"localhost", "second"}:
            await asyncio.sleep(0.01)

    told = [record for record in caplog.records if "Error re-reading certificate" in record.message]
    assert len(told) == 1
    assert certificate_of(server).read_error == ""


async def test_a_server_without_certificate_says_what_it_lacks(tmp_path: Path) -> None:
    """Missing or invalid certificate files stop the server with one sentence that names them."""
    with pytest.raises(ConfigError, match=r"has no certificate: .*tls\.crt does not exist; .*--no-webhooks"):
        await podset_server(tmp_path).run()
    write(Issued(b"nonsense", b"nonsense"), tmp_path)
    with pytest.raises(ConfigError, match=r"tls\.crt and .*tls\.key are not a certificate and its key in PEM form"):
        await podset_server(tmp_path).run()


async def test_clients_without_certificate_may_be_refused(tmp_path: Path) -> None:
    """With client_ca_name, only clients with a certificate of that authority are answered."""
    write(FIRST, tmp_path)
    (tmp_path / "ca.crt").write_bytes(CLUSTER.pem)
    body = question("CREATE", podset())
    async with serving(podset_server(tmp_path, client_ca_name="ca.crt")) as server:
        known = trust(CLUSTER.client(), tmp_path / "client")
        assert (await post(server, VALIDATE, body, tls=known))[0] == 200
        with pytest.raises(aiohttp.ClientError):
            await post(server, VALIDATE, body)


async def test_what_was_asked_is_answered_before_the_end(tmp_path: Path) -> None:
    """On stop, the server refuses new connections and answers its open requests."""
    write(FIRST, tmp_path)
    webhooks, asked, go_on = Webhooks(), asyncio.Event(), asyncio.Event()

    async def slow(request: AdmissionRequest) -> AdmissionResponse:
        asked.set()
        await go_on.wait()
        return AdmissionResponse(allowed=True)

    webhooks.add("/slow", slow)
    server = WebhookServer(webhooks, certificates=tmp_path, host="localhost", port=0)
    running = asyncio.create_task(server.run())
    await server.wait_until_ready()
    asking = asyncio.create_task(post(server, "/slow", question("CREATE", podset())))
    await asked.wait()

    server.ask_to_stop()
    with pytest.raises(ConnectionRefusedError):
        while True:
            with suppress(ConnectionResetError):  # of a connection that the server did not accept any more
                await shown_by(server)
    assert not running.done()
    go_on.set()
    await running

    assert (await asking)[1]["response"]["allowed"]


async def test_cancelling_ends_it_at_once(tmp_path: Path) -> None:
    """A cancelled server closes its port and leaves no task, even during a request."""
    write(FIRST, tmp_path)
    server = podset_server(tmp_path)
    running = asyncio.create_task(server.run())
    await server.wait_until_ready()

    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    with pytest.raises(ConnectionRefusedError):
        await shown_by(server)


async def test_a_manager_serves_webhooks_before_its_caches(tmp_path: Path) -> None:
    """Without a group, the server is in the webhook group, runs on every replica, and counts for readiness."""
    write(FIRST, tmp_path)
    server = podset_server(tmp_path)
    async with Manager(Config.in_process(ApiServer())) as manager:
        manager.add(server)
        async with manager.running():
            assert server.is_serving
            status, answer = await post(server, VALIDATE, question("CREATE", podset(size=2)))
            assert (status, answer["response"]["allowed"]) == (200, True)

    assert not server.is_serving


@pytest.mark.slow(reason="a webhook takes longer than the two seconds that servers give responses in progress")
async def test_each_request_in_progress_is_answered_however_long_the_first_one_takes(tmp_path: Path) -> None:
    """A server that stops waits for its last request, not for the first one, and not only for seconds."""
    write(FIRST, tmp_path)
    began: asyncio.Queue[str] = asyncio.Queue()

    async def slow(request: AdmissionRequest) -> AdmissionResponse:
        await began.put(request.name)
        await asyncio.sleep(0.1 if request.name == "quick" else 2.5)
        return AdmissionResponse(allowed=True)

    webhooks = Webhooks()
    webhooks.add("/slow", slow)
    server = WebhookServer(webhooks, certificates=tmp_path, host="localhost", port=0)
    async with asyncio.TaskGroup() as group, serving(server):
        asked = []
        for name in ("quick", "slow"):
            review = question("CREATE", podset(size=2))
            review["request"]["name"] = name
            asked.append(group.create_task(post(server, "/slow", review)))
            await began.get()
    assert [(each.result()[0], each.result()[1]["response"]["allowed"]) for each in asked] == [(200, True)] * 2
