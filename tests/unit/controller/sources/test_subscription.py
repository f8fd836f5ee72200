"""The source of a kind that reconciles read: storms, lists after an interrupted watch, permissions."""

from __future__ import annotations

import asyncio

from pyctrl.api import Key
from pyctrl.apiserver import ApiServer
from pyctrl.client import (
    Client,
    Config,
    InProcessTransport,
    merge_from,
)
from pyctrl.controller import Builder, Request, on_delete
from pyctrl.kinds.core.v1 import ConfigMap, Secret
from pyctrl.testing import Answered, ConnectionRefused, FaultyTransport, Rule
from tests.unit.controller._hosts import PlainHost, config_map, make_host, running, settle
from tests.unit.controller.reads._readers import Readers, named_secret, secret

SECRETS = "*/secrets"


async def test_a_shared_object_is_a_storm_that_others_overtake() -> None:
    """A change that all requests have read runs them at low priority, the first hundred at once and the rest spread."""
    host, ran = make_host(), list[tuple[float, str]]()

    async def read(readers: Readers, request: Request) -> None:
        await readers.client.find(Secret, Key("default", "shared"))
        ran.append((asyncio.get_running_loop().time(), request.name))

    Builder(host).build(Readers(read))
    async with running(host) as client:
        for number in range(400):
            await client.create(config_map(f"m{number}"))
        await settle()
        ran.clear()
        began = asyncio.get_running_loop().time()
        await client.create(secret("shared"))
        await settle()
    assert len({name for _, name in ran}) == len(ran) == 400
    times = [at - began for at, _ in ran]
    assert sum(at < 0.01 for at in times) in range(100, 115)
    assert 0.28 < times[-1] < 0.32


async def test_another_change_overtakes_a_storm() -> None:
    """While hundreds of requests run because of one object, a new object does not wait for them."""
    host, ran = make_host(), list[str]()

    async def read(readers: Readers, request: Request) -> None:
        if await readers.client.find(Secret, Key("default", "shared")) is not None:
            ran.append(request.name)
            await asyncio.sleep(0.1)

    Builder(host).build(Readers(read))
    async with running(host) as client:
        for number in range(110):
            await client.create(config_map(f"m{number}"))
        await settle()
        await client.create(secret("shared"))
        await asyncio.sleep(1)
        await client.create(config_map("urgent"))
        await asyncio.sleep(60)
    assert len(ran) == 111
    assert ran.index("urgent") < 20


async def test_predicates_decide_which_changes_of_a_read_object_count() -> None:
    """A change that a predicate of `reads` refuses runs nothing, and others do."""
    host, readers = make_host(), Readers(named_secret)
    readers.reads = ()  # type: ignore[assignment]
    Builder(host).reconciles(ConfigMap).reads(Secret, predicates=[on_delete]).build(readers)
    async with running(host) as client:
        await client.create(config_map("web", secret="db"))
        await settle()
        readers.take()
        db = await client.create(secret("db"))
        await settle()
        assert readers.take() == []
        await client.delete(db)
        await settle()
        assert readers.take() == ["web"]


async def test_reads_need_the_permissions_to_list_and_watch() -> None:
    """`reads` adds the permissions to list and watch the kind, as `watches` does."""
    host = make_host()
    controller = Builder(host).build(Readers(named_secret))
    assert host.cache.informer(Secret).rbac[0] in controller.rbac


async def test_a_change_by_others_that_only_a_list_shows_is_not_taken_for_the_own_write_after_it() -> None:
    """A foreign change and an own write that a list shows as one run the request again."""
    seen: list[str] = []

    async def read(readers: Readers, request: Request) -> None:
        owner = await readers.client.get(ConfigMap, request.key)
        found = await readers.client.find(Secret, Key("default", "db"))
        if found is None:
            return
        seen.append(found.metadata.annotations.get("by", ""))
        if "write" in owner.data and "x" not in found.metadata.labels:
            before = found.deep_copy()
            found.metadata.labels["x"] = "y"
            await readers.client.patch(found, merge_from(before))

    server = ApiServer()
    network, others = FaultyTransport(InProcessTransport(server)), Client.connect(Config.in_process(server))
    host = PlainHost(Client(network))
    Builder(host).build(Readers(read))
    async with running(host) as client:
        db = await others.create(secret("db"))
        web = await client.create(config_map("web"))
        await settle()
        network.add(Rule(ConnectionRefused(), path=SECRETS, method="GET", times=None))
        await _cut_watches(host)
        db.metadata.annotations["by"] = "others"
        await others.update(db)
        web.data["write"] = "yes"
        await client.update(web)
        await settle()
        assert seen[-1] == ""
        network.clear()
        network.add(Rule(Answered.expired(), path=SECRETS, query={"watch": "true"}))
        await asyncio.sleep(120)
    assert seen[-1] == "others"


async def _cut_watches(host: PlainHost) -> None:
    """Let the present watches end: they last five minutes at most, and the next ones are refused."""
    await asyncio.sleep(600)
