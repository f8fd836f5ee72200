"""`pyctrl shards` against an API server: what it reads, and what it follows."""

from __future__ import annotations

import asyncio
import io
import sys
from datetime import timedelta

import pytest

from pyctrl import _clock
from pyctrl.api import Key, ObjectMeta
from pyctrl.apiserver import ApiServer
from pyctrl.cli._shards.runner import RingView, ShardsRunner
from pyctrl.client import Client, Config, InProcessTransport
from pyctrl.errors import CommandFailed
from pyctrl.kinds.coordination.v1 import Lease
from pyctrl.kinds.core.v1 import Namespace
from pyctrl.manager import NoServer
from tests.unit.manager.sharding._leases import lease

CONFIG = Config.in_process(NoServer())


@pytest.fixture
def client() -> Client:
    """A client of an empty API server."""
    return Client(InProcessTransport(ApiServer()))


def shards(ring: str | None = None, *, watch: bool = False, everywhere: bool = False) -> ShardsRunner:
    return ShardsRunner(ring=ring, watch=watch, output="text", all_namespaces=everywhere)


async def test_all_rings_of_the_namespace_are_read_unless_one_is_named(client: Client) -> None:
    """Without a name all rings of the namespace are shown, with one only that, and never those of other namespaces."""
    now = _clock.now()
    for made in (lease("a", ring="x", renewed=now), lease("b", ring="y", renewed=now)):
        await client.create(made)
    assert [ring.name for ring in await shards().read(client, CONFIG)] == ["x", "y"]
    assert [ring.name for ring in await shards("y").read(client, CONFIG)] == ["y"]
    with pytest.raises(CommandFailed, match="no ring 'z' in namespace default; there are x, y"):
        await shards("z").read(client, CONFIG)


async def test_rings_of_all_namespaces_are_read_on_demand(client: Client) -> None:
    """With ``-A`` rings of all namespaces are shown, also those of one name."""
    await client.create(Namespace(metadata=ObjectMeta(name="web")))
    for namespace in ("default", "web"):
        await client.create(lease("a", ring="x", namespace=namespace, renewed=_clock.now()))
    rings = await shards("x", everywhere=True).read(client, CONFIG)
    assert [(ring.namespace, ring.name) for ring in rings] == [("default", "x"), ("web", "x")]
    with pytest.raises(CommandFailed, match="no ring 'y' in any namespace; there are x, x"):
        await shards("y", everywhere=True).read(client, CONFIG)


async def test_without_any_ring_the_message_says_how_one_begins(client: Client) -> None:
    """Leases of leaders are no rings, and the message names the flag of replicas and that of the namespace."""
    leader = lease("leader")
    leader.metadata.labels = {}
    await client.create(leader)
    for name, told in ((None, "no ring in namespace default"), ("x", "no ring 'x' in namespace default")):
        with pytest.raises(CommandFailed, match=f"{told}: no replica of pyctrl run --shards=auto .* with -n"):
            await shards(name).read(client, CONFIG)


class _Output(io.StringIO):
    """A stdout whose text can be awaited."""

    def __init__(self) -> None:
        super().__init__()
        self._is_written = asyncio.Event()

    def write(self, text: str) -> int:
        self._is_written.set()
        return super().write(text)

    async def read_until(self, text: str) -> str:
        """Return what was printed since the last call, once a text is in it."""
        async with asyncio.timeout(10):
            while text not in self.getvalue():
                self._is_written.clear()
                await self._is_written.wait()
        found = self.getvalue()
        self.seek(0)
        self.truncate()
        return found


async def test_a_followed_ring_is_printed_again_when_it_has_changed(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a terminal a table is printed for each change of a member, but not for a renewal."""
    output = _Output()
    monkeypatch.setattr(sys, "stdout", output)
    now = _clock.now()
    await client.create(lease("a", renewed=now))
    view = RingView(is_wide=False)
    following = asyncio.create_task(shards("podset", watch=True).follow(client, CONFIG, view))
    first = await output.read_until("Imbalance")
    assert "\na " in first
    assert "100.0%" in first
    assert "RENEWED" not in first
    renewed = await client.get(Lease, Key("default", "a"))
    renewed.spec.renew_time = now + timedelta(seconds=1)
    await client.update(renewed)
    await client.create(lease("b", "a", renewed=now))
    second = await output.read_until("joining (a)")
    assert second.count("MEMBER") == 1
    await client.delete(Lease, Key("default", "b"))
    assert "joining" not in await output.read_until("Imbalance")
    await client.delete(Lease, Key("default", "a"))
    await output.read_until("no replicas")
    assert view.has_drawn
    following.cancel()
    with pytest.raises(asyncio.CancelledError):
        await following
