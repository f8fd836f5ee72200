"""DnsRecords in a cluster and in a real HTTP service, which fails when a test says so."""

from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from aiohttp.test_utils import TestServer

import dns_record
from dns_record import DnsRecord, DnsRecordReconciler, DnsRecordSpec, add_dns
from dns_service import DnsService
from pyctrl import Builder, Client, Manager, MergePatch, ObjectMeta
from pyctrl.client import wait_for, wait_until_gone
from pyctrl.simulation import Explore, External, World
from pyctrl.testing import InstallKinds, UnderRole

Wire = Callable[[Manager], None]


@pytest.fixture
def service() -> DnsService:
    """The DNS service."""
    return DnsService()


@pytest.fixture
async def wire(service: DnsService, install_kinds: InstallKinds) -> AsyncIterator[Wire]:
    """Serve the service, and return a setup of the operator that looks for differences all the time."""
    await install_kinds(dns_record)
    async with TestServer(service.app()) as server:
        yield partial(add_dns, url=str(server.make_url("")).rstrip("/"), period=timedelta(milliseconds=20))


def www(namespace: str, address: str = "192.0.2.1") -> DnsRecord:
    """Return a DnsRecord of www.example.com."""
    metadata = ObjectMeta(name="www.example.com", namespace=namespace)
    return DnsRecord(metadata=metadata, spec=DnsRecordSpec(address=address))


async def test_a_record_follows_its_object(
    under_role: UnderRole, wire: Wire, service: DnsService, client: Client, namespace: str
) -> None:
    """The record is created, updated, corrected after a change and a deletion by others, and deleted."""
    async with under_role(wire) as operator:
        key = (await client.create(www(namespace))).key
        first = (await wait_for(client, DnsRecord, key, lambda found: found.status.id != "")).status.id
        assert service.records[first]["address"] == "192.0.2.1"

        await client.patch(DnsRecord, key, MergePatch({"spec": {"address": "192.0.2.2"}}))
        await service.wait_until(lambda: service.records[first]["address"] == "192.0.2.2")
        service.records[first]["address"] = "203.0.113.66"
        await service.wait_until(lambda: service.records[first]["address"] == "192.0.2.2")
        service.records.clear()
        await wait_for(client, DnsRecord, key, lambda found: found.status.id != first)

        await client.delete(DnsRecord, key)
        await wait_until_gone(client, DnsRecord, key)
        assert service.records == {}
        assert operator.compare().lines() == []  # no permission is missing or unused


async def test_an_outage_is_waited_out(
    under_role: UnderRole, wire: Wire, service: DnsService, client: Client, namespace: str
) -> None:
    """Failed requests are retried, a lost answer causes no second record, and deletion waits for the service."""
    async with under_role(wire):
        service.failing = 503
        key = (await client.create(www(namespace))).key
        await service.wait_until(lambda: service.answers[503] >= 3)
        service.failing, service.loses_next_record = 0, True
        await wait_for(client, DnsRecord, key, lambda found: found.status.id != "")
        assert (service.answers[500], len(service.records)) == (1, 1)

        service.failing = 503
        await client.delete(DnsRecord, key)
        await service.wait_until(lambda: service.answers[503] >= 6)
        assert await client.find(DnsRecord, key) is not None
        service.failing = 0
        await wait_until_gone(client, DnsRecord, key)
        assert service.records == {}


async def test_a_rejected_record_is_not_retried(
    under_role: UnderRole, wire: Wire, service: DnsService, client: Client, namespace: str
) -> None:
    """A record with an invalid address is sent once until its spec changes, and can be deleted."""
    async with under_role(wire) as operator:
        key = (await client.create(www(namespace, "nowhere"))).key
        await service.wait_until(lambda: service.answers[422] > 0)
        await client.delete(DnsRecord, key)
        await wait_until_gone(client, DnsRecord, key)
        assert operator.manager.controllers[0].statistics().reconciles.error == 0  # only terminal errors


class Zone(External):
    """The DNS service as an object, for simulations."""

    def __init__(self) -> None:
        super().__init__()
        self.records: dict[str, dict[str, Any]] = {}

    async def call(self, method: str, path: str, body: Any = None) -> Any:
        """Do what `DnsService` does; None: there is no such record."""
        owner, key = body["owner"] if body else path.partition("owner=")[2], path.rpartition("/")[2]
        found = next((each for each in self.records.values() if each["owner"] == owner), None)
        if method == "GET":
            return found
        if method == "POST":
            key = found["id"] if found else f"rec-{len(self.records) + 1}"
        elif key not in self.records:
            return None
        if method == "DELETE":
            return self.records.pop(key)
        self.records[key] = {"id": key, **body}
        return self.records[key]


def add_in_world(manager: Manager, world: World) -> None:
    """Add the operator with the service of a simulated world."""
    reconciler = DnsRecordReconciler("", timedelta(minutes=5))
    reconciler.call = world.external(Zone).call  # type: ignore[method-assign]
    Builder(manager).build(reconciler)


@pytest.mark.slow("forty runs of the operator")
def test_survives(explore: Explore) -> None:
    """No crash, lost answer, stale view, repeated call or meddling user breaks it: each object has one record."""
    explore(add_in_world, budget=40)
