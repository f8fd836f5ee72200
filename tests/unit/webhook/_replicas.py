"""Replicas of an operator with webhooks in one virtual loop, and an API server that calls them with real handshakes."""

from __future__ import annotations

import asyncio
import base64
import ssl
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from contextvars import ContextVar
from datetime import datetime, timedelta
from functools import partial
from typing import Any, cast
from urllib.parse import urlsplit

from pyctrl import _clock
from pyctrl.api import GroupVersionKind, Key, ObjectMeta, Unstructured
from pyctrl.apiserver import ApiServer, WebhookRequest, WebhookResponse, WebhookUnreachable
from pyctrl.client import Client, HttpRequest, HttpResponse, HttpStream, InProcessTransport
from pyctrl.errors import ConfigError, ConnectionFailed
from pyctrl.manager import LeaderElection, Manager, Preflight
from pyctrl.testing import VirtualTimeLoop
from pyctrl.webhook import (
    AdmissionRequest,
    Conversion,
    Defaulter,
    Lifetimes,
    ManagedCertificates,
    Service,
    ServingCertificate,
    Spoke,
    Validator,
    WebhookBuilder,
    Webhooks,
    configurations,
    conversion_stanza,
)
from tests.unit.webhook._history import History, Refused, handshake
from tests.unit.webhook._kinds import GROUP
from tests.unit.webhook.conversion.test_conversion import New, Old, OldSpec, new_to_old, old_to_new

SECRET = GroupVersionKind("", "v1", "Secret")
KEY = Key("default", "webhook-certificate")
SERVICE = Service("default", "webhooks")
HOST = SERVICE.host_names[0]
TARGETS = {
    "mutatingwebhookconfigurations": "admissionregistration.k8s.io",
    "validatingwebhookconfigurations": "admissionregistration.k8s.io",
    "customresourcedefinitions": "apiextensions.k8s.io",
}

#: How far the clock of a replica is ahead; everything else has the right time.
SKEW: ContextVar[timedelta] = ContextVar("SKEW", default=timedelta(0))


def skewed() -> datetime:
    """Return the wall time of the current replica."""
    return cast(VirtualTimeLoop, asyncio.get_running_loop()).wall_time() + SKEW.get()


def now() -> float:
    return asyncio.get_running_loop().time()


class Guard(Defaulter[Old], Validator[Old]):
    """Defaults and validates sets."""

    def default(self, obj: Old, request: AdmissionRequest) -> None:
        obj.metadata.labels["seen"] = "yes"

    def validate_create(self, obj: Old, request: AdmissionRequest) -> None:
        """Allow it."""


class Network:
    """A replica's connection to the API server, which a test can cut."""

    def __init__(self, server: ApiServer) -> None:
        self._inner = InProcessTransport(server)
        self.is_cut = False
        #: Number of writes, without leases, until it is cut automatically; None for all.
        self.writes_left: int | None = None

    async def request(self, request: HttpRequest) -> HttpResponse:
        self._check(request)
        return await self._inner.request(request)

    def stream(
        self, request: HttpRequest, *, idle_timeout: float | None = None
    ) -> AbstractAsyncContextManager[HttpStream]:
        self._check(request)
        return self._inner.stream(request, idle_timeout=idle_timeout)

    async def aclose(self) -> None:
        await self._inner.aclose()

    def _check(self, request: HttpRequest) -> None:
        if self.writes_left is not None and request.method != "GET" and "/leases" not in request.path:
            self.writes_left -= 1
            self.is_cut = self.is_cut or self.writes_left < 0
        if self.is_cut:
            raise ConnectionFailed(f"scripted: no connection for {request}")


class Replica:
    """A manager with webhooks, and its certificate in a handshake."""

    def __init__(self, site: Site, name: str, skew: timedelta) -> None:
        self.name = name
        self.network = Network(site.server)
        self.manager = Manager(
            client=Client(self.network),
            leader_election=LeaderElection(
                name="op",
                namespace="default",
                identity=name,
                # slow, because leases are not under test
                lease_duration=site.lease,
                renew_deadline=site.lease * 2 / 3,
                retry_period=site.lease / 6,
            ),
            preflight=Preflight.OFF,
        )
        self.certificates: ManagedCertificates
        self.context: ssl.SSLContext | None = None
        self._site = site
        self._skew = skew

    async def run(self) -> None:
        """Run until `stop`."""
        SKEW.set(self._skew)
        site = self._site
        async with self.manager as manager, asyncio.TaskGroup() as group:
            self.certificates = ManagedCertificates(
                manager.live_client,
                secret=KEY,
                target=SERVICE,
                configurations=["sets"],
                definitions=[f"sets.{GROUP}"],
                interval=site.interval,
                lifetimes=site.lifetimes,
            )
            manager.add(self.certificates)
            manager.add(self.certificates.rotation)
            serving = group.create_task(self._serve())
            await manager.run(handle_signals=False)
            serving.cancel()

    async def _serve(self) -> None:
        """Handle the certificate as a `WebhookServer` does, without sockets."""
        await self.certificates.wait_until_ready()
        directory = self.certificates.directory
        certificate = ServingCertificate(directory / "tls.crt", directory / "tls.key")
        self.context = certificate.load()
        while True:
            self._site.history.note(now(), "shown", self.name, (directory / "tls.crt").read_bytes())
            self._site.changed.set()
            while not self._has_changed(certificate):
                await asyncio.sleep(self._site.poll.total_seconds())

    @staticmethod
    def _has_changed(certificate: ServingCertificate) -> bool:
        with suppress(ConfigError):
            return certificate.refresh()
        return False

    def end(self) -> None:
        """Stop receiving requests."""
        self.context = None
        self._site.history.note(now(), "shown", self.name, None)


class Site:
    """An API server, the replicas that it calls, and a record of all shown and trusted certificates."""

    def __init__(
        self, group: asyncio.TaskGroup, lifetimes: Lifetimes, *, interval: timedelta, poll: timedelta, lease: timedelta
    ) -> None:
        self.lifetimes, self.interval, self.poll, self.lease = lifetimes, interval, poll, lease
        self.history = History(HOST)
        self.changed = asyncio.Event()
        self.replicas: dict[str, Replica] = {}
        self.handshakes = 0
        self.webhooks = Webhooks()
        WebhookBuilder(self.webhooks).admits(Old).build(Guard())
        self.webhooks.add_conversion(Conversion(New, Spoke(Old, old_to_new, new_to_old)))
        self.server = ApiServer(webhooks=self._call)
        self.client = Client(InProcessTransport(self.server))
        self._group = group
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._bundles: dict[str, bytes] = {}
        for resource, api_group in TARGETS.items():
            self.server.storage.collection(api_group, resource).listen(partial(self._note, resource))

    async def configure(self) -> None:
        """Create all objects that name the webhooks."""
        await self.client.create(Unstructured(_definition()))
        for each in configurations(self.webhooks, name="sets", target=SERVICE):
            await self.client.create(Unstructured(each))

    async def start(self, name: str, skew: timedelta = timedelta(0)) -> Replica:
        """Start a replica and return when it serves."""
        replica = self.replicas[name] = Replica(self, name, skew)
        self._tasks[name] = self._group.create_task(replica.run())
        while replica.context is None:
            await asyncio.sleep(1)
        return replica

    async def stop(self, name: str) -> None:
        """Stop a replica as a rollout does, with its lease released."""
        replica = self.replicas.pop(name)
        replica.end()
        replica.network.is_cut = False
        replica.manager.ask_to_stop()
        await self._tasks.pop(name)

    async def kill(self, name: str) -> None:
        """Stop a replica as a broken node does, with its lease kept."""
        replica = self.replicas.pop(name)
        replica.end()
        replica.network.is_cut = True
        replica.manager.ask_to_stop()
        await self._tasks.pop(name)

    @property
    def leader(self) -> str:
        """Return the name of the leader, "" without one."""
        return next((name for name, each in self.replicas.items() if each.manager.elected.is_set()), "")

    async def ask(self) -> None:
        """Call each replica in turn, over TLS."""
        for _ in self.replicas:
            await self.ask_one()

    async def ask_one(self) -> None:
        """Write an object that mutating, validating and conversion webhooks handle."""
        metadata = ObjectMeta(generate_name="a", namespace="default")
        made = await self.client.create(Old(metadata=metadata, spec=OldSpec(replicas=1)), dry_run=True)
        assert made.metadata.labels == {"seen": "yes"}

    async def _call(self, request: WebhookRequest) -> WebhookResponse:
        serving = [each.context for each in self.replicas.values() if each.context is not None]
        self.handshakes += 1
        try:
            # four requests per object, so that each replica gets each
            handshake(serving[self.handshakes // 4 % len(serving)], request.ca, urlsplit(request.url).hostname or "")
        except Refused as error:
            raise WebhookUnreachable(str(error)) from error
        reply = await self.webhooks.answer(urlsplit(request.url).path, request.body)
        return WebhookResponse(status=reply.status, body=reply.body)

    def _note(self, resource: str, event: Any) -> None:
        found = event.current.decode()
        if resource == "customresourcedefinitions":
            config = found["spec"]["conversion"]["webhook"]["clientConfig"]
        else:
            config = found["webhooks"][0]["clientConfig"]
        bundle = base64.b64decode(config.get("caBundle") or "")
        if self._bundles.get(resource) != bundle:
            self._bundles[resource] = bundle
            self.history.note(now(), "trusted", resource, bundle)
            self.changed.set()


@asynccontextmanager
async def running(
    lifetimes: Lifetimes | None = None,
    *,
    interval: timedelta = timedelta(minutes=1),
    poll: timedelta = timedelta(seconds=10),
    lease: timedelta = timedelta(minutes=15),
) -> AsyncIterator[Site]:
    """Run a site without replicas; stop the remaining replicas at the end."""
    with _clock.use(skewed):
        async with asyncio.TaskGroup() as group:
            site = Site(group, lifetimes or Lifetimes(), interval=interval, poll=poll, lease=lease)
            await site.configure()
            yield site
            for name in tuple(site.replicas):
                await site.stop(name)


def _definition() -> dict[str, Any]:
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    versions = [{"name": name, "served": True, "storage": name == "v2", "schema": schema} for name in ("v1", "v2")]
    names = {"kind": "Set", "listKind": "SetList", "plural": "sets", "singular": "set"}
    spec = {"group": GROUP, "scope": "Namespaced", "names": names, "versions": versions}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"sets.{GROUP}"},
        "spec": {**spec, "conversion": conversion_stanza(SERVICE)},
    }
