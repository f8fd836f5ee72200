"""Events: conversion between both groups, and validation."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver import ResourceRegistry
from pyctrl.apiserver._errors import StatusError
from tests.unit.apiserver._objects import complaints, create

EVENT: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Event",
    "metadata": {"name": "e"},
    "involvedObject": {"kind": "Pod", "name": "p", "namespace": "default"},
    "reason": "Made",
    "message": "m",
    "count": 2,
    "source": {"component": "x"},
}


def test_an_event_is_served_in_both_groups() -> None:
    """Fields of core events have other names in events.k8s.io; the conversion back restores the event."""
    registry = ResourceRegistry()
    created, _ = create(registry, EVENT)
    core, new = registry.find("", "v1", "events"), registry.find("events.k8s.io", "v1", "events")
    assert core is not None
    assert new is not None
    assert new.storage_group == core.storage_group
    read = new.on_read(dict(created))
    assert read["apiVersion"] == "events.k8s.io/v1"
    assert (read["regarding"]["name"], read["note"], read["deprecatedCount"]) == ("p", "m", 2)
    assert "reportingController" not in read
    assert core.on_read(read) == created


def test_invalid_events_are_refused() -> None:
    """The object of an event is in its namespace, and an event of events.k8s.io has an eventTime."""
    with pytest.raises(StatusError) as refused:
        create(ResourceRegistry(), {**EVENT, "involvedObject": {"kind": "Pod", "name": "p", "namespace": "other"}})
    assert complaints(refused.value) == [
        'involvedObject.namespace: Invalid value: "other": does not match event.namespace'
    ]
    new = {"apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": "e"}, "type": "Normal"}
    with pytest.raises(StatusError) as refused:
        create(ResourceRegistry(), {**new, "regarding": {"kind": "Pod", "name": "p", "namespace": "default"}})
    assert str(refused.value) == 'Event "e" is invalid: eventTime: Required value'
