"""Sources of a built controller: predicates, handlers and names."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from pyctrl.api import GroupVersionKind
from pyctrl.client import merge_from
from pyctrl.controller import (
    Builder,
    ObjectChange,
    OnSyncFailure,
    Predicate,
    Request,
    changed,
    generation_changed,
    labels_changed,
    mapped,
    on_delete,
)
from pyctrl.errors import DuplicateName
from pyctrl.kinds.core.v1 import ConfigMap
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
