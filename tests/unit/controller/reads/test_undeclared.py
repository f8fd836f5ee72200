"""Warnings of reads whose changes cause no reconcile."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from pyctrl.api import Key
from pyctrl.cache import Cache, CachedClient, Outside
from pyctrl.client import wait_for
from pyctrl.cluster import Cluster
from pyctrl.controller import (
    Builder,
    Reconciler,
    Request,
    UndeclaredRead,
    mapped,
    reading,
    reporting_undeclared_reads,
)
from pyctrl.kinds.core.v1 import ConfigMap, Namespace, PersistentVolumeClaim, Pod, Secret
from tests.unit.controller._hosts import PlainHost, config_map, make_host, running, settle

pytestmark = pytest.mark.filterwarnings("ignore:controller .* reads")  # the tests look at the log

DB = Key("default", "db")


class Reads(Reconciler[ConfigMap]):
    """Reads by a function."""

    def __init__(self, read: Callable[[CachedClient], Awaitable[Any]]) -> None:
        self._read = read

    async def reconcile(self, request: Request) -> None:
        await self._read(self.client)


def live_host() -> PlainHost:
    """Return a host whose reads of other kinds go to the server."""
    host = make_host()
    host.cache = Cache(host.live_client, outside=Outside.LIVE, random=host.random)
    host.client = CachedClient(host.cache, host.live_client)
    return host


async def warned(host: PlainHost, caplog: pytest.LogCaptureFixture, *names: str) -> list[dict[str, Any]]:
    """Reconcile some objects, and return the fields of the warnings."""
    async with running(host) as client:
        for name in names or ("web",):
            await client.create(config_map(name))
        await settle()
    text = "Reading a kind whose changes cause no reconcile"
    return [vars(record) for record in caplog.records if record.message == text]


async def test_a_silent_live_read_is_one_warning_with_its_line(caplog: pytest.LogCaptureFixture) -> None:
    """The first read of an undeclared kind logs the controller, the kind, the line, its text, and what to do."""
    host = live_host()

    async def read(client: CachedClient) -> None:
        await client.find(Secret, DB)  # the line
        await client.list(Secret)

    Builder(host).build(Reads(read))
    [found] = await warned(host, caplog, "web", "shop")
    assert (found["levelno"], found["controller"], found["kind"]) == (logging.WARNING, "configmap", "Secret")
    assert found["source"] == "await client.find(Secret, DB)  # the line"
    assert found["line"].startswith("tests/unit/controller/reads/test_undeclared.py:")
    assert found["line"].endswith(" in read")
    assert "reads = (Secret,)" in found["fix"]
    assert "reading(Secret, triggers=False)" in found["fix"]


async def test_each_kind_is_a_warning_also_in_lists(caplog: pytest.LogCaptureFixture) -> None:
    """Two kinds are two warnings, and a list counts as a read of one object does."""
    host = live_host()

    async def read(client: CachedClient) -> None:
        await client.list(Secret)
        await client.find(Namespace, Key("", "default"))

    Builder(host).build(Reads(read))
    assert [found["kind"] for found in await warned(host, caplog)] == ["Secret", "Namespace"]


async def test_a_kind_that_only_another_part_of_the_program_caches_is_a_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A read that the cache answers is a warning, too, if no source of the controller follows the kind."""
    host = make_host()
    host.cache.informer(Secret)
    Builder(host).build(Reads(lambda client: client.find(Secret, DB)))
    assert [found["kind"] for found in await warned(host, caplog)] == ["Secret"]


@pytest.mark.parametrize("way", ["reconciled", "owns", "watches", "reads", "cached", "live"])
async def test_declared_kinds_and_live_reads_are_no_warnings(way: str, caplog: pytest.LogCaptureFixture) -> None:
    """A kind that the controller follows or declares is no warning, nor is a read by `client.live`."""
    host = live_host()
    builder = Builder(host).reconciles(ConfigMap)
    kind: Any = ConfigMap if way == "reconciled" else Secret
    match way:
        case "owns":
            builder.owns(Secret)
        case "watches":
            builder.watches(Secret, mapped(lambda _: ()))
        case "reads":
            builder.reads(Secret)
        case "cached":
            builder.reads(reading(Secret, triggers=False))
    builder.build(Reads(lambda client: (client.live if way == "live" else client).find(kind, DB)))
    assert await warned(host, caplog) == []


async def test_a_controller_with_reads_is_warned_of_other_kinds(caplog: pytest.LogCaptureFixture) -> None:
    """Declaring one kind does not silence the warning of another."""
    host = live_host()

    async def read(client: CachedClient) -> None:
        await client.find(Secret, DB)
        await client.find(Pod, DB)
        await client.list(Pod)

    Builder(host).reconciles(ConfigMap).reads(Secret).build(Reads(read))
    assert [found["kind"] for found in await warned(host, caplog)] == ["Pod"]


async def test_reads_by_pyctrl_itself_are_no_warnings(caplog: pytest.LogCaptureFixture) -> None:
    """The controllers of an embedded cluster read what they like; the line that runs the loop is no line of theirs."""
    async with Cluster() as cluster, cluster.client() as client:
        claim = {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1G"}}}}
        name = {"metadata": {"name": "data", "namespace": "default"}}
        claim["spec"]["storageClassName"] = "standard"
        await client.create(PersistentVolumeClaim.from_wire(claim | name))
        await wait_for(
            client, PersistentVolumeClaim, Key("default", "data"), lambda found: found.status.phase == "Bound"
        )
    assert [record for record in caplog.records if record.levelname == "WARNING"] == []


async def test_undeclared_reads_are_reported_in_a_block() -> None:
    """Tests and `pyctrl dev` get each undeclared read once, as text with controller, kind, line and remedy."""
    host, found = live_host(), list[UndeclaredRead]()
    Builder(host).build(Reads(lambda client: client.find(Secret, DB)))
    with reporting_undeclared_reads(found.append):
        async with running(host) as client:
            await client.create(config_map("web"))
            await settle()
    [read] = found
    assert str(read).startswith("controller configmap reads Secret, whose changes cause no reconcile (tests/unit/")
    assert str(read).endswith("reads = (reading(Secret, triggers=False),) or client.live")
