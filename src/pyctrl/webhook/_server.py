"""The webhook server: a program's webhooks over HTTPS."""

from __future__ import annotations

import asyncio
import logging
import tempfile
from collections.abc import AsyncIterator, Iterable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from pyctrl._http_server import ServerLimits
from pyctrl._metrics import MetricFamily
from pyctrl.errors import ConfigError
from pyctrl.webhook._certificates.certificate_watcher import POLL_SECONDS, ServingCertificate
from pyctrl.webhook._webhooks import Reply, Webhooks, error_status

if TYPE_CHECKING:
    from aiohttp.web_request import BaseRequest
    from aiohttp.web_response import Response

__all__ = ["WebhookServer"]

log = logging.getLogger("pyctrl.webhook.server")

PORT = 9443  # controller-runtime's, as are the next two
CERTIFICATES = Path(tempfile.gettempdir()) / "k8s-webhook-server" / "serving-certs"
DRAIN_SECONDS = 60.0
HEAD_BYTES = 1024 * 1024  # bytes of headers; controller-runtime's MaxHeaderBytes


class CertificateProvider(Protocol):
    """Provider of the serving certificate, such as `ManagedCertificates`."""

    @property
    def directory(self) -> Path:
        """The directory of the certificate's files."""
        ...

    async def wait_until_ready(self) -> None:
        """Return when the certificate's files exist."""
        ...


class WebhookServer:
    """Serves webhooks over HTTPS. A manager starts it before its caches.

        manager.add(WebhookServer(webhooks, certificates="certs"))

    TLS 1.2 or later, HTTP/1.1. The certificate is in ``tls.crt`` and ``tls.key``; changes are picked up within
    ``poll_seconds`` without closing connections. When stopping, the server accepts no new connections and waits up to a
    minute for open requests. Every replica serves, leader or not.
    """

    name = "webhook"
    #: The manager's group of the server: the caches' own lists may need the conversion webhook.
    manager_group = "webhooks"
    only_leader = False

    def __init__(
        self,
        webhooks: Webhooks,
        *,
        certificates: Path | str | CertificateProvider = CERTIFICATES,
        certificate_name: str = "tls.crt",
        key_name: str = "tls.key",
        client_ca_name: str | None = None,
        host: str | None = None,
        port: int = PORT,
        poll_seconds: float = POLL_SECONDS,
        limits: ServerLimits = ServerLimits(),  # noqa: B008 (frozen)
    ) -> None:
        """Configure the server; it listens once it runs.

        Args:
            webhooks: the webhooks; those added later are served as well.
            certificates: the directory of the certificate, such as a mounted Secret of cert-manager; or a provider such
                as `ManagedCertificates`, which the server waits for.
            certificate_name: the file name of the certificate, PEM.
            key_name: the file name of its key.
            client_ca_name: the file name of CA certificates; if set, clients need a certificate signed by one of them.
            host: the address to listen on; by default all.
            port: the port to listen on; 0 for a free one, see `port`.
            poll_seconds: how often the files are checked for changes.
            limits: limits for clients: connections, bytes of reviews, time.
        """
        self._webhooks = webhooks
        self._certificates = Path(certificates) if isinstance(certificates, str) else certificates
        self._names = (certificate_name, key_name, client_ca_name)
        self._certificate: ServingCertificate | None = None
        self._host = host
        self._port = port
        self._poll_seconds = poll_seconds
        self._limits = limits
        self._is_serving = False
        self._started = asyncio.Event()
        self._stop = asyncio.Event()
        self._answering = 0
        self._idle = asyncio.Event()
        self._idle.set()

    @property
    def webhooks(self) -> Webhooks:
        """The webhooks that are served."""
        return self._webhooks

    @property
    def has_provider(self) -> bool:
        """Whether the certificate comes from a provider such as `ManagedCertificates`, and not from a directory."""
        return not isinstance(self._certificates, Path)

    def listen_at(self, *, port: int | None = None, certificates: Path | CertificateProvider | None = None) -> None:
        """Replace the port or the certificates before the server runs; None keeps the present value."""
        self._port = self._port if port is None else port
        self._certificates = certificates or self._certificates

    @property
    def port(self) -> int:
        """The port that the server listens on, or will listen on."""
        return self._port

    @property
    def is_serving(self) -> bool:
        """Whether the server accepts requests; used by the readiness check."""
        return self._is_serving

    @property
    def why_not_ready(self) -> str:
        """Why the server does not serve, or ""; the message of the readiness check ``webhook``."""
        if self._is_serving:
            return ""
        return "the webhook server has stopped" if self._started.is_set() else "the webhook server has not started"

    @property
    def certificate(self) -> ServingCertificate | None:
        """The certificate that is served; None before the server runs."""
        return self._certificate

    def collect_metrics(self) -> Iterable[MetricFamily]:
        """Return controller-runtime's webhook metrics: requests by path and code, latencies, requests in flight."""
        return self._webhooks.meter.collect_metrics()

    async def wait_until_ready(self) -> None:
        """Return when the server listens."""
        await self._started.wait()

    def ask_to_stop(self) -> None:
        """Stop accepting connections, and stop once every request is answered."""
        self._stop.set()

    async def run(self) -> None:
        """Serve until asked to stop, or cancelled.

        Raises:
            ConfigError: there is no certificate, or the server cannot listen on the address.
        """
        log.info("Starting webhook server")
        certificate = self._certificate = await self._find_certificate()
        async with self._listening(certificate), asyncio.TaskGroup() as group:
            following = group.create_task(certificate.follow(seconds=self._poll_seconds), name="certificate")
            await self._stop.wait()
            following.cancel()
        log.info("Shut down webhook server")

    async def _find_certificate(self) -> ServingCertificate:
        directory = self._certificates
        if not isinstance(directory, Path):
            await directory.wait_until_ready()
            directory = directory.directory
        certificate, key, client_ca = self._names
        if not (directory / certificate).exists():
            raise ConfigError(
                f"the webhook server has no certificate: {directory / certificate} does not exist; set it "
                "(--webhook-cert-dir), have one issued (ManagedCertificates, --webhook-service), or run without "
                "webhooks (--no-webhooks, ENABLE_WEBHOOKS=false)"
            )
        return ServingCertificate(
            directory / certificate, directory / key, client_ca=directory / client_ca if client_ca else None
        )

    @asynccontextmanager
    async def _listening(self, certificate: ServingCertificate) -> AsyncIterator[None]:
        from pyctrl._http_server.server import LimitedHttpServer  # here: only programs with webhooks need it

        body_limit = self._webhooks.body_limit
        limits = replace(self._limits, request_bytes=max(self._limits.request_bytes, body_limit + HEAD_BYTES))
        tls = certificate.contexts()
        async with LimitedHttpServer("webhook", self._handle, limits=limits, body_limit=body_limit + 1) as front:
            try:
                async with AsyncExitStack() as stack:
                    self._port = await _listen(stack, front.listening(self._host, self._port, tls), self._port)
                    self._is_serving = True
                    self._started.set()
                    log.info("Serving webhook server", extra={"host": self._host or "", "port": self._port})
                    yield
                    log.info("Shutting down webhook server with timeout of 1 minute")
                await self._drain()
            finally:
                self._is_serving = False

    async def _drain(self) -> None:
        try:
            async with asyncio.timeout(DRAIN_SECONDS):
                await self._idle.wait()
        except TimeoutError:
            log.warning("Webhook requests left unanswered at shutdown", extra={"requests": self._answering})

    async def _handle(self, request: BaseRequest) -> Response:
        from aiohttp.web_response import Response  # here: see _listening

        self._answering += 1
        self._idle.clear()
        try:
            reply = await self._answer(request)
        finally:
            self._answering -= 1
            if not self._answering:
                self._idle.set()
        return Response(body=reply.body, status=reply.status, content_type="application/json")

    async def _answer(self, request: BaseRequest) -> Reply:
        from aiohttp.web_exceptions import HTTPRequestEntityTooLarge  # here: see _listening

        if request.method != "POST":
            return error_status(405, "MethodNotAllowed", f"webhooks are called with POST, not {request.method}")
        if request.headers.get("Expect", "").lower() == "100-continue":
            await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        seconds = self._limits.body_seconds
        try:
            async with asyncio.timeout(seconds):
                body = await request.read()
        except HTTPRequestEntityTooLarge:
            limit = self._webhooks.body_limit
            return error_status(413, "RequestEntityTooLarge", f"the review is too large; the limit is {limit} bytes")
        except TimeoutError:
            return error_status(408, "Timeout", f"the review was not received within {seconds:g} s")
        content_type = request.headers.get("Content-Type", "")
        timeout = request.query.get("timeout", "")
        return await self._webhooks.answer(request.path, body, content_type=content_type, timeout=timeout)


async def _listen(stack: AsyncExitStack, listening: AbstractAsyncContextManager[int], port: int) -> int:
    try:
        return await stack.enter_async_context(listening)
    except OSError as error:
        raise ConfigError(f"the webhook server cannot listen on port {port}: {error.strerror}") from error
