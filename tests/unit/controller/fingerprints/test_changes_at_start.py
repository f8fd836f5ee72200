"""Changes that come while a start compares fingerprints: at each await of it, none is lost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from datetime import timedelta
from typing import Any

import pytest

from pyctrl.api import Key, ObjectMeta, set_controller_reference
from pyctrl.client import Client, Config, MergePatch
from pyctrl.controller import ControllerState, Reading, Request, reading
from pyctrl.controller._fingerprints.digests import record_digest, to_digest
from pyctrl.controller._fingerprints.saved import decode_saved
from pyctrl.kinds.core.v1 import ConfigMap, Secret, Service, ServiceAccount, ServiceSpec
from pyctrl.manager import MemoryFingerprints
from pyctrl.testing import VirtualTimeLoop
from tests.unit.manager.fingerprints._programs import Noter, Program, config_map, secret

NAMES = [f"set-{number:02}" for number in range(20)]  # so that each pass over them awaits in between
SILENT = reading(ServiceAccount, triggers=False)


class SlowClockLoop(VirtualTimeLoop):
    """Each look at the clock takes longer than a time slice, so that code in slices awaits wherever it may."""

    def time(self) -> float:
        self._now += 0.006
        return self._now


class Store(MemoryFingerprints):
    """Calls a function as soon as fingerprints are loaded, and the comparison begins."""

    on_load: Callable[[], None] = staticmethod(lambda: None)

    async def load(self) -> bytes | None:
        self.on_load()
        return await super().load()


class World:
    """A program with all kinds of reads; what its runs have seen last."""

    def __init__(self) -> None:
        self.store = Store(verify_within=timedelta(days=300))
        self.seen: dict[str, object] = {}
        reads: tuple[Reading | type[Secret], ...] = (Secret, SILENT)
        self.program = Program(self.store, self.reconcile, reads=reads, wire=self.wire)
        self.config = Config.in_process(self.program.server)
        #: The turns of the loop between the load and the start of the workers.
        self.turns = 0

    @staticmethod
    def wire(builder):  # type: ignore[no-untyped-def]
        """Own Services, and ignore their updates."""
        return builder.owns(Service, predicates=[lambda change: change.change != "updated"])

    async def reconcile(self, noter: Noter, request: Request) -> None:
        """Note what the run sees."""
        owned = self.program.manager.cache.informer(Service).find(request.key)  # not a read
        self.seen[request.name] = [owned and str(owned.version), *await state_of(noter.client, request.name)]

    async def fill(self) -> None:
        """Create all objects, and run the program until they have converged."""
        async with self.program.running() as manager:
            for name in NAMES:
                own = await manager.live_client.create(config_map(name, secret=name))
                await manager.live_client.create(secret(name))
                await manager.live_client.create(service(own))
            await asyncio.sleep(20)

    async def start(self, change: Callable[[Client], Coroutine[Any, Any, None]] | None = None, *, at: int = 0) -> int:
        """Run the program, with a change at a turn of the loop; return how many requests were left out."""
        loop, tasks = asyncio.get_running_loop(), list[asyncio.Task[None]]()
        async with Client.connect(self.config) as client:

            def turn() -> None:
                if self.program.controller.state is ControllerState.RUNNING:
                    return
                if self.turns == at and change is not None:
                    tasks.append(loop.create_task(change(client)))
                self.turns += 1
                loop.call_soon(turn)

            self.turns = 0
            self.store.on_load = turn if change is not None else lambda: None
            async with self.program.running():
                await asyncio.sleep(20)
                await asyncio.gather(*tasks)
            assert self.program.controller.fingerprints is not None
            return self.program.controller.fingerprints.skipped


async def state_of(client, name: str) -> list[str | None]:  # type: ignore[no-untyped-def]
    """Return what a run reads, by versions: objects of its own, objects that all read, and a list."""
    own = await client.find(ConfigMap, Key("default", name))
    found = [own]
    for kind, read in ((Secret, own.data["secret"]), (Secret, "all"), (ServiceAccount, "all"), (ServiceAccount, name)):
        found.append(await client.find(kind, Key("default", read)))
    listed = await client.list(Secret, namespace="default", labels={"of": name})
    return [each and each.metadata.resource_version for each in (*found, *listed)]


async def expected(client: Client) -> dict[str, object]:
    """Return what a run of each request would see now."""
    found: dict[str, object] = {}
    for name in NAMES:
        owned = await client.get(Service, Key("default", name))
        found[name] = [owned.metadata.resource_version, *await state_of(client, name)]
    return found


def service(owner: ConfigMap) -> Service:
    """Return a Service that a ConfigMap owns."""
    made = Service(
        metadata=ObjectMeta(name=owner.metadata.name, namespace="default", labels={"of": owner.metadata.name}),
        spec=ServiceSpec.from_wire({"ports": [{"port": 80}]}),
    )
    set_controller_reference(owner, made)
    return made


def account(name: str) -> ServiceAccount:
    """Return a ServiceAccount, whose changes cause no run."""
    return ServiceAccount(metadata=ObjectMeta(name=name, namespace="default"))


LABEL = MergePatch({"metadata": {"labels": {"changed": "yes"}}})


async def create_shared_secret(client: Client) -> None:
    """Create what all requests have looked for."""
    await client.create(secret("all"))


async def create_shared_account(client: Client) -> None:
    """Create what all requests have looked for, and whose changes cause no run."""
    await client.create(account("all"))


async def change_much(client: Client) -> None:
    """Change something of each kind, for requests that are compared early and for others that are compared late."""
    for early in (True, False):
        own, named, listed, owned, silent = (Key("default", name) for name in (NAMES[1:6] if early else NAMES[-5:]))
        labelled = secret(f"of-{listed.name}")
        labelled.metadata.labels = {"of": listed.name}
        await asyncio.gather(
            client.patch(ConfigMap, own, LABEL),
            client.patch(Secret, named, LABEL),
            client.create(labelled),
            client.patch(Service, owned, LABEL),
            client.create(account(silent.name)),
        )


async def story_of(change: Callable[[Client], Coroutine[Any, Any, None]], turn: int) -> int:
    """Restart with changes at a turn of the loop, and once more; return the number of turns of the comparison."""
    world = World()
    await world.fill()
    async with Client.connect(world.config) as client:
        await client.create(account(NAMES[0]))  # the first request differs in the last of its reads
    await world.start(change, at=turn)
    turns = world.turns
    await world.start()
    async with Client.connect(world.config) as client:
        assert {name: world.seen[name] for name in NAMES} == await expected(client), f"changed at turn {turn}"
    return turns


@pytest.mark.slow("some dozen times three starts of a manager")
@pytest.mark.parametrize("change", [change_much, create_shared_secret, create_shared_account])
def test_a_change_during_the_comparison_is_seen(change: Callable[[Client], Coroutine[Any, Any, None]]) -> None:
    """A change at any await of the comparison is seen by a run of that start or of the next one."""
    turn, turns = 0, 1
    while turn < turns:
        with asyncio.Runner(loop_factory=SlowClockLoop) as runner:
            turns = runner.run(story_of(change, turn))
        turn += 2  # a change takes several turns to arrive
    assert turns > 10, "the comparison did not await"


def test_the_comparison_leaves_requests_out() -> None:
    """Without a change such a start leaves all requests out, so that the test above says something."""

    async def story() -> int:
        world = World()
        await world.fill()
        return await world.start()

    with asyncio.Runner(loop_factory=SlowClockLoop) as runner:
        assert runner.run(story()) == len(NAMES)


async def saved_after_change(turn: int) -> tuple[int, bool]:
    """Save fingerprints, with a change at a turn of the loop; return the turns, and whether the kind has a digest."""
    world = World()
    await world.fill()
    loop, turns, tasks = asyncio.get_running_loop(), 0, list[asyncio.Task[object]]()
    async with Client.connect(world.config) as client, world.program.running() as manager:
        await asyncio.sleep(20)
        fingerprints, informer = world.program.controller.fingerprints, manager.cache.informer(Secret)
        assert fingerprints is not None

        def count() -> None:
            nonlocal turns
            if turns == turn:
                tasks.append(loop.create_task(client.create(secret("unrelated"))))
            turns += 1
            counting = loop.call_soon(count)
            handles[:] = [counting]

        handles: list[asyncio.Handle] = []
        count()
        saved = decode_saved(await fingerprints.collect() or b"")
        handles[0].cancel()
        digest = next(kind.digest for kind in saved.kinds if kind.name == str(informer.gvk))
        present = sum(int.from_bytes(record_digest(informer.gvk, each), "big") for each in informer.lister.store)
        assert digest in (b"", to_digest(present)), f"changed at turn {turn}"
        await asyncio.gather(*tasks)
        return turns, digest != b""


@pytest.mark.slow("some dozen starts of a manager")
def test_a_change_while_fingerprints_are_saved_leaves_its_kind_unknown() -> None:
    """A digest of a kind is that of the objects which the digests of its reads are of, or it is not saved."""
    turn, turns, known = 0, 1, set[bool]()
    while turn < turns:
        with asyncio.Runner(loop_factory=SlowClockLoop) as runner:
            turns, is_known = runner.run(saved_after_change(turn))
        known.add(is_known)
        turn += 1
    assert turns > 5, "nothing was awaited"
    assert known == {True, False}
