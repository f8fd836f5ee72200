"""Objects in the versions of their managers: conversion, comparison, and managers of other versions in writes."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver import ResourceRegistry
from pyctrl.apiserver._fieldmanager.versions import Comparisons, ConversionError, VersionedObject, convert
from pyctrl.apiserver._resources.resource_type import ResourceType
from tests.unit.apiserver._kit import Asker
from tests.unit.apiserver._objects import GROUP, install, spec_schema, thing

SCALERS = "/apis/autoscaling/{}/namespaces/default/horizontalpodautoscalers/h"
APPLY = {"Content-Type": "application/apply-patch+yaml"}
TARGET = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}


@pytest.fixture(scope="module")
def registry() -> ResourceRegistry:
    return ResourceRegistry()


def scalers(registry: ResourceRegistry, version: str) -> ResourceType:
    found = registry.find("autoscaling", version, "horizontalpodautoscalers")
    assert found is not None
    return found


def scaler(version: str, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": f"autoscaling/{version}", "kind": "HorizontalPodAutoscaler", "metadata": {}, "spec": spec}


def test_an_autoscaler_is_converted_between_its_versions(registry: ResourceRegistry) -> None:
    """The target of v1 is a metric of v2, also where required fields are missing."""
    old = VersionedObject(scalers(registry, "v1"), scaler("v1", targetCPUUtilizationPercentage=50))
    new = convert(old, "autoscaling/v2")
    assert new is not None
    assert new.content["spec"]["metrics"][0]["resource"]["target"]["averageUtilization"] == 50
    assert convert(old, "autoscaling/v1") is old


def test_a_version_that_the_kind_does_not_have(registry: ResourceRegistry) -> None:
    """A built-in kind is not converted to an unknown version; an old version that is not served has the same form."""
    obj = VersionedObject(scalers(registry, "v2"), scaler("v2"))
    assert convert(obj, "nosuch/v1") is None
    deployments = registry.find("apps", "v1", "deployments")
    assert deployments is not None
    deployed = VersionedObject(deployments, {"metadata": {}})
    assert convert(deployed, "apps/v1beta1") is deployed


def test_events_are_not_converted_to_the_other_group(registry: ResourceRegistry) -> None:
    """As upstream, the fields of a manager of the other group's events cannot be compared."""
    events = registry.find("", "v1", "events")
    assert events is not None
    assert convert(VersionedObject(events, {"metadata": {}}), "events.k8s.io/v1") is None


def test_a_change_has_the_names_of_each_version(registry: ResourceRegistry) -> None:
    """A change of the target in v1 is one of the metrics in v2."""
    before, after = (scaler("v1", maxReplicas=1, targetCPUUtilizationPercentage=each) for each in (50, 60))
    comparisons = Comparisons(scalers(registry, "v1"), before, after, None)
    assert comparisons.at("autoscaling/v1") == ({"f:spec": {"f:targetCPUUtilizationPercentage": {}}}, {})
    assert comparisons.at("autoscaling/v2") == ({"f:spec": {"f:metrics": {}}}, {})
    assert comparisons.at("nosuch/v1") is None


def test_a_conflict_has_the_names_of_the_owners_version() -> None:
    """Metrics that are applied in v2 conflict with the target that another manager applied in v1."""
    ask = Asker()
    first = scaler("v1", maxReplicas=3, scaleTargetRef=TARGET, targetCPUUtilizationPercentage=50)
    first["metadata"]["name"] = "h"
    assert ask("PATCH", SCALERS.format("v1"), first, headers=APPLY, fieldManager="one")[0] == 201
    target = {"type": "Utilization", "averageUtilization": 60}
    second = scaler("v2", metrics=[{"type": "Resource", "resource": {"name": "cpu", "target": target}}])
    second["metadata"]["name"] = "h"
    code, status = ask("PATCH", SCALERS.format("v2"), second, headers=APPLY, fieldManager="two")
    assert code == 409
    assert [each["field"] for each in status["details"]["causes"]] == [".spec.targetCPUUtilizationPercentage"]


def test_a_definition_has_to_have_the_version() -> None:
    """A version that the definition of a custom resource does not have is an error."""
    registry = ResourceRegistry()
    install(registry, spec_schema({"a": {"type": "string"}}))
    found = registry.find(GROUP, "v1", "things")
    assert found is not None
    with pytest.raises(ConversionError, match=f"request to convert CR to an invalid group/version: {GROUP}/v9"):
        convert(VersionedObject(found, thing({"a": "x"})), f"{GROUP}/v9")
