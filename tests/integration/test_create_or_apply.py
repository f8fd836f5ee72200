"""Create-or-apply, create-or-update and create-or-patch, on any cluster."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from pyctrl.api import (
    GroupVersionKind,
    Key,
    ObjectMeta,
    Quantity,
    Unstructured,
)
from pyctrl.client import Client, MergePatch, OperationResult, wait_for
from pyctrl.controller import Builder, Reconciler, Request, mapped
from pyctrl.errors import Conflict
from pyctrl.kinds.apps.v1 import Deployment
from pyctrl.kinds.core.v1 import ConfigMap, PodTemplate
from pyctrl.manager import Manager
from pyctrl.rbac import allow
from pyctrl.testing import ClusterUnderTest
from tests.integration._objects import config_map

pytestmark = pytest.mark.virtual_time  # where the cluster is embedded

NONE, CREATED, UPDATED = OperationResult.NONE, OperationResult.CREATED, OperationResult.UPDATED


def web(namespace: str, *, image: str = "nginx", cpu: str = "1000m", **spec: Any) -> dict[str, Any]:
    """Return a Deployment as an operator writes it: without defaults, with a non-canonical quantity."""
    container = {
        "name": "web",
        "image": image,
        "ports": [{"containerPort": 80}, {"containerPort": 53, "protocol": "UDP"}],
        "env": [
            {"name": "EMPTY", "value": ""},
            {"name": "WHERE", "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}},
        ],
        "resources": {"requests": {"cpu": cpu, "memory": "1024Mi"}},
        "readinessProbe": {"httpGet": {"port": 80}},
        "securityContext": {},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": namespace, "labels": {"app": "web"}},
        "spec": {
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [container], "volumes": [{"name": "v", "emptyDir": {}}]},
            },
            **spec,
        },
    }


@contextmanager
def writes(client: Client) -> Iterator[list[str]]:
    """Record the verbs of the writes of a client."""
    seen: list[str] = []

    class Observer:
        """A reconciler that only observes."""

        def before(self, gvk: GroupVersionKind, key: Key) -> None: ...

        def after(self, gvk: GroupVersionKind, key: Key, verb: str, body: bytes | None, error: Any) -> None:
            if not gvk.group.startswith("authorization"):  # a manager reviews its permissions
                seen.append(verb)

    stop = client.observe_writes(Observer())
    try:
        yield seen
    finally:
        stop()


def to_first(child: Deployment) -> list[Request]:
    """Request the ConfigMap of a Deployment."""
    return [Request(child.metadata.namespace, "a")]


def is_observed(found: Deployment) -> bool:
    """Return whether the cluster's own controller has written a status, after which it may write at any time."""
    return bool(found.status.observed_generation)


async def ran(operator: Operator, count: int) -> None:
    """Wait until an operator has run this many times."""
    async with asyncio.timeout(30):
        while len(operator.results) < count:
            operator.has_run.clear()
            await operator.has_run.wait()


class Operator(Reconciler[ConfigMap]):
    """Applies a Deployment for every ConfigMap at every run, as text that the server defaults and normalizes."""

    rbac = (allow(Deployment, "create", "patch"),)

    def __init__(self) -> None:
        self.results: list[OperationResult] = []
        self.has_run = asyncio.Event()

    async def reconcile(self, request: Request) -> None:
        """Apply, and record the result."""
        result = (await self.client.create_or_apply(web(request.namespace), field_owner="operator")).result
        self.results.append(result)
        self.has_run.set()


async def test_an_operator_settles(cluster: ClusterUnderTest, client: Client, namespace: str) -> None:
    """A reconciler that applies the same Deployment at every run writes it once, despite server defaults."""
    operator = Operator()
    async with Manager(cluster.config, namespaces=[namespace]) as manager:
        Builder(manager).reconciles(ConfigMap).watches(Deployment, mapped(to_first)).build(operator)
        with writes(operator.client) as seen:  # from the start: a cluster may create ConfigMaps in a namespace
            async with manager.running():
                await client.create(config_map(namespace))
                before = await wait_for(client, Deployment, Key(namespace, "web"), is_observed)
                for count in range(5):
                    runs = len(operator.results)
                    await client.patch(config_map(namespace), MergePatch({"data": {"n": str(count)}}))
                    await ran(operator, runs + 1)
                after = await client.get(Deployment, before.key)
    assert operator.results[0] is CREATED
    assert set(operator.results[1:]) == {NONE}
    assert seen == ["apply"]
    assert after.metadata.generation == before.metadata.generation == 1


async def test_nothing_is_sent_when_nothing_would_change(
    cluster: ClusterUnderTest, client: Client, namespace: str
) -> None:
    """A new process sends nothing for an unchanged object; managed fields contain all it needs."""
    made = await client.create_or_apply(web(namespace, replicas=0), field_owner="me")
    async with asyncio.timeout(30):
        await wait_for(client, Deployment, made.object.key, is_observed)

    with writes(client) as seen:
        second = (await client.create_or_apply(web(namespace, replicas=0), field_owner="me")).result
    async with cluster.client() as other:
        with writes(other) as seen_too:
            typed = Deployment.from_wire(web(namespace, replicas=0))
            third = (await other.create_or_apply(typed, field_owner="me")).result

    assert (made.result, second, third, seen, seen_too) == (CREATED, NONE, NONE, [], [])
    same = await client.apply(web(namespace, replicas=0), field_owner="me")
    live = await client.get(Deployment, made.object.key)
    assert same["spec"] == live.to_wire()["spec"]


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"replicas": 1}, id="a field with another value"),
        pytest.param({"image": "nginx:2"}, id="a field of a list item"),
        pytest.param({"cpu": "2"}, id="a quantity"),
        pytest.param({"minReadySeconds": 0}, id="a field that has this value by default"),
        pytest.param({}, id="a field that is given up"),
    ],
)
async def test_what_differs_is_sent(client: Client, namespace: str, change: dict[str, Any]) -> None:
    """A changed, added or removed field is applied, once."""
    await client.create_or_apply(web(namespace, replicas=0, revisionHistoryLimit=3), field_owner="me")
    wanted = web(namespace, **({"replicas": 0, "revisionHistoryLimit": 3, **change} if change else {"replicas": 0}))

    with writes(client) as seen:
        first = await client.create_or_apply(wanted, field_owner="me")
        second = (await client.create_or_apply(wanted, field_owner="me")).result

    assert (first.result, second, seen) == (UPDATED, NONE, ["apply"])
    assert ("revisionHistoryLimit" in str(first.object.metadata.managed_fields)) is bool(change)


async def test_fields_of_others(client: Client, namespace: str) -> None:
    """Fields that others add are ignored; a field that others take over conflicts until forced."""
    wanted = config_map(namespace, k="mine")
    await client.create_or_apply(wanted, field_owner="me")
    await client.patch(wanted, MergePatch({"data": {"l": "yours"}}), field_owner="you")
    beside = (await client.create_or_apply(wanted, field_owner="me")).result

    await client.patch(wanted, MergePatch({"data": {"k": "yours"}}), field_owner="you")
    with pytest.raises(Conflict):
        await client.create_or_apply(wanted, field_owner="me")
    forced = await client.create_or_apply(wanted, field_owner="me", force=True)

    assert (beside, forced.result) == (NONE, UPDATED)
    assert forced.object.data == {"k": "mine", "l": "yours"}


async def test_an_apply_that_had_to_be_sent_is_not_sent_again(client: Client, namespace: str) -> None:
    """An apply that managed fields cannot compare (stringData of a Secret) is sent once per object version."""
    wanted: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "s", "namespace": namespace},
        "stringData": {"password": "p"},
    }
    with writes(client) as seen:
        made = (await client.create_or_apply(wanted, field_owner="me")).object
        results = [(await client.create_or_apply(wanted, field_owner="me")).result for _ in range(3)]
        await client.patch(made, MergePatch({"metadata": {"labels": {"a": "b"}}}))
        later = (await client.create_or_apply(wanted, field_owner="me")).result

    assert (results, later) == ([NONE] * 3, NONE)
    assert seen == ["apply", "patch", "apply"]


async def test_create_or_update(client: Client, namespace: str) -> None:
    """The first call creates; later calls send nothing until the change makes a difference, then update."""

    def change(found: PodTemplate, size: str = "small") -> None:
        found.metadata.labels["size"] = size
        found.template.spec.containers[0].resources.requests["cpu"] = Quantity("1000m")

    # A PodTemplate, because no controller writes to it, which could cause a Conflict.
    pods = Deployment.from_wire(web(namespace)).spec.template
    wanted = PodTemplate(metadata=ObjectMeta(name="web", namespace=namespace), template=pods)
    with writes(client) as seen:
        results = [(await client.create_or_update(wanted, change)).result for _ in range(3)]
        last = await client.create_or_update(wanted, lambda found: change(found, "large"))

    assert (results, last.result) == ([CREATED, NONE, NONE], UPDATED)
    assert seen == ["create", "update"]
    assert last.object.metadata.labels["size"] == "large"


async def test_create_or_patch(client: Client, namespace: str) -> None:
    """The result says whether the object, its status, or both were patched."""

    def change(found: Unstructured, *, label: str, replicas: int) -> None:
        found.metadata.labels["l"] = label
        found.setdefault("status", {})["replicas"] = replicas

    wanted = Unstructured.from_wire({**web(namespace, paused=True, replicas=0)})

    async def patched(**values: Any) -> OperationResult:
        return (await client.create_or_patch(wanted, lambda found: change(found, **values))).result

    assert await patched(label="a", replicas=3) is CREATED
    assert await patched(label="b", replicas=7) is OperationResult.UPDATED_STATUS
