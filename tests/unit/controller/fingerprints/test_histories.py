"""Random histories: whatever happens to objects, the program and its fingerprints, each request sees the last state.

`PYCTRL_HISTORIES=10000` tries more histories than the default.
"""

from __future__ import annotations

import asyncio
import os
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pyctrl.api import Key, is_deleting
from pyctrl.apiserver import ApiServer
from pyctrl.client import Client, Config, MergePatch
from pyctrl.controller import Request, generation_changed
from pyctrl.errors import Conflict, NotFound
from pyctrl.kinds.core.v1 import ConfigMap, Secret
from pyctrl.manager import MemoryFingerprints
from pyctrl.testing import run_virtual
from tests.unit.manager.fingerprints._programs import Noter, Program, config_map, secret

HISTORIES = int(os.environ.get("PYCTRL_HISTORIES", "40"))
NAMES = ("a", "b", "c")
SECRETS = ("x", "y")

#: What happens: to an object, or to the program.
acts = st.one_of(
    st.tuples(st.just("own"), st.sampled_from(NAMES), st.sampled_from(SECRETS)),
    st.tuples(st.just("delete own"), st.sampled_from(NAMES), st.just("")),
    st.tuples(st.just("secret"), st.sampled_from(SECRETS), st.sampled_from(("", "a", "b"))),
    st.tuples(st.just("delete secret"), st.sampled_from(SECRETS), st.just("")),
    st.tuples(st.just("rename secret"), st.sampled_from(SECRETS), st.sampled_from(SECRETS)),
    st.tuples(st.just("fail"), st.sampled_from(NAMES), st.sampled_from(("", "now"))),
    st.tuples(st.sampled_from(("restart", "stop", "kill")), st.just(""), st.just("")),
    st.tuples(st.sampled_from(("lose", "tear", "put back")), st.just(""), st.just("")),
    st.tuples(st.just("wait"), st.sampled_from(("0.01", "3", "90")), st.just("")),
)


class World:
    """A server, a program, and what its runs have seen last, by request."""

    def __init__(self, *, predicates: tuple[Any, ...]) -> None:
        self.store = MemoryFingerprints(verify_within=timedelta(days=300), interval=timedelta(seconds=2))
        self.seen: dict[str, object] = {}
        self.failing: set[str] = set()
        self.copies: list[bytes | None] = [None]
        self.program = Program(self.store, self.reconcile, wire=lambda builder: builder.filter(*predicates))
        self.server: ApiServer = self.program.server
        self._stopping = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def reconcile(self, noter: Noter, request: Request) -> None:
        """Note what a run sees; write a label, once."""
        own = await noter.client.find(ConfigMap, request.key)
        if request.name in self.failing:
            raise RuntimeError("as the history wants it")
        if own is None or is_deleting(own):
            self.seen.pop(request.name, None)
            return
        named = await noter.client.find(Secret, Key("default", own.data["secret"]))
        following = named and await noter.client.find(Secret, Key("default", next_of(named)))
        listed = await noter.client.list(Secret, namespace="default", labels={"of": request.name})
        if own.metadata.labels.get("secret") != own.data["secret"]:
            own = await noter.client.patch(own, MergePatch({"metadata": {"labels": {"secret": own.data["secret"]}}}))
        self.seen[request.name] = state_of(own, named, following, listed)

    async def expected(self, client: Client) -> dict[str, object]:
        """Return what runs would see now."""
        found: dict[str, object] = {}
        secrets = {each.metadata.name: each for each in await client.list(Secret, namespace="default")}
        for own in await client.list(ConfigMap, namespace="default"):
            if own.metadata.name in NAMES:
                listed = [each for each in secrets.values() if each.metadata.labels.get("of") == own.metadata.name]
                named = secrets.get(own.data["secret"])
                following = named and secrets.get(next_of(named))
                found[own.metadata.name] = state_of(own, named, following, listed)
        return found

    # --- the program ---

    async def start(self) -> None:
        self._stopping.clear()
        self._task = asyncio.create_task(self._run())
        await asyncio.sleep(0.5)

    async def stop(self, *, is_kill: bool = False) -> None:
        """Stop the program; as after SIGKILL, what it writes at the end is lost."""
        kept = self.store.data
        self._stopping.set()
        assert self._task is not None
        await self._task
        self._task = None
        if is_kill:
            self.store.data = kept

    async def _run(self) -> None:
        async with self.program.running():
            await self._stopping.wait()

    async def do(self, client: Client, act: tuple[str, str, str]) -> None:
        """Let one thing happen."""
        match act:
            case ("own", name, of):
                await put(client, config_map(name, secret=of))
            case ("secret", name, of):
                made = secret(name, value=of)
                made.metadata.labels = {"of": of} if of else {}
                await put(client, made)
            case ("delete own", name, _):
                await gone(client, ConfigMap, name)
            case ("delete secret", name, _):
                await gone(client, Secret, name)
            case ("rename secret", name, to):
                found = await client.find(Secret, Key("default", name))
                if found is not None and name != to:
                    await gone(client, Secret, name)
                    made = secret(to)
                    made.metadata.labels = found.metadata.labels
                    await put(client, made)
            case ("fail", name, now):
                self.failing = {name} if now else set()
            case ("wait", seconds, _):
                await asyncio.sleep(float(seconds))
            case _:
                await self._do_to_program(act[0])
        self.copies.append(self.store.data)

    async def _do_to_program(self, act: str) -> None:
        if act in ("restart", "kill", "stop") and self._task is not None:
            await self.stop(is_kill=act == "kill")
        if act in ("restart", "kill") and self._task is None:
            await self.start()
        if self.store.data is not None and act == "tear":
            self.store.data = self.store.data[:-3]
        if act == "lose":
            self.store.data = None
        if act == "put back":
            self.store.data = self.copies[len(self.copies) // 2]


def next_of(named: Secret) -> str:
    """Return the name of the Secret that a Secret names: the other one of its label, or one that never exists."""
    return {"a": "x", "b": "y"}.get(named.metadata.labels.get("of", ""), "none")


def state_of(own: ConfigMap, named: Secret | None, following: Secret | None, listed: Any) -> object:
    versions = [each and each.metadata.resource_version for each in (own, named, following)]
    return versions, sorted((each.metadata.name, each.metadata.resource_version) for each in listed)


async def put(client: Client, made: ConfigMap | Secret) -> None:
    """Create or replace an object, again after the program has changed it in between."""
    found = await client.find(type(made), made.key)
    if found is None:
        await client.create(made)
        return
    made.metadata.resource_version = found.metadata.resource_version
    try:
        await client.update(made)
    except Conflict:
        await put(client, made)


async def gone(client: Client, kind: Any, name: str) -> None:
    try:
        await client.delete(kind, Key("default", name))
    except NotFound:
        return


async def run_history(history: list[tuple[str, str, str]], *, predicates: tuple[Any, ...]) -> World:
    """Let a history happen, then let the program come to rest, and compare what its runs have seen."""
    world = World(predicates=predicates)
    async with Client.connect(Config.in_process(world.server)) as client:
        await world.start()
        for act in history:
            await world.do(client, act)
        world.failing.clear()
        if world._task is not None:
            await world.stop(is_kill=True)
        await world.start()
        await asyncio.sleep(20)
        expected = await world.expected(client)
        seen = {name: state for name, state in world.seen.items() if name in expected}
        assert seen == expected
        await world.stop()
    return world


@pytest.mark.slow("some dozen histories, each with several starts of a manager")
@pytest.mark.timeout(60 + HISTORIES)
@settings(max_examples=HISTORIES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(history=st.lists(acts, max_size=14))
def test_no_history_hides_a_change(history: list[tuple[str, str, str]]) -> None:
    """After any changes, failures, restarts, kills and damaged fingerprints each request has seen its state."""
    run_virtual(run_history(history, predicates=()))


def test_the_histories_use_fingerprints() -> None:
    """In a history with a restart the fingerprints do leave requests out, so that the test above says something."""
    history = [("own", "a", "x"), ("own", "b", "y"), ("wait", "90", ""), ("stop", "", ""), ("restart", "", "")]
    world = run_virtual(run_history(history, predicates=()))
    assert world.program.controller.fingerprints is not None
    assert world.program.controller.fingerprints.skipped == 2


def test_a_change_that_a_predicate_ignores_is_seen_after_a_restart() -> None:
    """A label that others change is ignored by ``generation_changed``, and seen by the run at the next start."""
    history = [("own", "a", "x"), ("wait", "90", ""), ("own", "a", "y"), ("wait", "90", "")]
    run_virtual(run_history(history, predicates=(generation_changed,)))
