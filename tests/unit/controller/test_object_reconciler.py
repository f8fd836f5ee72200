"""Reconcilers that receive the object: which objects, their finalizers, their kind and permissions."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest

from pyctrl.api import GroupVersionKind, ObjectMeta, Unstructured, is_deleting
from pyctrl.apiserver import ApiServer
from pyctrl.client import Client, Config, MergePatch
from pyctrl.controller import (
    Builder,
    Controller,
    FinalizeResult,
    Finalizers,
    ObjectReconciler,
    Reconciler,
    Request,
    Result,
    TickSource,
)
from pyctrl.controller._declarations import check_declarations
from pyctrl.errors import BuilderError
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.manager import Manager
from pyctrl.rbac import allow

FINALIZER = "demo.example.com/bucket"


class Seeing(ObjectReconciler[ConfigMap]):
    """Records the objects that it receives."""

    def __init__(self) -> None:
        self.seen: list[ConfigMap] = []

    async def reconcile_object(self, obj: ConfigMap) -> Result | None:
        self.seen.append(obj)
        return Result.after(timedelta(hours=1)) if "hourly" in obj.data else None


class Cleaning(Seeing):
    """Has a finalizer."""

    def __init__(self) -> None:
        super().__init__()
        self.cleaned: list[str] = []
        self.finalizers = Finalizers[ConfigMap]()
        self.finalizers.register(FINALIZER, self._clean)

    async def _clean(self, obj: ConfigMap) -> FinalizeResult | None:
        assert is_deleting(obj)
        self.cleaned.append(obj.metadata.name)
        return None


class Dynamic(ObjectReconciler[Unstructured]):
    """Has no kind of its own."""

    def __init__(self) -> None:
        self.seen: list[Unstructured] = []

    async def reconcile_object(self, obj: Unstructured) -> None:
        self.seen.append(obj)


def config_map(name: str, **data: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, namespace="default"), data=data)


@asynccontextmanager
async def running(reconciler: Reconciler[Any], *kinds: Any) -> AsyncIterator[tuple[Client, Controller]]:
    """Run the reconciler on an API server of its own; yield a client and the controller."""
    server = ApiServer()
    async with Client.connect(Config.in_process(server)) as client, Manager(Config.in_process(server)) as manager:
        builder: Builder[Any] = Builder(manager)
        controller = (builder.reconciles(*kinds) if kinds else builder).build(reconciler)
        async with manager.running():
            yield client, controller


async def test_an_object_is_passed_and_its_result_counts() -> None:
    """The object is passed as the cache has it, and the result of reconcile_object decides when it runs again."""
    reconciler = Seeing()
    async with running(reconciler) as (client, _):
        await client.create(config_map("a", hourly="yes"))
        await asyncio.sleep(1)
        assert [obj.metadata.name for obj in reconciler.seen] == ["a"]
        await asyncio.sleep(3700)
        assert len(reconciler.seen) == 2


async def test_missing_and_deleted_objects_are_not_passed() -> None:
    """A request without an object, or for one that is being deleted, ends without a call."""
    reconciler = Seeing()
    async with running(reconciler) as (client, controller):
        held = config_map("held")
        held.metadata.finalizers = ["others.test/theirs"]
        await client.create(held)
        await client.delete(held)
        await client.create(gone := config_map("gone"))
        await client.delete(gone)
        await asyncio.sleep(1)
        before = len(reconciler.seen)
        await client.patch(held, MergePatch({"metadata": {"labels": {"a": "b"}}}))
        await asyncio.sleep(1)
        assert len(reconciler.seen) == before
        assert controller.statistics().reconciles.error == 0


async def test_finalizers_are_added_before_and_run_instead() -> None:
    """An object has its finalizers before reconcile_object sees it; when it is deleted, their handlers run."""
    reconciler = Cleaning()
    async with running(reconciler) as (client, controller):
        await client.create(obj := config_map("a"))
        await asyncio.sleep(1)
        assert [seen.metadata.finalizers for seen in reconciler.seen] == [[FINALIZER]] * len(reconciler.seen) != []
        passed = len(reconciler.seen)
        await client.delete(obj)
        await asyncio.sleep(1)
        assert (reconciler.cleaned, len(reconciler.seen)) == (["a"], passed)
        assert await client.list(ConfigMap, namespace="default") == []
        assert allow(ConfigMap, "patch") in controller.rbac


async def test_the_kind_is_of_the_class_or_of_the_builder() -> None:
    """The builder names the kind of a class without one; a class without any is an error with the cure."""
    assert Cleaning().kind is ConfigMap
    dynamic = Dynamic()
    async with running(dynamic, GroupVersionKind("", "v1", "ConfigMap")) as (client, _):
        await client.create(config_map("a"))
        await asyncio.sleep(1)
        assert [(obj.kind, obj.metadata.name) for obj in dynamic.seen] == [("ConfigMap", "a")]
    async with Manager(Config.in_process(ApiServer())) as manager:
        every = TickSource(timedelta(hours=1), lambda: [Request("default", "a")])
        with pytest.raises(BuilderError, match=r"Dynamic has no kind: write class Dynamic\(ObjectReconciler\[KIND\]\)"):
            Builder(manager).options(name="dynamic").watches_source(every).build(Dynamic())
        seeing = Seeing()
        Builder(manager).options(name="seeing").watches_source(every).build(seeing)
        assert seeing.kind is ConfigMap


def test_a_method_that_cannot_be_awaited_is_refused() -> None:
    """A reconcile_object that is not async, or takes other arguments, is an error before any reconcile runs."""

    class Wrong(Seeing):
        def reconcile_object(self, obj: ConfigMap) -> None: ...  # type: ignore[override]

    with pytest.raises(BuilderError, match=r"must be async def reconcile_object\(self, obj\); got a function that is"):
        check_declarations(Wrong())
