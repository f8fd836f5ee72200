"""The extension API server: kinds of a program behind an APIService."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

from pyctrl._headers import Headers
from pyctrl._tasks import unwrapped
from pyctrl.api import KubernetesObject
from pyctrl.apiserver import (
    FRONT_PROXY,
    ApiServer,
    AuditLog,
    AuthenticationWebhook,
    AuthorizationWebhook,
    DelegatingRequestAuthenticator,
    ExtensionResourceRegistry,
    Peer,
    ProxyRequest,
    Response,
    serve,
)
from pyctrl.errors import ConfigError
from pyctrl.extension_apiserver._api_resource import APIResource, install
from pyctrl.extension_apiserver._delegation import AuthenticationConfig, DelegatedReviews
from pyctrl.rbac import Permission
from pyctrl.webhook import CertificateProvider, ServingCertificate, review_conversion

if TYPE_CHECKING:
    from pyctrl.client import Client

__all__ = ["ExtensionAPIServer"]

log = logging.getLogger("pyctrl.extension_apiserver")

PORT = 6443  # upstream's 443 needs a privilege
CACHE = timedelta(seconds=10)  # of reviews, as in DelegatingAuthenticationOptions and DelegatingAuthorizationOptions
ALWAYS_ALLOWED = ("/healthz", "/livez", "/readyz")  # as in DelegatingAuthorizationOptions
POLL_SECONDS = 10.0  # between checks of the certificate's files
HINT = "use --apiserver-service or --apiserver-cert-dir with pyctrl run, or pass certificates="


class ExtensionAPIServer:
    """Serves kinds of your own behind kube-apiserver's aggregator.

        manager.add(ExtensionAPIServer(APIResource(Flavor, Flavors()), client=manager.live_client))

    kube-apiserver proxies requests below ``/apis/GROUP/VERSION`` to the Service of an APIService. The server trusts its
    headers if its certificate is that of the ConfigMap ``kube-system/extension-apiserver-authentication``. It reviews
    tokens of direct clients, and the access of every user, with kube-apiserver.

    It is a runnable: add it to a manager, where every replica serves, leader or not. Or call `run` alone. `handle`
    answers a request without a socket. The server is also a `ServiceTransport`: in the ``service_transports`` of an
    `ApiServer` in the same process, it is behind its aggregator.

    Args:
        resources: The kinds; a class alone has its objects in the memory of the server.
        client: Reviews accesses and tokens, and reads the ConfigMap; such as ``manager.live_client``.
        certificates: The directory of ``tls.crt`` and ``tls.key``, or a provider such as `ManagedCertificates`. None
            serves nothing: requests come through `handle` only.
        host: The address to listen at; by default all.
        port: The port to listen at; 0 for a free one, see `port`.
        audit: Records every request that was answered.
        random: The source of uids, generated names and jitter.
    """

    name = "extension-apiserver"
    #: The manager's group of the server: caches of its own kinds need it.
    manager_group = "webhooks"
    only_leader = False

    def __init__(
        self,
        *resources: APIResource[Any] | type[KubernetesObject],
        client: Client,
        certificates: Path | str | CertificateProvider | None = None,
        host: str = "",
        port: int = PORT,
        audit: AuditLog | None = None,
        random: Random | None = None,
    ) -> None:
        #: The kinds that it serves.
        self.resources: Sequence[APIResource[Any]] = [
            each if isinstance(each, APIResource) else APIResource(each) for each in resources
        ]
        random = random or Random()
        authenticator = DelegatingRequestAuthenticator()
        self._config = AuthenticationConfig(client, authenticator, random=random, changed=self._trust)
        registry = ExtensionResourceRegistry()
        for each in self.resources:
            install(each, registry)
        self._server = ApiServer(
            random=random,
            registry=registry,
            audit=audit,
            webhooks=DelegatedReviews(client, self._convert),
            authorization="Webhook",
            authentication_webhook=AuthenticationWebhook(url=DelegatedReviews.TOKEN_REVIEWS, cache=CACHE),
            authorization_webhook=AuthorizationWebhook(
                url=DelegatedReviews.ACCESS_REVIEWS, authorized_cache=CACHE, unauthorized_cache=CACHE
            ),
            request_authenticator=authenticator,
            always_allow_paths=ALWAYS_ALLOWED,
        )
        self._certificates = Path(certificates) if isinstance(certificates, str) else certificates
        self._certificate: ServingCertificate | None = None
        self._host, self._port = host, port
        self._is_in_process = False
        self._started, self._stop = asyncio.Event(), asyncio.Event()

    # -- requests ----------------------------------------------------------------------------------------------

    async def handle(
        self,
        method: str,
        path: str,
        query: Sequence[tuple[str, str]],
        headers: Mapping[str, str],
        body: bytes,
        *,
        peer: Peer | None = None,
    ) -> Response:
        """Return the response to a request. The response of a watch streams until closed.

        Args:
            peer: The client of the connection, if there is one.
        """
        return await self._server.handle(method, path, query, headers, body, peer=peer)

    async def __call__(self, request: ProxyRequest, /) -> Response:
        """Return the response to a request of an aggregator in the same process, whose headers are trusted."""
        url = urlsplit(request.url)
        query = parse_qsl(url.query, keep_blank_values=True)
        peer = Peer("", FRONT_PROXY)
        return await self.handle(request.method, url.path, query, Headers(request.headers), request.body, peer=peer)

    def _convert(self, review: Mapping[str, Any]) -> Mapping[str, Any]:
        return review_conversion([each.conversion for each in self.resources if each.conversion is not None], review)

    # -- serving -----------------------------------------------------------------------------------------------

    @property
    def port(self) -> int:
        """The port that the server listens at, or will listen at."""
        return self._port

    @property
    def why_not_ready(self) -> str:
        """Why the server does not serve, or ""; the message of the readiness check."""
        return "" if self._started.is_set() else "the extension API server has not started"

    def listen_at(self, *, port: int | None = None, certificates: Path | CertificateProvider | None = None) -> None:
        """Replace the port or the certificates before the server runs; None keeps the present value."""
        self._port = self._port if port is None else port
        self._certificates = certificates or self._certificates

    def serve_in_process(self) -> None:
        """Do not listen: an aggregator in the same process calls the server."""
        self._certificates, self._is_in_process = None, True

    @property
    def has_certificates(self) -> bool:
        """Whether the server has a certificate, so that it listens."""
        return self._certificates is not None

    async def wait_until_ready(self) -> None:
        """Return when the server listens."""
        await self._started.wait()

    def ask_to_stop(self) -> None:
        """Stop serving: watches end at once, other requests are answered."""
        self._stop.set()

    async def run(self) -> None:
        """Serve until asked to stop, or cancelled. Without certificates, nothing is served.

        Raises:
            ConfigError: There is no certificate, or the server cannot listen at the address.
        """
        if self._certificates is None:
            if not self._is_in_process:
                log.warning("Extension API server does not listen: it has no certificate", extra={"hint": HINT})
            self._started.set()
            await self._stop.wait()
            return
        log.info("Starting extension API server")
        with unwrapped():
            async with asyncio.TaskGroup() as group:
                serving = group.create_task(self._serve(self._certificates), name="serving")
                await self._stop.wait()
                serving.cancel()
        log.info("Shut down extension API server")

    async def _serve(self, certificates: Path | CertificateProvider) -> None:
        with unwrapped():
            async with asyncio.TaskGroup() as group:
                group.create_task(self._config.run(), name="authentication config")
                await self._config.wait_until_ready()
                async with self._listening(certificates) as certificate:
                    self._started.set()
                    await certificate.follow(seconds=POLL_SECONDS)

    @asynccontextmanager
    async def _listening(self, certificates: Path | CertificateProvider) -> AsyncIterator[ServingCertificate]:
        certificate = self._certificate = await self._find_certificate(certificates)
        contexts = certificate.contexts()
        self._trust()
        try:
            async with serve(self._server, self._host, self._port, contexts) as url:
                self._port = urlsplit(url).port or self._port
                log.info("Serving extension API server", extra={"host": self._host, "port": self._port})
                yield certificate
        except OSError as error:
            raise ConfigError(
                f"the extension API server cannot listen at port {self._port}: {error.strerror}"
            ) from error

    def _trust(self) -> None:
        """Request client certificates of the authorities that the ConfigMap has now."""
        if self._certificate is None:
            return
        try:
            self._certificate.request_client_certificates(self._config.authorities)
        except ConfigError as error:
            log.warning("Invalid authentication config", extra={"error": str(error)})

    @staticmethod
    async def _find_certificate(directory: Path | CertificateProvider) -> ServingCertificate:
        if not isinstance(directory, Path):
            await directory.wait_until_ready()
            directory = directory.directory
        certificate, key = directory / "tls.crt", directory / "tls.key"
        if not certificate.exists():
            raise ConfigError(
                f"the extension API server has no certificate: {certificate} does not exist; have one issued "
                "(ManagedCertificates, --apiserver-service), or mount one"
            )
        return ServingCertificate(certificate, key, owner="the extension API server")

    @property
    def rbac(self) -> Sequence[Permission]:
        """The permissions that storages declare with an attribute ``rbac``, for what they read in the cluster.

        Those for reviews and for the ConfigMap are not among them: a binding to ``system:auth-delegator``, and one to
        ``extension-apiserver-authentication-reader`` in ``kube-system``, grant them.
        """
        return [permission for each in self.resources for permission in getattr(each.storage, "rbac", ())]

    @property
    def kinds(self) -> Sequence[type[KubernetesObject]]:
        """The classes of all kinds and versions that it serves."""
        return [kind for each in self.resources for kind in (each.kind, *each.versions)]
