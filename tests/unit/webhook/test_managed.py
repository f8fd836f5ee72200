"""Certificates that pyctrl makes itself: a year of requests, replicas that come and go, and what may go wrong."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from ipaddress import ip_address
from typing import Any

import pytest
from cryptography import x509
from cryptography.x509.verification import PolicyBuilder, Store

from pyctrl._clock import now
from pyctrl.api import GroupVersionKind, Key, Unstructured
from pyctrl.apiserver import ApiServer
from pyctrl.client import Client, InProcessTransport
from pyctrl.errors import ConfigError
from pyctrl.manager import LeaderElection, Manager, Preflight
from pyctrl.testing import FaultyTransport, Refused, Rule, webhook_caller
from pyctrl.webhook import (
    Lifetimes,
    ManagedCertificates,
    Service,
    Url,
    WebhookBuilder,
    Webhooks,
    configurations,
)
from pyctrl.webhook._injection import CONFIGURATIONS
from pyctrl.webhook._keys import Keys
from tests.unit.webhook._kinds import PodSet, PodSetWebhook

SECRET = GroupVersionKind("", "v1", "Secret")
KEY = Key("default", "webhook-certificate")
SERVICE = Service("default", "webhooks")
HOST = "webhooks.default.svc"
SELDOM = timedelta(hours=12)


class Replica:
    """A replica of an operator with a webhook, and what it shows in a handshake."""

    def __init__(self, server: ApiServer, name: str, interval: timedelta = SELDOM) -> None:
        self.manager = Manager(
            client=Client(InProcessTransport(server)),
            leader_election=LeaderElection(
                name="op",
                namespace="default",
                identity=name,
                # slow, for a year of leases is not what is tested
                lease_duration=timedelta(days=3),
                renew_deadline=timedelta(days=2),
                retry_period=timedelta(hours=12),
            ),
            preflight=Preflight.OFF,
        )
        self.certificates: ManagedCertificates
        self._interval = interval

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Replica]:
        async with self.manager as manager:
            self.certificates = ManagedCertificates(
                manager.live_client, secret=KEY, target=SERVICE, configurations=["podset"], interval=self._interval
            )
            manager.add(self.certificates)
            manager.add(self.certificates.rotation)
            task = asyncio.create_task(manager.run(handle_signals=False))
            await self.certificates.wait_until_ready()
            try:
                yield self
            finally:
                manager.ask_to_stop()
                await task

    @property
    def shown(self) -> bytes:
        assert self.certificates.keys is not None
        return self.certificates.keys.certificate


class Handshakes:
    """Decides as a client would whether a certificate is trusted; what was verified once is looked up."""

    def __init__(self) -> None:
        self._verified: dict[tuple[bytes, bytes], tuple[datetime, datetime]] = {}

    def check(self, shown: bytes, bundle: bytes, begin: datetime, end: datetime) -> None:
        found = self._verified.get((shown, bundle))
        if found is None:
            leaf = x509.load_pem_x509_certificate(shown)
            trusted = Store(x509.load_pem_x509_certificates(bundle))
            policy = PolicyBuilder().store(trusted).time(now().replace(tzinfo=None))
            chain = policy.build_server_verifier(x509.DNSName(HOST)).verify(leaf, [])
            latest = max(each.not_valid_before_utc for each in chain)
            found = self._verified[shown, bundle] = (latest, min(each.not_valid_after_utc for each in chain))
        good = found[0] <= begin and end <= found[1]
        assert good, f"refused between {begin} and {end}: good from {found[0]} to {found[1]}"


async def configure(client: Client) -> None:
    webhooks = Webhooks()
    WebhookBuilder(webhooks).admits(PodSet).build(PodSetWebhook())
    for each in configurations(webhooks, name="podset", target=SERVICE):
        await client.create(Unstructured(each))


async def bundles(client: Client) -> set[bytes]:
    found = [await client.get(kind, Key("", "podset")) for kind in CONFIGURATIONS]
    return {base64.b64decode(each["webhooks"][0]["clientConfig"].get("caBundle") or "") for each in found}


def server_and_client() -> tuple[ApiServer, Client]:
    server = ApiServer(webhooks=webhook_caller(Webhooks()))
    return server, Client(InProcessTransport(server))


@pytest.mark.slow("four hundred days of leases, reads and renewals")
@pytest.mark.timeout(120)
@pytest.mark.virtual_time(limit=timedelta(days=500))
async def test_a_year_of_requests_none_refused() -> None:
    """Whoever asks whichever replica in any minute of 400 days trusts it, while certificates and authority are renewed.

    What is shown and what is trusted changes at most once an hour here, so a request within an hour meets one of what
    there was at its beginning and its end: each combination has to be good for all of the hour.
    """
    server, client = server_and_client()
    await configure(client)
    handshakes, authorities, seen = Handshakes(), set[bytes](), set[bytes]()
    async with Replica(server, "a").running() as first, Replica(server, "b").running() as second:
        before = ({first.shown, second.shown}, await bundles(client))
        for _ in range(400 * 24):
            begin = now()
            await asyncio.sleep(3600)
            after = ({first.shown, second.shown}, await bundles(client))
            for shown in before[0] | after[0]:
                for bundle in before[1] | after[1]:
                    handshakes.check(shown, bundle, begin, now())
            before = after
            seen |= after[0]
            authorities |= after[1]

    assert len(seen) >= 6  # every sixty days
    assert len(authorities) == 3  # the first, both, the second


async def test_replicas_that_start_together_agree() -> None:
    """Both find no Secret, one makes it, and both show the same certificate, which is trusted at once."""
    server, client = server_and_client()
    await configure(client)
    async with Replica(server, "a").running() as first, Replica(server, "b").running() as second:
        assert first.shown == second.shown
        (bundle,) = await bundles(client)
        Handshakes().check(first.shown, bundle, now(), now())
        secret = await client.get(SECRET, KEY)

    assert secret["type"] == "kubernetes.io/tls"
    assert set(secret["data"]) == {"ca.crt", "ca.key", "tls.crt", "tls.key"}


async def test_what_somebody_spoils_is_mended() -> None:
    """A Secret that is deleted, and a caBundle that is overwritten, are as before within an interval of the leader."""
    server, client = server_and_client()
    await configure(client)
    async with Replica(server, "a", timedelta(minutes=1)).running() as replica:
        before = replica.shown
        await replica.manager.elected.wait()
        await client.delete(await client.get(SECRET, KEY))
        spoilt = await client.get(CONFIGURATIONS[0], Key("", "podset"))
        spoilt["webhooks"][0]["clientConfig"]["caBundle"] = ""
        await client.update(spoilt)
        await asyncio.sleep(61)
        (bundle,) = await bundles(client)
        again = Keys.from_data((await client.get(SECRET, KEY))["data"])

    assert replica.shown == before
    assert again is not None
    assert (again.certificate, again.bundle) == (before, bundle)


async def test_configurations_of_others_are_left_alone() -> None:
    """Only what names the target gets the bundle, even in a configuration that is looked after."""
    server, client = server_and_client()
    await configure(client)
    mutating = await client.get(CONFIGURATIONS[0], Key("", "podset"))
    other = {"service": {"namespace": "default", "name": "other", "path": "/x"}}
    mutating["webhooks"].append({**mutating["webhooks"][0], "name": "other.example.com", "clientConfig": other})
    await client.update(mutating)
    async with Replica(server, "a").running():
        found = await client.get(CONFIGURATIONS[0], Key("", "podset"))

    assert ["caBundle" in each["clientConfig"] for each in found["webhooks"]] == [True, False]


async def test_a_start_waits_for_the_api_server() -> None:
    """While the Secret cannot be written, nothing is shown and readiness says so; then it goes on by itself."""
    network = FaultyTransport(InProcessTransport(ApiServer()), [Rule(Refused(), path="*/secrets*", times=None)])
    certificates = ManagedCertificates(Client(network), secret=KEY, target=Url("https://10.0.0.1:9443"))
    task = asyncio.create_task(certificates.run())
    await asyncio.sleep(60)
    assert certificates.why_not_ready == "there is no certificate yet"
    network.clear()
    await certificates.wait_until_ready()
    assert certificates.why_not_ready == ""
    assert certificates.keys is not None
    leaf = x509.load_pem_x509_certificate(certificates.keys.certificate)
    names: Any = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.IPAddress) == [ip_address("10.0.0.1")]
    assert (certificates.directory / "tls.crt").read_bytes() == certificates.keys.certificate
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def test_lifetimes_have_to_overlap() -> None:
    """An authority that would not outlive what it signs is refused."""
    with pytest.raises(ConfigError, match="three times as long"):
        Lifetimes(authority=timedelta(days=100), certificate=timedelta(days=90))
