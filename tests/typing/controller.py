"""Controllers, as type checkers see them. Checked, never run."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from random import Random
from typing import assert_type

from pyctrl.api import CustomResource, GroupVersionKind, Metadata, Model, Unstructured
from pyctrl.cache import Cache, CachedClient
from pyctrl.client import EventRecorder, EventStatistics, EventWriter
from pyctrl.controller import (
    Builder,
    ChannelSource,
    Controller,
    ExponentialBackoff,
    ManagedCluster,
    ObjectChange,
    ObjectReconciler,
    Predicate,
    Reading,
    Reconciler,
    Request,
    Result,
    TickSource,
    changed,
    for_object,
    for_owner,
    generation_changed,
    labels_match,
    mapped,
    on_delete,
    reading,
    where,
)
from pyctrl.kinds.apps.v1 import Deployment
from pyctrl.kinds.core.v1 import ConfigMap, Pod, Secret
from pyctrl.manager import Group, Manager


class ThingSpec(Model):
    size: int


class Thing(CustomResource[ThingSpec], group="example.com", version="v1"):
    """A thing."""


DYNAMIC = GroupVersionKind("example.com", "v1", "Dynamic")


class ThingReconciler(Reconciler[Thing]):
    async def reconcile(self, request: Request) -> Result | None:
        assert_type(self.client, CachedClient)
        thing = await self.client.find(Thing, request.key)
        assert_type(thing, Thing | None)
        assert_type(self.recorder, EventRecorder)
        if thing is not None:
            self.recorder.normal(thing, "Seen", "Seen it", action="Look", related=Unstructured.new(DYNAMIC, name="a"))
            self.recorder.warning(thing, "Seen")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
        return Result.after(timedelta(minutes=10), priority=-1)


class ReadingReconciler(Reconciler[Thing]):
    """Kinds, dynamic kinds and readings may be mixed."""

    reads = (Secret, reading(ConfigMap, of="data", namespaces="default", names=("a", "b")), DYNAMIC)

    async def reconcile(self, request: Request) -> None:
        assert_type(await self.client.find(Secret, request.key), Secret | None)


class WrongReadingReconciler(Reconciler[Thing]):
    reads = ("Secret",)  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType]

    async def reconcile(self, request: Request) -> None:
        """The name of a kind is no kind."""


class DynamicReconciler(Reconciler[Unstructured]):
    async def reconcile(self, request: Request) -> None:
        """The method may return only None."""


class ThingObjectReconciler(ObjectReconciler[Thing]):
    async def reconcile_object(self, thing: Thing) -> Result | None:  # the argument may have the name of the kind
        assert_type(thing.spec.size, int)
        assert_type(self.client, CachedClient)
        return None


class WrongObjectReconciler(ObjectReconciler[Thing]):
    async def reconcile_object(self, obj: Pod) -> None:  # type: ignore[override]  # pyright: ignore[reportIncompatibleMethodOverride]
        """The argument is of another kind."""


class AnyReconciler(Reconciler):
    async def reconcile(self, request: Request) -> Result:
        return Result.done()


def things_of(pod: Pod) -> list[Request]:
    return [Request(pod.metadata.namespace, pod.metadata.labels["thing"])]


async def things_of_async(pod: Pod) -> Iterable[Request]:
    return things_of(pod)


def things_of_change(change: ObjectChange[Pod]) -> list[Request]:
    assert_type(change.old, Pod | None)
    assert_type(change.new, Pod | None)
    assert_type(change.objects, list[Pod])
    return []


def dynamic_of(obj: Unstructured) -> list[Request]:
    return [Request(obj.metadata.namespace, obj.metadata.name)]


def has_size(thing: Thing) -> bool:
    return thing.spec.size > 0


def is_grown(old: Thing, new: Thing) -> bool:
    return new.spec.size > old.spec.size


def wire(manager: Manager, host: ManagedCluster) -> None:
    a_host: ManagedCluster = manager
    builder = Builder(manager).reconciles(Thing)
    assert_type(builder, Builder[Thing])
    assert_type(builder.owns(Deployment), Builder[Thing])
    assert_type(builder.watches(Pod, mapped(things_of)), Builder[Thing])
    assert_type(builder.build(ThingReconciler()), Controller)
    builder.build(ThingObjectReconciler())
    builder.build(AnyReconciler())
    builder.build(ReadingReconciler())
    assert_type(reading(Secret, of=("data", "metadata.labels")), Reading)
    assert_type(builder.reads(Secret).reads(reading(ConfigMap, triggers=False)).reads(DYNAMIC), Builder[Thing])
    assert_type(builder.options(fingerprints=False), Builder[Thing])
    builder.build(DynamicReconciler())  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

    assert_type(Builder(a_host).reconciles(DYNAMIC), Builder[Unstructured])
    Builder(host).reconciles(DYNAMIC).owns(DYNAMIC).build(DynamicReconciler())
    Builder(host).reconciles(Metadata[Thing]).build(AnyReconciler())
    (
        Builder(host)
        .filter(generation_changed | on_delete)
        .reconciles(Thing, predicates=[generation_changed, where(has_size), changed(is_grown) & ~on_delete])
        .owns(Deployment, predicates=[labels_match("app=thing")], every_owner=True)
        .watches(Pod, things_of_change)
        .watches(Pod, mapped(things_of_async), predicates=[Predicate(lambda change: change.change == "created")])
        .watches(Pod, mapped(lambda pod: [Request(pod.metadata.namespace, pod.metadata.name)]))
        .watches(Pod, for_object, predicates=[changed(lambda old, new: old.status != new.status)])
        .watches(Pod, for_owner(Thing))
        .watches(Pod, for_object)
        .watches(DYNAMIC, mapped(dynamic_of))
        .watches_source(ChannelSource())
        .watches_source(ChannelSource(things_of))
        .watches_source(TickSource(timedelta(hours=1), [Request("default", "a")]))
        .options(workers=2, name="things", limiter=ExponentialBackoff(random=Random(1)))
        .build(ThingReconciler())
    )
    Builder(host).watches(Pod, mapped(has_size))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def predicates() -> None:
    assert_type(generation_changed | on_delete, Predicate)
    assert_type(where(has_size), Predicate[Thing])
    assert_type(where(has_size) & generation_changed, Predicate[Thing])
    assert_type(~changed(is_grown), Predicate[Thing])


class Custom:
    async def run(self) -> None:
        """Live."""


async def more() -> None:
    """Do more."""


async def manage(manager: Manager) -> None:
    manager.add(Custom())
    manager.add(more, group=Group.OTHERS)
    manager.add(things_of)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    assert_type(manager.client, CachedClient)
    assert_type(manager.cache, Cache)
    assert_type(manager.events, EventWriter)
    assert_type(manager.event_recorder("things"), EventRecorder)
    assert_type(manager.events.statistics(), EventStatistics)
    await manager.run(handle_signals=False)
