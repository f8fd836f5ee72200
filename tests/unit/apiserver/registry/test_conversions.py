"""Conversions of built-in kinds: events and autoscalers."""

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


def test_an_event_is_read_through_both_groups() -> None:
    """An event written through the core group is the same event, by other names, in events.k8s.io, and back."""
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


def test_an_events_object_stands_in_its_namespace() -> None:
    """An event about an object elsewhere is refused; a new-style event says when it happened."""
    with pytest.raises(StatusError) as refused:
        create(ResourceRegistry(), {**EVENT, "involvedObject": {"kind": "Pod", "name": "p", "namespace": "other"}})
    assert complaints(refused.value) == [
        'involvedObject.namespace: Invalid value: "other": does not match event.namespace'
    ]
    new = {"apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": "e"}, "type": "Normal"}
    with pytest.raises(StatusError) as refused:
        create(ResourceRegistry(), {**new, "regarding": {"kind": "Pod", "name": "p", "namespace": "default"}})
    assert str(refused.value) == 'Event "e" is invalid: eventTime: Required value'


def test_an_autoscaler_is_read_in_both_versions() -> None:
    """The one CPU target of v1 is the CPU metric of v2, and back."""
    registry = ResourceRegistry()
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}
    spec = {"maxReplicas": 3, "minReplicas": 1, "scaleTargetRef": target, "targetCPUUtilizationPercentage": 50}
    old = registry.find("autoscaling", "v1", "horizontalpodautoscalers")
    new = registry.find("autoscaling", "v2", "horizontalpodautoscalers")
    assert old is not None
    assert new is not None
    obj = {"apiVersion": "autoscaling/v1", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "h"}, "spec": spec}
    read = new.on_read(obj)
    assert read["spec"]["metrics"][0]["resource"]["target"] == {"type": "Utilization", "averageUtilization": 50}
    assert old.on_read(read)["spec"] == spec
