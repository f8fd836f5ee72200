"""HorizontalPodAutoscalers: conversion between both versions."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver import ResourceRegistry
from tests.unit.apiserver._kit import Asker
from tests.unit.apiserver.registry._tables import Row, cells_of, row_id


def test_an_autoscaler_is_served_in_both_versions() -> None:
    """The target CPU utilization of v1 is the CPU metric of v2; the conversion back restores the spec."""
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


UTILIZATION = {"type": "Utilization", "averageUtilization": 50}
METRICS: list[dict[str, Any]] = [
    {"type": "Resource", "resource": {"name": "cpu", "target": UTILIZATION}},
    {"type": "Pods", "pods": {"metric": {"name": "m"}, "target": {"type": "AverageValue", "averageValue": "10"}}},
    {"type": "External", "external": {"metric": {"name": "e"}, "target": {"type": "Value", "value": "30"}}},
]
MEASURED = [{"type": "Resource", "resource": {"name": "cpu", "current": {"averageUtilization": 40}}}]
ROWS: list[Row] = [
    (
        ("autoscaling", "v2", "horizontalpodautoscalers"),
        {
            "spec": {"scaleTargetRef": {"kind": "Deployment", "name": "d"}, "maxReplicas": 3, "metrics": METRICS[:1]},
            "status": {"currentMetrics": MEASURED},
        },
        ["Deployment/d", "cpu: 40%/50%", "<unset>", 3, 0],
    ),
    (
        ("autoscaling", "v2", "horizontalpodautoscalers"),
        {
            "spec": {
                "scaleTargetRef": {"kind": "Deployment", "name": "d"},
                "minReplicas": 1,
                "maxReplicas": 3,
                "metrics": METRICS,
            }
        },
        ["Deployment/d", "cpu: <unknown>/50%, <unknown>/10 + 1 more...", "1", 3, 0],
    ),
]


@pytest.mark.parametrize(("place", "obj", "cells"), ROWS, ids=row_id)
def test_cells_of_a_row(place: tuple[str, str, str], obj: dict[str, Any], cells: list[Any]) -> None:
    """A row has the cells that kube-apiserver 1.36 shows for the object."""
    assert cells_of(place, obj) == cells


def test_an_empty_list_of_policies_is_refused(ask: Asker) -> None:
    """It is not the same as no list, which gets the default policies."""
    path = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers"
    spec = {"maxReplicas": 3, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}}
    code, refused = ask(
        "POST", path, {"metadata": {"name": "h"}, "spec": {**spec, "behavior": {"scaleUp": {"policies": []}}}}
    )
    assert code == 422
    assert refused["message"].endswith(
        "spec.behavior.scaleUp.policies: Required value: must specify at least one Policy"
    )


def test_rows_of_both_versions_have_the_metrics_in_their_order(ask: Asker) -> None:
    """The first version has no place for the order of metrics, which its table keeps nevertheless."""
    target = {"type": "Utilization", "averageUtilization": 50}
    cpu = {"type": "Resource", "resource": {"name": "cpu", "target": target}}
    memory = {"type": "Resource", "resource": {"name": "memory", "target": target}}
    path = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers"
    scaled = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}
    spec = {"maxReplicas": 3, "scaleTargetRef": scaled, "metrics": [cpu, memory]}
    assert ask("POST", path, {"metadata": {"name": "a"}, "spec": spec})[0] == 201
    headers = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
    tables = [ask("GET", f"{each}/a", headers=headers)[1] for each in (path, path.replace("v2", "v1"))]
    shown = "cpu: <unknown>/50%, memory: <unknown>/50%"
    assert [each["rows"][0]["cells"][2] for each in tables] == [shown, shown]
