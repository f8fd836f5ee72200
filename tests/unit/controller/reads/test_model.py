"""Random histories of reads and changes, compared with a model that computes every request again.

`PYCTRL_HISTORIES=10000` tries more histories than the default.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyctrl.api import Key, ObjectMeta
from pyctrl.client import Client, merge_from
from pyctrl.controller import Builder, Reconciler, Request
from pyctrl.errors import NotFound
from pyctrl.kinds.core.v1 import ConfigMap, Namespace, Secret
from pyctrl.testing import run_virtual
from tests.unit.controller._hosts import config_map, make_host, running, settle

#: The share of runs that may have nothing to do, in histories with changes during reconciles of up to two seconds.
MOST_NEEDLESS = 0.1
HISTORIES = int(os.environ.get("PYCTRL_HISTORIES", "40"))

NAMES = ("a", "b", "c")
LINKS = 3  # of a chain
REQUESTS = ("r0", "r1", "r2")
NAMESPACES = ("default", "kube-public", "late")  # "late" appears with its first object

#: One step of what a request reads: an object; the object that an object names, and so on; a list.
Step: TypeAlias = tuple[str, ...]
#: What was read: uid and version of each object, or None.
Seen: TypeAlias = tuple[object, ...]

STEPS = st.one_of(
    st.tuples(st.just("object"), st.sampled_from(NAMES)),
    st.tuples(st.just("chain"), st.sampled_from(NAMES)),
    st.tuples(st.just("labels"), st.sampled_from(["x=1", "x in (1)", "x!=1", "x", "!x", "x=1,y=1", "x in (1,2)"])),
    st.tuples(st.just("fields"), st.sampled_from(["metadata.name=a", "type=Opaque", "metadata.name!=b"])),
    st.tuples(st.just("everywhere"), st.sampled_from(["x=2", ""])),
    st.tuples(st.just("until found"), st.just("")),
    st.tuples(st.just("late"), st.sampled_from(NAMES)),
)
#: A step that writes into the object that it reads.
MARKS = st.tuples(st.just("mark"), st.sampled_from(NAMES))
PROGRAMS = st.fixed_dictionaries({name: st.lists(STEPS, max_size=3) for name in REQUESTS})
WRITING_PROGRAMS = st.fixed_dictionaries({name: st.lists(STEPS | MARKS, max_size=3) for name in REQUESTS})
LABELS = st.dictionaries(st.sampled_from(["x", "y"]), st.sampled_from(["1", "2"]), max_size=2)
CHANGES = st.one_of(
    st.tuples(st.just("put"), st.sampled_from(NAMES), st.sampled_from(NAMESPACES), LABELS, st.sampled_from(NAMES)),
    st.tuples(st.just("delete"), st.sampled_from(NAMES), st.sampled_from(NAMESPACES)),
    st.tuples(st.just("rename"), st.sampled_from(NAMES), st.sampled_from(NAMESPACES), st.sampled_from(NAMES)),
    st.tuples(st.just("program"), st.sampled_from(REQUESTS), st.lists(STEPS, max_size=3)),
    st.tuples(st.just("remove"), st.sampled_from(REQUESTS)),
)


async def look(client: Client, steps: list[Step]) -> Seen:
    """Read what the steps say, and return the versions."""
    seen: list[object] = []
    for kind, argument in steps:
        if kind in ("object", "chain", "mark"):
            found = await client.find(Secret, Key("default", argument))
            seen.append(_version(found))
            for _ in range(LINKS if kind == "chain" else 0):
                if found is not None:
                    found = await client.find(Secret, Key("default", found.metadata.annotations["next"]))
                    seen.append(_version(found))
        elif kind == "until found":
            for name in NAMES:
                found = await client.find(Secret, Key("kube-public", name))
                seen.append(_version(found))
                if found is not None:
                    break
        elif kind == "late":
            seen.append(_version(await client.find(Secret, Key("late", argument))))
            seen.append(tuple(sorted(map(_version, await client.list(Secret, namespace="late")))))  # type: ignore[type-var]
        else:
            namespace = None if kind == "everywhere" else "default"
            selector: dict[str, Any] = {"fields" if kind == "fields" else "labels": argument}
            listed = await client.list(Secret, namespace=namespace, **selector)
            seen.append(tuple(sorted(map(_version, listed))))  # type: ignore[type-var]
    return tuple(seen)


def _version(secret: Secret | None) -> tuple[str, str] | None:
    return None if secret is None else (secret.metadata.uid, secret.metadata.resource_version)


def _steps(owner: ConfigMap) -> list[Step]:
    return [tuple(line.split("|")) for line in owner.data["steps"].splitlines()]


def _program(name: str, steps: list[Step]) -> ConfigMap:
    return config_map(name, steps="\n".join("|".join(step) for step in steps))


class Looker(Reconciler[ConfigMap]):
    """Does what the ConfigMap says, and remembers what it has seen."""

    reads = (Secret,)

    def __init__(self, pause: Callable[[], Awaitable[None]] | None = None) -> None:
        self.seen: dict[str, Seen] = {}
        self.runs: list[str] = []
        #: The runs that saw what the run before them had seen, and the same state of their object.
        self.needless: int = 0
        self._states: dict[str, object] = {}
        self._pause = pause

    async def reconcile(self, request: Request) -> None:
        self.runs.append(request.name)
        owner = await self.client.find(ConfigMap, request.key)
        if owner is None:
            self.seen.pop(request.name, None)
            return
        seen = await look(self.client, _steps(owner))
        if self._pause is not None:
            await self._pause()
        if await self._mark(request, _steps(owner)):
            seen = await look(self.client, _steps(owner))
        self.seen[request.name] = seen
        state = owner.metadata.uid, owner.metadata.resource_version, seen
        self.needless += self._states.get(request.name) == state
        self._states[request.name] = state

    async def _mark(self, request: Request, steps: list[Step]) -> bool:
        """Write into the objects of some steps, once each; return whether something was written."""
        has_written = False
        for kind, name in steps:
            found = await self.client.find(Secret, Key("default", name)) if kind == "mark" else None
            if found is not None and request.name not in found.data:
                before = found.deep_copy()
                found.data[request.name] = "eA=="
                await self.client.patch(found, merge_from(before))
                has_written = True
        return has_written


async def expected(client: Client) -> dict[str, Seen]:
    """Return what each request would see now."""
    owners = [each for each in await client.list(ConfigMap, namespace="default") if each.metadata.name in REQUESTS]
    return {owner.metadata.name: await look(client, _steps(owner)) for owner in owners}


async def act(client: Client, change: tuple[Any, ...]) -> str:
    """Make a change; return the request whose own object it is about, or ""."""
    match change:
        case ("put", name, namespace, labels, following):
            meta = ObjectMeta(name=name, namespace=namespace, labels=labels, annotations={"next": following})
            await client.apply(Namespace(metadata=ObjectMeta(name=namespace)), field_owner="test", force=True)
            await client.apply(Secret(metadata=meta), field_owner="test", force=True)
        case ("rename", name, namespace, to):
            found = await client.find(Secret, Key(namespace, name))
            if found is not None and to != name:
                await _delete(client, found)
                kept = found.metadata
                meta = ObjectMeta(name=to, namespace=namespace, labels=kept.labels, annotations=kept.annotations)
                await client.apply(Secret(metadata=meta), field_owner="test", force=True)
        case ("delete", name, namespace):
            await _delete(client, Secret(metadata=ObjectMeta(name=name, namespace=namespace)))
        case ("program", name, steps):
            await client.apply(_program(name, steps), field_owner="test", force=True)
            return str(name)
        case ("remove", name):
            await _delete(client, config_map(name))
            return str(name)
    return ""


async def _delete(client: Client, obj: Secret | ConfigMap) -> None:
    with suppress(NotFound):
        await client.delete(obj)


@pytest.mark.timeout(60 + HISTORIES)
@settings(max_examples=HISTORIES, deadline=None)
@given(programs=PROGRAMS, changes=st.lists(CHANGES, max_size=12))
def test_exactly_those_run_that_would_see_something_else(
    programs: dict[str, list[Step]], changes: list[tuple[Any, ...]]
) -> None:
    """While nothing else happens, a change runs once each request whose reads it affects, and no other."""

    async def history() -> None:
        host, looker = make_host(), Looker()
        Builder(host).build(looker)
        async with running(host) as client:
            for name, steps in programs.items():
                await client.create(_program(name, steps))
            await settle()
            for change in changes:
                before = await expected(client)
                versions = {m.metadata.name: m.metadata.resource_version for m in await client.list(ConfigMap)}
                looker.runs.clear()
                await act(client, change)
                await settle()
                after = await expected(client)
                own = {m.metadata.name: m.metadata.resource_version for m in await client.list(ConfigMap)}
                must = {name for name in REQUESTS if before.get(name) != after.get(name)}
                must |= {name for name in REQUESTS if versions.get(name) != own.get(name)}
                assert looker.seen == after
                assert set(looker.runs) == must
                most = 2 if change[0] == "rename" else 1  # which is a deletion and a creation
                assert all(looker.runs.count(name) <= most for name in must)

    run_virtual(history())


@pytest.mark.timeout(60 + HISTORIES)
def test_no_change_is_missed_whenever_it_comes() -> None:
    """In the end each request has seen the present state, though changes come during reconciles; few runs are idle."""
    runs = needless = 0

    @settings(max_examples=HISTORIES, deadline=None)
    @given(
        programs=WRITING_PROGRAMS,
        changes=st.lists(st.tuples(CHANGES, st.sampled_from([0.0, 0.0, 0.001, 0.5, 1.0, 3.0])), max_size=20),
        pauses=st.lists(st.sampled_from([0.0, 0.001, 0.7, 2.0]), min_size=1, max_size=5),
    )
    def check(
        programs: dict[str, list[Step]], changes: list[tuple[tuple[Any, ...], float]], pauses: list[float]
    ) -> None:
        nonlocal runs, needless
        looker = run_virtual(history_with_pauses(programs, changes, pauses))
        runs, needless = runs + len(looker.runs), needless + looker.needless

    check()
    assert needless <= MOST_NEEDLESS * runs, (needless, runs)


async def history_with_pauses(
    programs: dict[str, list[Step]], changes: list[tuple[tuple[Any, ...], float]], pauses: list[float]
) -> Looker:
    """Make changes while reconciles run, and compare what they have seen at the end."""
    count = 0

    async def pause() -> None:
        nonlocal count
        count += 1
        await asyncio.sleep(pauses[count % len(pauses)])

    host, looker = make_host(), Looker(pause)
    Builder(host).options(workers=2).build(looker)
    async with running(host) as client:
        for name, steps in programs.items():
            await client.create(_program(name, steps))
        for change, delay in changes:
            await act(client, change)
            await asyncio.sleep(delay)
        await asyncio.sleep(60)
        assert looker.seen == await expected(client)
    return looker
