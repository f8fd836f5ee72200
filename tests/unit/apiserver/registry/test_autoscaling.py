"""HorizontalPodAutoscalers: conversion between both versions."""

from __future__ import annotations

from pyctrl.apiserver import ResourceRegistry


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
