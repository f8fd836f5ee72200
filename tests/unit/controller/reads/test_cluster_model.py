"""Random histories of reads in several clusters, compared with a model that computes every request again.

`PYCTRL_HISTORIES=10000` tries more histories than the default.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from contextlib import AsyncExitStack, suppress
from random import Random
from typing import TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyctrl.api import Key, ObjectMeta
from pyctrl.apiserver import ApiServer
from pyctrl.cache import CachedClient
from pyctrl.client import Client, Config
from pyctrl.controller import Builder, Reconciler, Request
from pyctrl.errors import NotFound
from pyctrl.kinds.core.v1 import ConfigMap, Secret
from pyctrl.manager import Manager, Preflight
from pyctrl.testing import run_virtual
from tests.unit.controller._hosts import config_map

HISTORIES = int(os.environ.get("PYCTRL_HISTORIES", "15"))
CLUSTERS = ("home", "east", "west")
NAMES = ("a", "b")
REQUESTS = ("r0", "r1")

#: What a request reads: a Secret in a cluster, a list there, or the Secret of the name that a Secret at home has.
Step: TypeAlias = tuple[str, str, str]
STEPS = st.lists(
    st.tuples(st.sampled_from(CLUSTERS), st.sampled_from(("object", "list", "named")), st.sampled_from(NAMES)),
    max_size=3,
)
CHANGES = st.one_of(
    st.tuples(st.just("put"), st.sampled_from(CLUSTERS), st.sampled_from(NAMES), st.sampled_from(NAMES)),
    st.tuples(st.just("delete"), st.sampled_from(CLUSTERS), st.sampled_from(NAMES), st.just("")),
)

Clients: TypeAlias = Mapping[str, Client | CachedClient]


async def look(clients: Clients, steps: list[Step]) -> list[object]:
    """Read what the steps say, and return the versions."""
    seen: list[object] = []
    for cluster, what, name in steps:
        if what == "list":
            listed = await clients[cluster].list(Secret, namespace="default", labels={"of": name})
            seen.append(sorted((each.metadata.uid, each.metadata.resource_version) for each in listed))
            continue
        found = await clients["home" if what == "named" else cluster].find(Secret, Key("default", name))
        seen.append(found and (found.metadata.uid, found.metadata.resource_version))
        if what == "named" and found is not None:
            found = await clients[cluster].find(Secret, Key("default", found.metadata.labels["of"]))
            seen.append(found and (found.metadata.uid, found.metadata.resource_version))
    return seen


class Looker(Reconciler[ConfigMap]):
    """Reads in all clusters, and remembers what it has seen."""

    def __init__(self, steps: Mapping[str, list[Step]]) -> None:
        self.clients: dict[str, CachedClient] = {}
        self.seen: dict[str, list[object]] = {}
        self.runs: list[str] = []
        self._steps = steps

    async def reconcile(self, request: Request) -> None:
        if request.name in REQUESTS:
            self.runs.append(request.name)
            self.seen[request.name] = await look(self.clients, self._steps[request.name])


async def act(client: Client, what: str, name: str, of: str) -> None:
    """Make a change in one cluster."""
    secret = Secret(metadata=ObjectMeta(name=name, namespace="default", labels={"of": of}))
    if what == "put":
        await client.apply(secret, field_owner="test", force=True)
        return
    with suppress(NotFound):
        await client.delete(secret)


async def history(programs: Mapping[str, list[Step]], changes: list[tuple[str, str, str, str]]) -> None:
    """Make changes one after the other, and compare which requests have run, and what they have seen."""
    configs = {name: Config.in_process(ApiServer()) for name in CLUSTERS}
    looker = Looker(programs)
    async with AsyncExitStack() as stack:
        direct = {name: await stack.enter_async_context(Client.connect(each)) for name, each in configs.items()}
        for name in REQUESTS:
            await direct["home"].create(config_map(name))
        manager = await stack.enter_async_context(Manager(configs["home"], random=Random(1), preflight=Preflight.OFF))
        builder = Builder(manager).reconciles(ConfigMap).reads(Secret)
        for name in CLUSTERS[1:]:
            added = manager.add_cluster(name, configs[name])
            builder.reads(Secret, cluster=added)
            looker.clients[name] = added.client
        looker.clients["home"] = manager.client
        builder.build(looker)
        await stack.enter_async_context(manager.running())
        await asyncio.sleep(1)
        for what, cluster, name, of in changes:
            before = {request: await look(direct, programs[request]) for request in REQUESTS}
            looker.runs.clear()
            await act(direct[cluster], what, name, of)
            await asyncio.sleep(1)
            after = {request: await look(direct, programs[request]) for request in REQUESTS}
            assert looker.seen == after
            assert sorted(looker.runs) == [request for request in REQUESTS if before[request] != after[request]]


@pytest.mark.slow("some histories, each with a manager of three clusters")
@pytest.mark.timeout(60 + HISTORIES)
@settings(max_examples=HISTORIES, deadline=None)
@given(programs=st.fixed_dictionaries(dict.fromkeys(REQUESTS, STEPS)), changes=st.lists(CHANGES, max_size=8))
def test_exactly_those_run_that_have_read_it_in_its_cluster(
    programs: dict[str, list[Step]], changes: list[tuple[str, str, str, str]]
) -> None:
    """A change in any cluster runs once each request that would see something else, and no other."""
    run_virtual(history(programs, changes))
