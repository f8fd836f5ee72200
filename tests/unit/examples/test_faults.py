"""The example operators under faults, in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from random import Random

import pytest
import pytest_asyncio

from pyctrl.api import Key, Unstructured
from pyctrl.client import Client, TokenFile, wait_until_gone
from pyctrl.cluster import Cluster
from pyctrl.kinds.apiextensions.v1 import CustomResourceDefinition
from pyctrl.kinds.authentication.v1 import TokenRequest, TokenRequestSpec
from pyctrl.kinds.core.v1 import ServiceAccount
from pyctrl.testing import AnswerLost, Fault, RandomFaults, Rule, Silent
from tests.unit.examples._examples import EVC, PODSET, Example, Operator, install, key, running


@pytest.fixture(params=[EVC, PODSET], ids=lambda example: example.name)
def example(request: pytest.FixtureRequest) -> Example:
    """Each of the examples in turn."""
    found = request.param
    assert isinstance(found, Example)
    return found


@pytest_asyncio.fixture
async def cluster(example: Example) -> AsyncIterator[Cluster]:
    """A cluster with the definition."""
    async with Cluster(random=Random(1)) as cluster:
        async with cluster.client() as client:
            await install(client, example)
        yield cluster


@pytest_asyncio.fixture
async def client(cluster: Cluster) -> AsyncIterator[Client]:
    """An administrator's client without faults."""
    async with cluster.client() as client:
        yield client


async def befallen(operator: Operator) -> None:
    """Wait until a fault has hit a request of an operator."""
    async with asyncio.timeout(60):
        while not operator.transport.befallen:
            await asyncio.sleep(0.001)


@pytest.mark.parametrize("fault", [Silent(), AnswerLost()], ids=["before it is sent", "before it is answered"])
@pytest.mark.parametrize("method", ["POST", "PATCH"], ids=["killed when it creates", "killed when it reports"])
async def test_killed_in_the_middle_of_a_write(
    cluster: Cluster, client: Client, example: Example, method: str, fault: Fault
) -> None:
    """An operator that is killed during a write finishes the work after a restart and repeats nothing."""
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


@pytest.mark.slow("ten minutes of two operators")
async def test_two_operators_at_once(cluster: Cluster, client: Client, example: Example) -> None:
    """Two operators together create each object once, come to rest, and either can stop."""
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
        await asyncio.sleep(600)
        assert [len(operator.writes) for operator in operators] == rested
        process.cancel()
        await example.resize(client, "a", 4)
        await example.settled(client, "a", 4)
    assert {made.metadata.name: made.metadata.uid for made in await client.list(example.made)} == found


async def test_the_definition_is_deleted_and_made_again(cluster: Cluster, client: Client, example: Example) -> None:
    """Deleting the definition deletes the created objects, and the operator resumes when the definition is back."""
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


@pytest.mark.slow("minutes of faults, and of waiting for the last retry")
@pytest.mark.timeout(60)
@pytest.mark.parametrize("seed", range(2))
async def test_random_faults(cluster: Cluster, client: Client, example: Example, seed: int) -> None:
    """While every third request fails, users can keep working; afterwards each object is in its desired state, once."""
    random = Random(seed)
    random_faults = RandomFaults(random, share=1 / 3)
    wanted: dict[str, int] = {}
    async with running(Operator(cluster.config, example, seed=seed, random_faults=random_faults)) as process:
        for _ in range(20):
            name = random.choice("abcde")
            if name not in wanted:
                wanted[name] = 1
                await client.create(example.new(name, 1))
            elif random.random() < 0.3:
                del wanted[name]
                await client.delete(example.kind, key(name))
            else:
                wanted[name] += 1
                await example.resize(client, name, wanted[name])
            await asyncio.sleep(random.uniform(0, 10))
        random_faults.share = 0.0
        for name, size in wanted.items():
            await example.settled(client, name, size, timeout=1300)  # the longest backoff is 1000 s, and has jitter
        await asyncio.sleep(60)
        assert sorted(made.metadata.name for made in await client.list(example.made)) == sorted(wanted)
        assert not process.done()


async def granted(client: Client, example: Example) -> Unstructured:
    """Install the example's account and role; return the binding, for tests that delete and restore it."""
    wanted = example.documents("manager/manager.yaml", "rbac/service_account.yaml", "rbac/*role*.yaml")
    made = [
        await client.create(Unstructured.from_wire(document))
        for document in wanted
        if document["kind"] not in ("Deployment", "Kustomization")
    ]
    return next(obj for obj in made if obj.metadata.name == f"{example.name}-manager-rolebinding")


@pytest.mark.slow("an hour of retries and watches")
@pytest.mark.parametrize("minutes", [1, 60])
async def test_the_role_is_taken_away_and_given_back(
    example: Example, minutes: float, caplog: pytest.LogCaptureFixture
) -> None:
    """Without its role the operator reports the missing permission; it recovers within 30 s once the role is back."""
    names = [f"b{number}" for number in range(3)]
    async with Cluster(random=Random(1), rbac=True) as cluster, cluster.client() as client:
        await install(client, example)
        binding = await granted(client, example)
        account = Key(f"{example.name}-system", f"{example.name}-controller-manager")
        async with running(Operator(cluster.config_for_account(account), example, seed=2)) as process:
            await client.create(example.new("a"))
            await example.settled(client, "a")
            await client.delete(binding)
            for name in names:
                await client.create(example.new(name))
            await example.resize(client, "a", 3)
            await asyncio.sleep(60 * minutes)
            assert [made.metadata.name for made in await client.list(example.made)] == ["a"]
            binding.metadata.resource_version = ""
            await client.create(binding)
            async with asyncio.timeout(40):  # missing permissions are reviewed every 30 seconds
                await example.settled(client, "a", 3, timeout=None)
                for name in names:
                    await example.settled(client, name, timeout=None)
            assert not process.done()
    plural = example.made.resource.plural
    said = f'User "system:serviceaccount:{account.namespace}:{account.name}" cannot create resource "{plural}"'
    assert said in caplog.text


@pytest.mark.slow("an hour of watches")
@pytest.mark.parametrize("late", [False, True], ids=["renewed in time", "renewed an hour late"])
async def test_the_token_expires(
    example: Example, late: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The operator reads a renewed token from its file and continues or recovers."""
    file = tmp_path / "token"
    async with Cluster(random=Random(1), rbac=True) as cluster, cluster.client() as client:
        await install(client, example)
        await granted(client, example)
        account = Key(f"{example.name}-system", f"{example.name}-controller-manager")

        async def renew() -> None:
            wanted = TokenRequest(spec=TokenRequestSpec(expiration_seconds=600))
            token = client.subresource("token")
            file.write_text((await token.create(ServiceAccount, account, wanted, answer=TokenRequest)).status.token)

        await renew()
        config = replace(cluster.config, credentials=TokenFile(file))
        operator = Operator(config, example, seed=2)
        async with running(operator) as process:
            await client.create(example.new("a"))
            await example.settled(client, "a")
            for _ in range(10):
                await asyncio.sleep(480)  # kubelet's 80 %
                if not late:
                    await renew()
            await client.create(example.new("b"))
            await example.resize(client, "a", 3)
            if late:
                await asyncio.sleep(60)
                assert await client.find(example.made, key("b")) is None
                await renew()
            async with asyncio.timeout(100):  # one minute until writes are retried, half a minute for the watches
                await example.settled(client, "a", 3, timeout=None)
                await example.settled(client, "b", timeout=None)
            assert not process.done()
    assert ("Unauthorized" in caplog.text) == late
