"""What becomes of the operators of the examples when something goes wrong around them, in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from fnmatch import fnmatchcase
from random import Random

import pytest
import pytest_asyncio

from pyctrl.api import Key, Unstructured
from pyctrl.client import Client, wait_until_gone
from pyctrl.cluster import Cluster
from pyctrl.kinds.apiextensions.v1 import CustomResourceDefinition
from pyctrl.testing import AnswerLost, Fault, Rule, Silent

from ._examples import EVC, PODSET, Example, Operator, install, key, running


@pytest.fixture(params=[EVC, PODSET], ids=lambda example: example.name)
def example(request: pytest.FixtureRequest) -> Example:
    """Each of the examples in turn."""
    found = request.param
    assert isinstance(found, Example)
    return found


@pytest_asyncio.fixture
async def cluster(example: Example) -> AsyncIterator[Cluster]:
    """A cluster that has the definition."""
    async with Cluster(random=Random(1)) as cluster:
        async with cluster.client() as client:
            await install(client, example)
        yield cluster


@pytest_asyncio.fixture
async def client(cluster: Cluster) -> AsyncIterator[Client]:
    """An administrator's client, whom no fault befalls."""
    async with cluster.client() as client:
        yield client


async def befallen(operator: Operator) -> None:
    """Wait until a fault has befallen a request of an operator."""
    async with asyncio.timeout(60):
        while not operator.transport.befallen:
            await asyncio.sleep(0.001)


@pytest.mark.parametrize("fault", [Silent(), AnswerLost()], ids=["before it is sent", "before it is answered"])
@pytest.mark.parametrize("method", ["POST", "PATCH"], ids=["killed when it creates", "killed when it reports"])
async def test_killed_in_the_middle_of_a_write(
    cluster: Cluster, client: Client, example: Example, method: str, fault: Fault
) -> None:
    """The next process finishes what was begun, and does nothing of it twice."""
    path = example.creates if method == "POST" else example.reports
    first = Operator(cluster.config, example, seed=2, rules=(Rule(fault, method=method, path=path, times=None),))
    async with running(first) as process:
        await client.create(example.new("a"))
        await befallen(first)
        process.cancel()
    before = await client.find(example.made, key("a"))
    assert (before is None) == (method == "POST" and isinstance(fault, Silent))

    second = Operator(cluster.config, example, seed=3)
    async with running(second):
        await example.settled(client, "a")
        await asyncio.sleep(60)
    (made,) = await client.list(example.made)
    assert before is None or made.metadata.uid == before.metadata.uid
    creations = [write for write in second.writes if fnmatchcase(write[1], example.creates)]
    assert len(creations) == (1 if before is None else 0)


async def test_two_operators_at_once(cluster: Cluster, client: Client, example: Example) -> None:
    """Nothing is made twice, both come to rest, and either can go."""
    operators = [Operator(cluster.config, example, seed=seed) for seed in (2, 3)]
    names = ("a", "b", "c", "d")
    async with running(operators[0]) as process, running(operators[1]):
        for name in names:
            await client.create(example.new(name, 1))
        for name in names:
            await example.settled(client, name, 1)
            await example.resize(client, name, 3)
        for name in names:
            await example.settled(client, name, 3)
        await client.delete(example.kind, key("d"))
        await wait_until_gone(client, example.made, key("d"))
        await asyncio.sleep(60)
        rested = [len(operator.writes) for operator in operators]
        found = {made.metadata.name: made.metadata.uid for made in await client.list(example.made)}
        assert sorted(found) == ["a", "b", "c"]
        await asyncio.sleep(3600)
        assert [len(operator.writes) for operator in operators] == rested
        process.cancel()
        await example.resize(client, "a", 4)
        await example.settled(client, "a", 4)
    assert {made.metadata.name: made.metadata.uid for made in await client.list(example.made)} == found


async def test_the_definition_is_deleted_and_made_again(cluster: Cluster, client: Client, example: Example) -> None:
    """What was made goes with the objects; the operator waits for the kind to come back, and goes on."""
    async with running(Operator(cluster.config, example, seed=2)) as process:
        await client.create(example.new("a"))
        await example.settled(client, "a")
        name = f"{example.kind.resource.plural}.{example.kind.gvk.group}"
        await client.delete(CustomResourceDefinition, key(name)._replace(namespace=""))
        await wait_until_gone(client, CustomResourceDefinition, key(name)._replace(namespace=""))
        await wait_until_gone(client, example.made, key("a"))
        await asyncio.sleep(600)
        await install(client, example)
        await client.create(example.new("a", 3))
        await client.create(example.new("b"))
        await example.settled(client, "a", 3)
        await example.settled(client, "b")
        assert not process.done()


async def granted(client: Client, example: Example) -> Unstructured:
    """Install the example's account and role; returns the binding, which can be taken away and given back."""
    for document in example.documents("role.yaml"):
        made = await client.create(Unstructured.from_wire(document))
    return made


@pytest.mark.parametrize("minutes", [0.1, 3, 60])
async def test_the_role_is_taken_away_and_given_back(example: Example, minutes: float, capsys) -> None:
    async with Cluster(random=Random(1), rbac=True) as cluster, cluster.client() as client:
        await install(client, example)
        binding = await granted(client, example)
        account = Key(f"{example.name}-system", f"{example.name}-operator")
        operator = Operator(cluster.config_for_account(account), example, seed=2)
        clock = asyncio.get_running_loop().time
        async with running(operator) as process:
            await client.create(example.new("a"))
            await example.settled(client, "a")
            await client.delete(binding)
            for n in range(10):
                await client.create(example.new(f"b{n}"))
            await example.resize(client, "a", 3)
            await asyncio.sleep(60 * minutes)
            assert await client.find(example.made, key("b1")) is None
            binding.metadata.resource_version = ""
            await client.create(binding)
            begun = clock()
            await example.settled(client, "a", 3, timeout=2000)
            await asyncio.gather(*(example.settled(client, f"b{n}", timeout=2000) for n in range(10)))
            with capsys.disabled():
                print(example.name, minutes, clock() - begun)
            assert not process.done()
