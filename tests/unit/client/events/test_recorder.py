"""The events, series and limits of a recorder, in virtual time."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import cast

import pytest
from kubernetes_asyncio.client import V1ConfigMap, V1ObjectMeta

from pyctrl import _clock
from pyctrl.api import GroupVersionKind, Metadata, Object, ObjectMeta, Unstructured
from pyctrl.client import MergePatch
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.kinds.rbac.v1 import ClusterRole
from tests.unit.client.events._bench import bench, config_map, moment


async def test_an_event_says_what_happened_to_whom_and_who_says_so() -> None:
    """An event has the fields that client-go's recorder for events.k8s.io/v1 writes, in the object's namespace."""
    async with bench() as b:
        other = await b.client.create(config_map("other"))
        b.recorder.normal(b.shop, "Created", "Created the other", action="Create", related=other)
        await moment()
        (event,) = await b.events()
    wire = event.to_wire()
    metadata = wire.pop("metadata")
    assert metadata["name"].startswith("shop.")
    assert int(metadata["name"].removeprefix("shop."), 16)
    assert metadata["namespace"] == "default"
    told = {field: value for field, value in wire.items() if not field.startswith("deprecated")}
    assert told == {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "eventTime": "2026-01-01T00:00:00.000000Z",
        "type": "Normal",
        "reason": "Created",
        "action": "Create",
        "note": "Created the other",
        "reportingController": "shops",
        "reportingInstance": "shops-host",
        "regarding": reference(b.shop),
        "related": reference(other),
    }


def reference(obj: ConfigMap) -> dict[str, str]:
    """Return the reference to a ConfigMap in the default namespace."""
    meta = obj.metadata
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "namespace": "default",
        "name": meta.name,
        "uid": meta.uid,
        "resourceVersion": meta.resource_version,
    }


async def test_an_event_about_a_model_of_kubernetes_asyncio() -> None:
    """An event may be about a model, whose apiVersion and kind are those of its class."""
    async with bench() as b:
        meta = b.shop.metadata
        found = V1ConfigMap(
            metadata=V1ObjectMeta(
                name=meta.name, namespace=meta.namespace, uid=meta.uid, resource_version=meta.resource_version
            )
        )
        b.recorder.normal(found, "Created", "Created the other", related=found)
        await moment()
        (event,) = await b.events()
    assert (event.to_wire()["regarding"], event.to_wire()["related"]) == (reference(b.shop), reference(b.shop))


async def test_an_object_and_a_message_are_enough() -> None:
    """The default action is Reconcile; a warning is of type Warning."""
    async with bench() as b:
        b.recorder.warning(b.shop, "InvalidSize", "Size must be set. Got None.")
        await moment()
        (event,) = await b.events()
    assert (event.type, event.reason, event.action) == ("Warning", "InvalidSize", "Reconcile")


@pytest.mark.parametrize("name", ["system:node", "a" * 250, "UPPER", "a..b"])
async def test_objects_without_a_namespace_have_their_events_in_default_whatever_their_name_is(name: str) -> None:
    """An invalid Event name, such as system:node, is replaced; Events of cluster-scoped objects are in default."""
    role = ClusterRole(metadata=ObjectMeta(name=name, uid="1"))
    async with bench() as b:
        b.recorder.normal(role, "Granted", "Granted")
        await moment()
        (event,) = await b.events()
    assert event.metadata.namespace == "default"
    assert event.regarding.name == name


@pytest.mark.parametrize(
    "obj",
    [
        Unstructured.new(GroupVersionKind("demo.test", "v1", "Widget"), name="w", namespace="default"),
        Metadata[ConfigMap](metadata=ObjectMeta(name="w", namespace="default")),
    ],
    ids=["Unstructured", "Metadata"],
)
async def test_objects_of_any_form_can_be_told_of(obj: Object) -> None:
    """The reference names the kind of the object, also for untyped objects and metadata."""
    async with bench() as b:
        b.recorder.normal(obj, "Seen", "Seen")
        await moment()
        (event,) = await b.events()
    assert (event.regarding.api_version, event.regarding.kind) == (obj.gvk.api_version, obj.gvk.kind)


async def test_what_is_too_long_is_cut_and_what_cannot_be_a_name_is_replaced() -> None:
    """Fields over the server's byte limits are cut and invalid names replaced: the server accepts every event."""
    async with bench() as b:
        recorder = b.writer.recorder("My Controller (新)" + "x" * 100)
        recorder.normal(b.shop, "R" * 200, "ü" * 600, action="A" * 200)
        recorder.normal(b.shop, "", str(ValueError("no reason")), action="")
        await moment()
        first, second = sorted(await b.events(), key=lambda event: event.note or "", reverse=True)
    assert first.note == "ü" * 510 + "…"
    assert [len(word or "") for word in (first.reason, first.action)] == [126, 126]
    assert (first.reporting_controller or "").startswith("My-Controller-xxx")
    assert (second.reason, second.action) == ("Normal", "Reconcile")


@pytest.mark.parametrize(
    ("message", "note"),
    [("\udcff is no text", "? is no text"), (cast(str, ValueError("no message")), "no message"), ("", None)],
    ids=["surrogate", "exception", "empty"],
)
async def test_a_message_that_is_none_fails_no_reconcile(message: str, note: str | None) -> None:
    """A message with a lone surrogate, or an exception as message, does not fail the reconcile."""
    async with bench() as b:
        b.recorder.warning(b.shop, "Failed", message)
        await moment()
        (event,) = await b.events()
    assert event.note == note


@pytest.mark.parametrize(
    ("name", "reported"),
    [
        ("evc", "evc"),
        ("example.com/evc", "example.com/evc"),
        ("a..b/evc", "a..b-evc"),
        ("x" * 64, "x" * 63),
        ("---", "controller"),
    ],
)
async def test_controllers_are_reported_by_their_name_where_that_can_be(name: str, reported: str) -> None:
    """The controller's name becomes a qualified name, with or without prefix; an invalid one is converted."""
    async with bench() as b:
        b.writer.recorder(name).normal(b.shop, "Seen", "Seen")
        await moment()
        (event,) = await b.events()
    assert event.reporting_controller == reported


async def test_what_is_told_again_within_six_minutes_is_a_series() -> None:
    """The second occurrence within six minutes starts a series, with its count and time."""
    async with bench() as b:
        for _ in range(2):
            b.recorder.warning(b.shop, "Failed", "It failed")
            await asyncio.sleep(350)
        (event,) = await b.events()
        assert event.to_wire()["series"] == {"count": 2, "lastObservedTime": "2026-01-01T00:05:50.000000Z"}
        assert event.to_wire()["eventTime"] == "2026-01-01T00:00:00.000000Z"
        await asyncio.sleep(11)
        b.recorder.warning(b.shop, "Failed", "It failed")
        await moment()
        assert await b.told() == ["Failed: It failed x2", "Failed: It failed x1"]


async def test_a_series_goes_on_when_the_object_changes() -> None:
    """An event continues its series after an update of the object's status."""
    async with bench() as b:
        b.recorder.warning(b.shop, "Failed", "It failed")
        changed = await b.client.patch(b.shop, MergePatch({"data": {"a": "b"}}))
        assert changed.metadata.resource_version != b.shop.metadata.resource_version
        b.recorder.warning(changed, "Failed", "It failed")
        await moment()
        assert await b.told() == ["Failed: It failed x2"]


async def test_an_event_that_goes_on_costs_few_requests_and_is_never_far_behind() -> None:
    """For an event every second for an hour, the count is written when it doubles and every five minutes."""
    async with bench() as b:
        for second in range(3600):
            b.recorder.warning(b.shop, "Failed", "It failed")
            await asyncio.sleep(1)
            if second and second % 60 == 0:
                (event,) = await b.events()
                assert event.series is not None
                assert event.series.count > second / 2
                assert event.series.last_observed_time is not None
                assert _clock.now() - event.series.last_observed_time <= timedelta(minutes=5, seconds=1)
        assert len(b.writes) <= 1 + 12 + 12
    assert await b.told() == ["Failed: It failed x3600"]


async def test_the_tenth_message_of_a_reason_is_combined_with_those_after_it() -> None:
    """After nine messages of one reason, further messages are combined."""
    async with bench() as b:
        for number in range(20):
            b.recorder.normal(b.shop, "Scaled", f"Scaled to {number}")
            await asyncio.sleep(1)
        told = await b.told()
    assert told[:9] == [f"Scaled: Scaled to {number} x1" for number in range(9)]
    assert told[9:] == ["Scaled: (combined from similar events): Scaled to 9 x8"]
    assert await b.told() == [*told[:9], told[9].replace("x8", "x11")]


async def test_an_object_has_25_events_and_one_more_every_five_minutes() -> None:
    """An object has 25 events, plus one every five minutes, per controller; repetitions do not count."""
    async with bench() as b:
        for number in range(100):
            b.recorder.normal(b.shop, f"Reason{number}", "said")
        for _ in range(1000):
            b.recorder.normal(b.shop, "Reason0", "said")
        await moment()
        assert len(await b.events()) == 25
        assert b.writer.statistics().limited == 75
        await asyncio.sleep(299)
        b.recorder.normal(b.shop, "Reason99", "said")
        await asyncio.sleep(2)
        assert len(await b.events()) == 25
        for number in range(100, 110):
            b.recorder.normal(b.shop, f"Reason{number}", "said")
        b.recorder.normal(config_map("other"), "Reason", "said")
        b.writer.recorder("others").normal(b.shop, "Reason", "said")
        await moment()
        assert len(await b.events()) == 28
    assert "Reason0: said x1001" in await b.told()
