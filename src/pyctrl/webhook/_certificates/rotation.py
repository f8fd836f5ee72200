"""Self-managed certificates: an own CA in a Secret, renewed in time, trusted before use."""

from __future__ import annotations

import asyncio
import logging
import os
import tempfile
from collections.abc import Coroutine, Iterable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from pyctrl._clock import now
from pyctrl.api import GroupVersionKind, Key, Unstructured
from pyctrl.errors import AlreadyExists, ApiError, ConfigError, Conflict, TransportError
from pyctrl.rbac import Permission, Resource, allow
from pyctrl.webhook._certificates.ca_injection import CaInjection
from pyctrl.webhook._certificates.keys import Keys, Lifetimes, certificate_to_serve, renewed, split_bundle, with_trusted
from pyctrl.webhook._configuration import Service, Url

if TYPE_CHECKING:
    from pyctrl.client import Client

__all__ = ["CertificateRotation", "ManagedCertificates"]

log = logging.getLogger("pyctrl.webhook.certificates")

SECRET = GroupVersionKind("", "v1", "Secret")
ATTEMPTS = 5  # attempts at a write that other replicas make as well
RETRY_SECONDS = 2.0


class ManagedCertificates:
    """Issues the certificate of a `WebhookServer`, keeps it in a Secret, and makes API servers trust it.

        certificates = ManagedCertificates(
            manager.live_client,
            secret=Key("podset-system", "webhook-certificate"),
            target=Service("podset-system", "webhooks"),
            configurations=["podset"],
        )
        manager.add(certificates)
        manager.add(certificates.rotation)
        manager.add(WebhookServer(webhooks, certificates=certificates))

    Every replica reads the Secret and serves its certificate. The first replica creates it; the leader renews it
    (`rotation`), see `Lifetimes`. The serving certificate is trusted at any time: a new CA is in every ``caBundle``
    before it signs a certificate. A deleted Secret is created again with the same contents.

    Needs the package cryptography: ``pip install 'pyctrl-runtime[webhook]'``.
    """

    manager_group = "webhooks"
    only_leader = False

    def __init__(
        self,
        client: Client,
        *,
        secret: Key,
        target: Service | Url,
        configurations: Iterable[str] = (),
        definitions: Iterable[str] = (),
        api_services: Iterable[str] = (),
        names: Iterable[str] = (),
        lifetimes: Lifetimes | None = None,
        interval: timedelta = timedelta(minutes=1),
        name: str = "webhook-certificates",
    ) -> None:
        """Configure the certificates; nothing is read or issued yet.

        Args:
            client: a client that reads from the server, such as ``manager.live_client``.
            secret: the Secret with the certificate, the CA and their keys.
            target: the address in the configurations; the certificate has its names, and only its ``caBundle``s change.
            configurations: names of Mutating- and ValidatingWebhookConfigurations.
            definitions: names of CustomResourceDefinitions with a conversion webhook.
            api_services: names of APIServices of an extension API server.
            names: further host names and addresses of the server.
            lifetimes: of issued certificates.
            interval: how often the Secret is read, and renewals are checked by the leader.
            name: the name of the runnable, in logs and health checks.

        Raises:
            ConfigError: the package cryptography is not installed.
        """
        try:
            import cryptography  # noqa: F401 (here: only those who make certificates have it)
        except ImportError as error:
            raise ConfigError(
                "issuing certificates needs the package cryptography, which is not installed: "
                "pip install 'pyctrl-runtime[webhook]', or let cert-manager issue them"
            ) from error
        self.name: str = name
        self._client = client
        self._secret = secret
        #: The address in the configurations.
        self.target: Service | Url = target
        #: The names of the server's certificate.
        self.configurations: tuple[str, ...] = tuple(configurations)
        self._names = tuple(dict.fromkeys((*target.host_names, *names)))
        self._injection = CaInjection(
            client, target, configurations=self.configurations, definitions=definitions, api_services=api_services
        )
        self._lifetimes = lifetimes or Lifetimes()
        self._interval = interval.total_seconds()
        self._keys: Keys | None = None
        self._directory: Path | None = None
        self._ready = asyncio.Event()
        #: The leader's part. Add it to the manager to renew certificates.
        self.rotation: CertificateRotation = CertificateRotation(self, self._interval)

    @property
    def directory(self) -> Path:
        """The directory of ``tls.crt`` and ``tls.key`` while it runs."""
        if self._directory is None:
            raise ConfigError("there is no certificate yet: add the ManagedCertificates to the manager as well")
        return self._directory

    @property
    def keys(self) -> Keys | None:
        """The keys in use; None before the first."""
        return self._keys

    @property
    def rbac(self) -> Sequence[Permission]:
        """The permissions on the Secret and on objects with a ``caBundle``."""
        secrets, where = Resource("", "secrets", True), [self._secret.namespace]
        return [
            allow(secrets, "create", where=where),
            allow(secrets, "get", "update", names=[self._secret.name], where=where),
            *self._injection.rbac,
        ]

    @property
    def why_not_ready(self) -> str:
        """Why API servers cannot trust this server, or ""."""
        if self._keys is None:
            return "there is no certificate yet"
        return "" if self._keys.expiry > now() else f"the certificate expired at {self._keys.expiry:%F %T}"

    async def wait_until_ready(self) -> None:
        """Return when there is a trusted certificate."""
        await self._ready.wait()

    async def run(self) -> None:
        """Create or find the certificate, then follow the Secret."""
        with tempfile.TemporaryDirectory(prefix="pyctrl-webhook-") as directory:
            self._directory = Path(directory)
            while not self._ready.is_set():
                if await _tried(self.keep()):
                    self._ready.set()
                else:
                    await asyncio.sleep(RETRY_SECONDS)
            while True:
                await asyncio.sleep(self._interval)
                await _tried(self._follow())

    async def keep(self) -> None:
        """Ensure once that a valid and trusted certificate exists. Several replicas may do so at the same time.

        Raises:
            ApiError: a read or write was denied, or an object such as the namespace does not exist.
            TransportError: the API server does not answer.
        """
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return await self._keep()
            except (AlreadyExists, Conflict):
                if attempt == ATTEMPTS:
                    raise

    async def _keep(self) -> None:
        found = await self._client.find(SECRET, self._secret)
        there = Keys.from_data(found.get("data") or {}) if found is not None else None
        before = there or self._keys
        if there is not None and self._keys is not None:
            before = with_trusted(there, self._keys.authorities, self._names)
        untrusted = await self._untrusted(before) if before is not None else None
        keys = renewed(before, self._names, self._lifetimes, is_trusted=untrusted is None)
        if before is None:
            known = [each for bundle in await self._injection.injected() for each in split_bundle(bundle)]
            keys = with_trusted(keys, known, self._names)
        if keys != there:
            await self._write(found, keys)
            log.info("Wrote webhook certificates", extra={"secret": str(self._secret), "expiry": str(keys.expiry)})
        if before is None or keys.bundle != before.bundle:
            await self._injection.inject(keys.bundle)
        self._adopt(keys)
        if untrusted is not None:
            raise untrusted

    async def _untrusted(self, keys: Keys) -> ApiError | TransportError | None:
        """Inject the CAs and return the error if that fails: renewals that need no new CA proceed in any case."""
        try:
            await self._injection.inject(keys.bundle)
        except Conflict:
            raise
        except (ApiError, TransportError) as error:
            return error
        return None

    async def _write(self, found: Unstructured | None, keys: Keys) -> None:
        if found is not None:
            found["data"] = keys.to_data()
            await self._client.update(found)
            return
        key = self._secret
        made = Unstructured.new(
            SECRET, name=key.name, namespace=key.namespace, type="kubernetes.io/tls", data=keys.to_data()
        )
        await self._client.create(made)

    async def _follow(self) -> None:
        found = await self._client.find(SECRET, self._secret)
        keys = Keys.from_data(found.get("data") or {}) if found is not None else None
        if keys is not None:
            self._adopt(keys)

    def _adopt(self, found: Keys) -> None:
        keys = certificate_to_serve(self._keys, found, self._names, self._lifetimes)
        if self._directory is not None and (self._keys is None or keys.certificate != self._keys.certificate):
            _write_file(self._directory / "tls.crt", keys.certificate)
            _write_file(self._directory / "tls.key", keys.key)
        self._keys = keys


class CertificateRotation:
    """The leader's part of `ManagedCertificates`: renews certificates and injects their CA."""

    def __init__(self, certificates: ManagedCertificates, interval: float) -> None:
        self.name: str = f"{certificates.name.removesuffix('s')}-rotation"
        self._certificates = certificates
        self._interval = interval

    async def run(self) -> None:
        """Renew certificates forever. Errors are logged, and retried in the next round."""
        while True:
            await _tried(self._certificates.keep())
            await asyncio.sleep(self._interval)


async def _tried(work: Coroutine[object, object, None]) -> bool:
    """Await something and return whether it succeeded; log the error otherwise."""
    try:
        await work
    except (ApiError, TransportError) as error:
        log.warning("Failed to renew webhook certificates", extra={"error": str(error)})
        return False
    return True


def _write_file(path: Path, content: bytes) -> None:
    """Replace a file atomically, readable by the owner only."""
    fresh = path.with_suffix(".new")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
    fresh.replace(path)
