"""The graph builder against an embedded server, in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from random import Random

import pytest_asyncio

from pyctrl.api import Key, ObjectMeta, Unstructured, set_controller_reference
from pyctrl.client import Client, wait_for
from pyctrl.cluster import Cluster
from pyctrl.cluster._controllers.garbagecollector.graph import Graph
from pyctrl.cluster._controllers.garbagecollector.graph_builder import GraphBuilder
from pyctrl.controller import Request
from pyctrl.kinds.apiextensions.v1 import CustomResourceDefinition
from pyctrl.kinds.core.v1 import ConfigMap, Event, ObjectReference
from pyctrl.manager import Manager
from tests.unit.apiserver._objects import GROUP, definition, thing


class _Queue:
    """Collects the requests that a source adds."""

    def __init__(self) -> None:
        self.added: asyncio.Queue[Request] = asyncio.Queue()

    def add(self, request: Request, **_: object) -> None:
        """Add a request."""
        self.added.put_nowait(request)

    def drop(self, cluster: str) -> list[Request]:
        """Drop nothing."""
        return []


@pytest_asyncio.fixture
async def manager() -> AsyncIterator[Manager]:
    """A running manager without controllers."""
    async with Cluster(random=Random(1)) as cluster, Manager(cluster.config) as manager, manager.running():
        yield manager


def _configmap(name: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, namespace="default"))


async def test_every_kind_but_events_is_in_the_graph(manager: Manager) -> None:
    """Once the source is synced, the graph has the stored objects, but no events."""
    live: Client = manager.live_client
    stored = await live.create(_configmap("a"))
    event = Event(
        metadata=ObjectMeta(name="e", namespace="default"),
        involved_object=ObjectReference(kind="ConfigMap", namespace="default", name="a"),
    )
    ignored = await live.create(event)
    graph = Graph()
    source = GraphBuilder(manager.cache, live, graph)
    running = asyncio.create_task(source.run(_Queue()))
    await source.synced.wait()
    running.cancel()

    node = graph.get(stored.metadata.uid)
    assert node is not None
    assert node.key == Key("default", "a")
    assert graph.get(ignored.metadata.uid) is None


async def test_the_dependents_of_a_deleted_object_are_enqueued(manager: Manager) -> None:
    """An object that is deleted leaves the graph, and its dependents are enqueued by uid."""
    live: Client = manager.live_client
    owner, dependent = await live.create(_configmap("a")), _configmap("b")
    set_controller_reference(owner, dependent)
    dependent = await live.create(dependent)
    graph, queue = Graph(), _Queue()
    source = GraphBuilder(manager.cache, live, graph)
    running = asyncio.create_task(source.run(queue))
    await source.synced.wait()
    queue.added = asyncio.Queue()

    await live.delete(owner)
    request = await queue.added.get()
    running.cancel()
    assert request == Request("", dependent.metadata.uid)
    assert graph.get(owner.metadata.uid) is None


async def test_a_kind_that_is_defined_later_is_in_the_graph(manager: Manager) -> None:
    """Objects of a custom resource are in the graph, also when its definition is created after the source started."""
    live: Client = manager.live_client
    graph = Graph()
    source = GraphBuilder(manager.cache, live, graph)
    running = asyncio.create_task(source.run(_Queue()))
    await source.synced.wait()

    await live.create(Unstructured(definition({"type": "object"})))
    await wait_for(live, CustomResourceDefinition, Key("", f"things.{GROUP}"), _is_established)
    made = await live.create(Unstructured(thing(metadata={"name": "a", "namespace": "default"})))
    await asyncio.sleep(5)
    running.cancel()
    assert graph.get(made.metadata.uid) is not None


def _is_established(found: CustomResourceDefinition) -> bool:
    return any(condition.type == "Established" for condition in found.status.conditions)
