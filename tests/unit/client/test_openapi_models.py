"""Models of kubernetes_asyncio in the verbs of the client, live and cached."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from kubernetes_asyncio.client import (
    V1beta1DeviceClass,
    V1ConfigMap,
    V1Container,
    V1Deployment,
    V1DeploymentSpec,
    V1DeploymentStatus,
    V1LabelSelector,
    V1ObjectMeta,
    V1PodSpec,
    V1PodTemplateSpec,
    V1Scale,
    V1ScaleSpec,
)

from pyctrl.api import Key, Unstructured, kind_of
from pyctrl.apiserver import ApiServer
from pyctrl.cache import Cache, CachedClient
from pyctrl.client import Client, Config, MergePatch, OperationResult, merge_from, wait_for
from pyctrl.errors import AlreadyExists, NotFound, NotRegistered, UnknownKind
from pyctrl.kinds.apps.v1 import Deployment
from tests.unit.client._fake_server import FakeServer

KEY = Key("default", "a")


@pytest.fixture
def live() -> Client:
    """A client of an API server without controllers."""
    return Client.connect(Config.in_process(ApiServer()))


def config_map(name: str = "a", **data: str) -> V1ConfigMap:
    """Return a V1ConfigMap in the namespace default."""
    return V1ConfigMap(metadata=V1ObjectMeta(name=name, namespace="default"), data=data)


def deployment() -> V1Deployment:
    """Return the smallest V1Deployment that a server accepts."""
    labels = {"app": "a"}
    spec = V1PodSpec(containers=[V1Container(name="main", image="app:1")])
    template = V1PodTemplateSpec(metadata=V1ObjectMeta(labels=labels), spec=spec)
    return V1Deployment(
        metadata=V1ObjectMeta(name="a", namespace="default"),
        spec=V1DeploymentSpec(selector=V1LabelSelector(match_labels=labels), template=template),
    )


# --- verbs ----------------------------------------------------------------------------------------------------------


async def test_create_and_read(live: Client) -> None:
    """Create returns the class that came in, and every read the class that it names."""
    wanted = config_map(k="v")
    made = await live.create(wanted)

    assert type(made) is V1ConfigMap
    assert made.metadata.uid
    assert not wanted.metadata.uid
    assert (made.api_version, made.kind) == ("v1", "ConfigMap")
    assert await live.get(V1ConfigMap, KEY) == made
    assert await live.find(V1ConfigMap, KEY) == made
    assert await live.find(V1ConfigMap, Key("default", "b")) is None
    assert list(await live.list(V1ConfigMap, namespace="default")) == [made]
    assert [obj.data async for obj in live.each(V1ConfigMap)] == [{"k": "v"}]
    assert (await wait_for(live, V1ConfigMap, KEY, lambda obj: obj.data == {"k": "v"})).metadata.name == "a"
    with pytest.raises(AlreadyExists):
        await live.create(wanted)


async def test_a_watch(live: Client) -> None:
    """The objects of watch events are of the class, too."""
    await live.create(config_map(k="v"))
    async for event in live.watch(V1ConfigMap, timeout_seconds=1):
        assert type(event.object) is V1ConfigMap
        assert event.object.data == {"k": "v"}
        break


async def test_update_patch_and_apply(live: Client) -> None:
    """The other verbs take a model, or its class and a key, and return the class."""
    obj = await live.create(config_map(k="v"))
    obj.data["k"] = "w"
    obj = await live.update(obj)
    before = merge_from(obj, optimistic_lock=True)
    obj.data["l"] = "x"
    obj = await live.patch(obj, before)
    assert (type(obj), obj.data) == (V1ConfigMap, {"k": "w", "l": "x"})
    obj = await live.patch(V1ConfigMap, KEY, MergePatch({"data": {"k": None}}))
    assert (type(obj), obj.data) == (V1ConfigMap, {"l": "x"})

    obj = await live.apply(config_map(m="y"), field_owner="me")
    assert (type(obj), obj.data) == (V1ConfigMap, {"l": "x", "m": "y"})
    assert obj.metadata.managed_fields[0].manager == "me"

    await live.delete(obj)
    await live.create(config_map())
    await live.delete(V1ConfigMap, KEY)
    await live.delete_all_of(V1ConfigMap, namespace="default")
    with pytest.raises(NotFound):
        await live.get(V1ConfigMap, KEY)


async def test_status_and_sub_resources(live: Client) -> None:
    """The status is written with a model, and a sub-resource may be a model of another class."""
    obj = await live.create(deployment())
    obj.status = V1DeploymentStatus(replicas=1, observed_generation=1)
    assert (await live.status.update(obj)).status.replicas == 1

    wanted = V1Scale(metadata=V1ObjectMeta(name="a", namespace="default"), spec=V1ScaleSpec(replicas=3))
    scale = await live.subresource("scale").update(obj, wanted, answer=V1Scale)
    assert (type(scale), scale.spec.replicas) == (V1Scale, 3)
    assert (await live.subresource("scale").get(obj))["spec"] == {"replicas": 3}
    assert (await live.get(Deployment, KEY)).spec.replicas == 3


async def test_create_or_update_patch_and_apply(live: Client) -> None:
    """What is written only if it changes something is compared as with pyctrl's classes."""

    def mutate(obj: V1ConfigMap) -> None:
        obj.data = {"k": "v"}

    results = []
    for verb in (live.create_or_update, live.create_or_patch):
        for _ in range(2):
            written = await verb(config_map(), mutate)
            assert type(written.object) is V1ConfigMap
            results.append(written.result)
        await live.delete(V1ConfigMap, KEY)
    for value in ("1", "1", "2"):
        applied = await live.create_or_apply(config_map(k=value))
        assert (type(applied.object), applied.object.data) == (V1ConfigMap, {"k": value})
        results.append(applied.result)
    created, none, updated = OperationResult.CREATED, OperationResult.NONE, OperationResult.UPDATED
    assert results == [created, none, created, none, created, none, updated]

    with pytest.raises(ValueError, match="must not change name"):
        await live.create_or_update(config_map(), lambda obj: setattr(obj.metadata, "name", "other"))


async def test_an_update_keeps_fields_that_the_class_does_not_know(server: FakeServer, client: Client) -> None:
    """Fields of a newer server than the model's are written back, at every depth."""
    wire = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "a", "namespace": "default", "newMeta": 1},
        "newField": {"a": [1]},
    }
    server.reply(wire)
    server.reply(wire)
    obj = await client.get(V1ConfigMap, KEY)
    obj.data = {"k": "v"}
    await client.update(obj)
    assert server.asked[-1].json == {**wire, "data": {"k": "v"}}


async def test_a_kind_without_a_class_of_pyctrl(live: Client) -> None:
    """A model of a beta version, which pyctrl has no class for, is looked up in the server."""
    with pytest.raises(UnknownKind, match="resource.k8s.io/v1beta1, Kind=DeviceClass"):
        await live.get(V1beta1DeviceClass, Key("", "a"))


async def test_parts_and_other_values_are_refused(live: Client) -> None:
    """The class of a part is no kind, and an object of one is no object."""
    part: Any = V1PodSpec
    with pytest.raises(NotRegistered, match="V1PodSpec"):
        await live.get(part, KEY)
    obj: Any = object()
    with pytest.raises(TypeError, match="expected an object"):
        await live.create(obj)


# --- the cache ------------------------------------------------------------------------------------------------------


async def test_the_cached_client_returns_models(live: Client) -> None:
    """One cache answers in every class: models, pyctrl's classes, untyped. It includes this process's own writes."""
    cache = Cache(live)
    cache.informer(V1Deployment)
    cached = CachedClient(cache, live)
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(cache.run())
        await cache.wait_for_sync()
        made = await cached.create(deployment())
        assert await cached.get(V1Deployment, KEY) == made
        found: list[Any] = [
            (await cached.list(V1Deployment))[0],
            (await cached.list(Deployment))[0],
            (await cached.list(kind_of(V1Deployment)))[0],
        ]
        assert [type(obj) for obj in found] == [V1Deployment, Deployment, Unstructured]
        written = await cached.create_or_apply(deployment())
        assert written.result is OperationResult.UPDATED  # another field owner
        assert (await cached.create_or_apply(deployment())).result is OperationResult.NONE
        running.cancel()
