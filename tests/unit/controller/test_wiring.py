"""Sources of a built controller: predicates, handlers and names."""

from __future__ import annotations

import asyncio
import logging
from datetime import timedelta
from typing import Any

import pytest

from pyctrl.api import GroupVersionKind, Key, ObjectMeta, set_controller_reference
from pyctrl.client import merge_from
from pyctrl.controller import (
    Builder,
    ObjectChange,
    OnSyncFailure,
    Predicate,
    Request,
    Result,
    changed,
    for_object,
    generation_changed,
    labels_changed,
    mapped,
    on_delete,
)
from pyctrl.errors import DuplicateName
from pyctrl.kinds.core.v1 import ConfigMap, Secret, ServiceAccount
from tests.unit.controller._hosts import Journal, config_map, make_host, running, settle


async def test_predicates_of_a_watch_and_filters_of_all_must_both_accept() -> None:
    """A change must pass the filters of all kinds and the predicates of its own kind."""
    host, journal = make_host(), Journal()
    (
        Builder(host)
        .filter(generation_changed | labels_changed | on_delete)
        .reconciles(ConfigMap, predicates=[changed(lambda old, new: old.data != new.data)])
        .build(journal)
    )
    async with running(host) as client:
        created = await client.create(config_map("a"))
        await settle()
        assert journal.take() == ["default/a"]
        for change in ({"data": {"x": "1"}}, {"metadata": {"labels": {"x": "1"}}}):
            before = created.deep_copy()
            created = await client.patch(
                ConfigMap.from_wire(created.to_wire() | merged(created, change)), merge_from(before)
            )
            await settle()
            assert journal.take() == []


def merged(obj: ConfigMap, change: dict[str, Any]) -> dict[str, Any]:
    wire = obj.to_wire()
    return {key: {**wire.get(key, {}), **value} for key, value in change.items()}


async def test_a_predicate_that_fails_lets_through_and_a_handler_that_fails_loses_one_change(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """If a predicate fails, the change passes; if a handler fails, its change is lost; both log the object's name."""
    host, journal = make_host(), Journal()

    def broken(change: ObjectChange[ConfigMap]) -> bool:
        raise ValueError("predicate")

    def requests(config_map: ConfigMap) -> list[Request]:
        if config_map.metadata.name == "bad":
            raise ValueError("handler")
        return [Request("default", config_map.metadata.name)]

    Builder(host).watches(ConfigMap, mapped(requests), predicates=[Predicate(broken)]).options(name="x").build(journal)
    async with running(host) as client:
        for name in ("bad", "good"):
            await client.create(config_map(name))
        await settle()

    assert journal.take() == ["default/good"]
    messages = caplog.messages
    assert messages.count("A predicate failed, the change is let through") == 2
    assert messages.count("A handler failed, the change is lost") == 1
    assert [vars(record)["object"] for record in caplog.records if record.levelname == "ERROR"] == [
        "default/bad",
        "default/bad",
        "default/good",
    ]


async def test_only_the_deletion_of_the_object_itself_takes_its_timer() -> None:
    """`Result.after` of an object outlives its children and objects of its name of other kinds, not the object."""
    host, owner = make_host(), config_map("a")

    class Timed(Journal):
        sets_timer = True

        async def reconcile(self, request: Request) -> Result | None:
            await super().reconcile(request)
            return Result.after(timedelta(hours=1)) if self.sets_timer else None

    journal = Timed()
    Builder(host).reconciles(ConfigMap).owns(Secret).watches(ServiceAccount, for_object).build(journal)
    async with running(host) as client:
        owner = await client.create(owner)
        child = Secret(metadata=ObjectMeta(name="child", namespace="default"))
        set_controller_reference(owner, child)
        await client.create(child)
        await client.create(ServiceAccount(metadata=ObjectMeta(name="a", namespace="default")))
        await settle()
        journal.sets_timer = False
        for kind, name in ((Secret, "child"), (ServiceAccount, "a")):
            journal.take()
            await client.delete(kind, Key("default", name))
            await settle()
            assert journal.take() == ["default/a"]
        await asyncio.sleep(3600)
        assert journal.take() == ["default/a"]

        journal.sets_timer = True
        await client.patch(ConfigMap.from_wire(owner.to_wire() | {"data": {"x": "1"}}), merge_from(owner))
        await settle()
        journal.sets_timer = False
        await client.delete(owner)
        await settle()
        journal.take()
        await asyncio.sleep(3600)
        assert journal.take() == []


async def test_a_kind_that_is_not_served_is_named_when_the_controller_gives_up(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """When the controller gives up on a kind that is not served, the error names the source and the missing CRD."""
    caplog.set_level(logging.CRITICAL, "pyctrl.cache")
    host = make_host()
    kind = GroupVersionKind("example.com", "v1", "Missing")
    Builder(host).reconciles(kind).build(Journal())
    [controller] = host.controllers
    controller.on_sync_failure = OnSyncFailure.END
    caching = asyncio.create_task(host.cache.run())
    with pytest.raises(Exception, match=r"missing caches .*kind source: example.com/v1, Kind=Missing: .*definition"):
        await controller.run()
    caching.cancel()
    await asyncio.wait([caching])


def test_a_name_is_taken_once_in_one_host() -> None:
    """A controller name is unique per host; the error explains how to set another name."""
    host = make_host()
    Builder(host).reconciles(ConfigMap).build(Journal())
    with pytest.raises(DuplicateName, match=r"'configmap' already exists .*options\(name=...\)"):
        Builder(host).reconciles(ConfigMap).build(Journal())
    Builder(host).reconciles(ConfigMap).options(name="other").build(Journal())
    Builder(make_host()).reconciles(ConfigMap).build(Journal())

    assert [controller.name for controller in host.controllers] == ["configmap", "other"]
