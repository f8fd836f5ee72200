"""Matching of writes with webhooks."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.apiserver._hooks import CONFIGMAP_RULE, World, denied
from tests.unit.apiserver._kit import CONFIGMAPS, MERGE


@pytest.mark.parametrize(
    ("hook", "is_called"),
    [
        ({}, True),
        ({"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "default"}}}, True),
        ({"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "other"}}}, False),
        ({"objectSelector": {"matchLabels": {"x": "y"}}}, True),
        ({"objectSelector": {"matchLabels": {"x": "z"}}}, False),
        ({"rules": [{**CONFIGMAP_RULE, "operations": ["UPDATE"]}]}, False),
        ({"rules": [{**CONFIGMAP_RULE, "resources": ["*"]}]}, True),
        ({"rules": [{**CONFIGMAP_RULE, "resources": ["*/*"]}]}, True),
        ({"rules": [{**CONFIGMAP_RULE, "resources": ["configmaps/*"]}]}, True),
        ({"rules": [{**CONFIGMAP_RULE, "resources": ["configmaps/status"]}]}, False),
        ({"rules": [{**CONFIGMAP_RULE, "apiGroups": ["apps"]}]}, False),
        ({"rules": [{**CONFIGMAP_RULE, "scope": "Cluster"}]}, False),
        ({"rules": [{**CONFIGMAP_RULE, "scope": "Namespaced"}]}, True),
        ({"matchConditions": [{"name": "c", "expression": "object.metadata.name == 'a'"}]}, True),
        ({"matchConditions": [{"name": "c", "expression": "request.operation == 'DELETE'"}]}, False),
    ],
)
async def test_rules_selectors_and_conditions_say_who_is_called(
    world: World, hook: dict[str, Any], is_called: bool
) -> None:
    """A webhook is called for a write that matches rules, selectors and conditions."""
    await world.hook("v", hook)
    await world.ask("POST", CONFIGMAPS, {"metadata": {"name": "a", "labels": {"x": "y"}}})
    assert bool(world.calls) is is_called


async def test_another_version_of_a_resource_matches_unless_exactly_one_is_wanted(world: World) -> None:
    """With matchPolicy Equivalent the webhook gets the object in the version of its rule."""
    rule = {**CONFIGMAP_RULE, "apiGroups": ["autoscaling"], "apiVersions": ["v1"]}
    resources = {"rules": [{**rule, "resources": ["horizontalpodautoscalers"]}]}
    await world.hook("v", resources)
    await world.hook("exact", {**resources, "matchPolicy": "Exact"})
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}
    body = {"metadata": {"name": "a"}, "spec": {"scaleTargetRef": target, "maxReplicas": 3}}
    code, _ = await world.ask("POST", "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers", body)
    assert code == 201
    assert world.asked == ["/v"]
    asked = world.calls[0][1]["request"]
    assert (asked["kind"]["version"], asked["requestKind"]["version"]) == ("v1", "v2")
    assert asked["object"]["apiVersion"] == "autoscaling/v1"
    assert asked["object"]["spec"]["targetCPUUtilizationPercentage"] == 80


async def test_configurations_themselves_are_shown_to_nobody(world: World) -> None:
    """A webhook that denies all writes can still be deleted."""
    everything = {"apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*/*"], "operations": ["*"]}
    world.replies["/v"] = denied
    await world.hook("v", {"rules": [everything]})
    path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/v"
    assert (await world.ask("DELETE", path))[0] == 200
    assert (await world.create())[0] == 201


async def test_an_object_selector_selects_also_by_the_labels_before(world: World) -> None:
    """A webhook for labelled objects sees the write that removes the label, and the deletion."""
    await world.create("a", metadata={"name": "a", "labels": {"x": "y"}})
    await world.hook("v", {"objectSelector": {"matchLabels": {"x": "y"}}})
    await world.ask("PATCH", f"{CONFIGMAPS}/a", {"metadata": {"labels": None}}, headers=MERGE)
    await world.ask("PATCH", f"{CONFIGMAPS}/a", {"data": {"k": "v"}}, headers=MERGE)
    await world.ask("PATCH", f"{CONFIGMAPS}/a", {"metadata": {"labels": {"x": "y"}}}, headers=MERGE)
    await world.ask("DELETE", f"{CONFIGMAPS}/a")
    assert [review["request"]["operation"] for _, review in world.calls] == ["UPDATE", "UPDATE", "DELETE"]
