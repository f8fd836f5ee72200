"""The client, as type checkers see it. Checked, never run."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from typing import TypeVar, assert_type

from pyctrl.api import (
    CustomResource,
    GroupVersionKind,
    Key,
    Kind,
    KindLike,
    KubernetesObject,
    Metadata,
    Model,
    OpenApiModel,
    ShardRange,
    ShardSelector,
    Unstructured,
)
from pyctrl.cache import CachedClient
from pyctrl.client import (
    AiohttpTransport,
    Application,
    Client,
    Config,
    CurrentScale,
    InProcessTransport,
    MergePatch,
    ObjectList,
    OperationResult,
    Reader,
    ResourceMapping,
    ServiceAccountToken,
    StatusWriter,
    Transport,
    WatchEvent,
    WriteMutator,
    WriteObserver,
    Writer,
    Written,
    create_token,
    dry_run,
    get_scale,
    impersonate,
    in_namespace,
    merge_from,
    with_field_owner,
    with_field_validation,
)
from pyctrl.kinds.apps.v1 import Deployment
from pyctrl.kinds.autoscaling.v1 import Scale as ScaleObject


class ThingSpec(Model):
    size: int


class Thing(CustomResource[ThingSpec], group="demo.test", version="v1"):
    """A user's kind."""


GVK = GroupVersionKind("demo.test", "v1", "Thing")
T = TypeVar("T", bound=KubernetesObject)
O = TypeVar("O", bound=KubernetesObject | Unstructured)  # noqa: E741 - an object, typed or not


async def reads(client: Client, key: Key) -> None:
    assert_type(await client.get(Thing, key), Thing)
    assert_type(await client.get(GVK, key), Unstructured)
    assert_type(await client.get(Metadata[Thing], key), Metadata[Thing])
    assert_type(await client.find(Thing, key), Thing | None)
    assert_type(await client.find(GVK, key), Unstructured | None)
    assert_type(await client.list(Thing, labels={"a": "b"}), ObjectList[Thing])
    assert_type(await client.list(GVK, labels="a=b"), ObjectList[Unstructured])
    assert_type(await client.list(Thing, shard_selector=ShardSelector(ShardRange.split(2))), ObjectList[Thing])
    assert_type((await client.list(Thing))[0], Thing)
    assert_type(client.pages(Thing), AsyncGenerator[ObjectList[Thing], None])
    assert_type(client.each(Thing), AsyncGenerator[Thing, None])
    assert_type(client.watch(Thing), AsyncGenerator[WatchEvent[Thing], None])
    async for event in client.watch(GVK):
        assert_type(event.object, Unstructured)


async def typed_kind(client: Client, kind: type[T], key: Key) -> T:
    """A generic function over classes gets objects of the given class."""
    return await client.get(kind, key)


async def any_kind(client: Client, kind: Kind[O], key: Key) -> O:
    """A function over all kinds, typed or not, gets the type that reads of the kind return."""
    async for obj in client.each(kind):
        assert_type(obj, O)
    return await client.get(kind, key)


async def kinds(client: Client, kind: KindLike, key: Key) -> None:
    assert_type(await any_kind(client, Thing, key), Thing)
    assert_type(await any_kind(client, GVK, key), Unstructured)
    assert_type(await client.get(kind, key), KubernetesObject | Unstructured | OpenApiModel)


async def writes(client: Client, thing: Thing, untyped: Unstructured, view: Metadata[Thing]) -> None:
    key = thing.key
    assert_type(await client.create(thing), Thing)
    assert_type(await client.create(untyped), Unstructured)
    assert_type(await client.update(thing, dry_run=True), Thing)
    assert_type(await client.patch(thing, merge_from(thing)), Thing)
    assert_type(await client.patch(view, MergePatch({})), Metadata[Thing])
    assert_type(await client.patch(Thing, key, MergePatch({})), Thing)
    assert_type(await client.patch(GVK, key, MergePatch({})), Unstructured)
    assert_type(await client.apply(thing, force=True), Thing)
    assert_type(await client.apply({"kind": "Thing"}), Unstructured)
    assert_type(await client.apply(untyped), Unstructured)
    assert_type(await client.delete(thing), None)
    assert_type(await client.delete(Thing, key, propagation="Foreground"), None)
    assert_type(await client.delete(GVK, key), None)
    assert_type(await client.delete_all_of(Thing, namespace="default"), None)


async def subresources(client: Client, thing: Thing) -> None:
    key = thing.key
    assert_type(await client.status.get(Thing, key), Thing)
    assert_type(await client.status.update(thing), Thing)
    assert_type(await client.status.patch(thing, merge_from(thing)), Thing)
    assert_type(await client.status.patch(Thing, key, MergePatch({})), Thing)
    assert_type(await client.status.apply(thing), Thing)
    assert_type(await client.status.apply({"kind": "Thing"}), Unstructured)
    assert_type(await client.status.update(thing, dry_run=True, field_validation="Strict"), Thing)
    assert_type(await client.status.patch(GVK, key, MergePatch({}), field_validation="Warn"), Unstructured)
    scale = client.subresource("scale")
    assert_type(await scale.get(Deployment, key), Unstructured)
    assert_type(await scale.get(Deployment, key, answer=ScaleObject), ScaleObject)
    assert_type(await scale.update(Deployment, key, {}, answer=ScaleObject), ScaleObject)
    assert_type(await scale.update(thing, answer=Thing), Thing)
    assert_type(await scale.update(thing, field_validation="Strict"), Unstructured)
    assert_type(await scale.create(Deployment, key, {}, field_validation="Strict"), Unstructured)
    assert_type(await scale.patch(thing, merge_from(thing), field_owner="x"), Unstructured)
    assert_type(await scale.patch(thing, merge_from(thing), answer=Thing), Thing)
    assert_type(await scale.apply(Deployment, key, {}, force=True, answer=ScaleObject), ScaleObject)
    assert_type(await scale.apply({"kind": "Scale"}), Unstructured)
    assert_type(await get_scale(client, Deployment, key), CurrentScale)
    assert_type(await create_token(client, key), ServiceAccountToken)


def wrappers(client: Client, cached: CachedClient) -> None:
    assert_type(in_namespace(client, "x"), Client)
    assert_type(dry_run(client), Client)
    assert_type(with_field_owner(client, "x"), Client)
    assert_type(with_field_validation(client, "Strict"), Client)
    assert_type(impersonate(client, "x", ["y"]), Client)
    assert_type(in_namespace(cached, "x"), CachedClient)


async def a_reconciler(reader: Reader, writer: Writer, key: Key) -> None:
    assert_type(await reader.get(Thing, key), Thing)
    assert_type(await reader.find(GVK, key), Unstructured | None)
    assert_type(await reader.list(Thing, namespace="x"), Sequence[Thing])
    assert_type(await writer.create(await reader.get(Thing, key)), Thing)
    assert_type(await writer.patch(Thing, key, MergePatch({})), Thing)
    assert_type(await writer.status.update(await reader.get(Thing, key)), Thing)


async def interchangeable(client: Client, cached: CachedClient, key: Key) -> None:
    """A live client and a cached one are each a Reader and a Writer."""
    for reader in (client, cached):
        await a_reconciler(reader, reader, key)
    status: StatusWriter = client.status
    await status.update(await client.get(Thing, key))


async def seams(application: Application, observer: WriteObserver, mutator: WriteMutator) -> None:
    transport: Transport = InProcessTransport(application)
    transport = AiohttpTransport(Config.from_token("https://x", "t"))
    async with Client(transport) as client, Client.connect(Config.in_process(application)) as other:
        assert_type(client, Client)
        assert_type(other.observe_writes(observer), Callable[[], None])
        assert_type(other.mutate_writes(mutator), Callable[[], None])
        assert_type(await client.discovery.mapping(GVK), ResourceMapping)
        assert_type(await client.discovery.named("evc"), tuple[ResourceMapping, ...])


async def wrong(client: Client, thing: Thing, key: Key) -> None:
    """Type checkers reject each of these."""
    await client.get(Thing, "default/a")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    await client.get(int, key)  # type: ignore[type-var]  # pyright: ignore[reportArgumentType]
    await client.update(Thing)  # type: ignore[type-var]  # pyright: ignore[reportArgumentType]
    await client.patch(Thing, MergePatch({}))  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue, reportArgumentType]
    await client.delete(thing, propagation="Never")  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue, reportArgumentType]


def unchanged(found: Thing | Unstructured) -> None: ...


async def converging(client: CachedClient, obj: Thing, other: Unstructured) -> None:
    assert_type(await client.create_or_apply(obj), Written[Thing])
    assert_type(await client.create_or_apply(other), Written[Unstructured])
    assert_type(await client.create_or_apply({"apiVersion": "v1"}), Written[Unstructured])
    assert_type((await client.create_or_update(obj, unchanged)).object, Thing)
    assert_type((await client.create_or_patch(other, unchanged)).result, OperationResult)
