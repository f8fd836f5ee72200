"""Warnings about expressions that do not fit the schemas of matched kinds."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from random import Random
from typing import Any

import pytest
import pytest_asyncio

from pyctrl.api import Unstructured
from pyctrl.client import Client
from pyctrl.cluster import Cluster
from pyctrl.cluster._controllers.validatingadmissionpolicystatus.typechecker import check_types

DEPLOYMENTS = {"apiGroups": ["apps"], "apiVersions": ["v1"], "resources": ["deployments"]}


@pytest_asyncio.fixture
async def live() -> AsyncIterator[Client]:
    """A client of a server without controllers."""
    async with Cluster(random=Random(1), controllers=False, kubelet=False) as cluster, cluster.client() as client:
        yield client


async def _warnings(live: Client, expression: str, *rules: dict[str, Any], **spec: Any) -> list[str]:
    """Return the first line of each warning about an expression."""
    constraints = {"resourceRules": list(rules or (DEPLOYMENTS,))}
    policy = {"spec": {"matchConstraints": constraints, "validations": [{"expression": expression}], **spec}}
    return [
        re.sub(r"([A-Z][A-Za-z]+)\d+", r"\1", line)
        for warning in await check_types(live, policy)
        for line in warning["warning"].split("\n")
        if "ERROR" in line
    ]


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("object.nope == 1", "1:7: undefined field 'nope'"),
        ("oldObject.nope == 1", "1:10: undefined field 'nope'"),
        ("object.spec == 1", "1:13: found no matching overload for '_==_' applied to '(Deployment.spec, int)'"),
        ("object.spec.template.spec.containers[0].nope == ''", "1:40: undefined field 'nope'"),
        ("object.metadata.creationTimestamp == ''", "1:35: found no matching overload for '_==_' applied to "),
        ("authorizer.requestResource.check('get').allowed()", "1:11: unexpected failed resolution of 'kubernetes"),
    ],
)
async def test_an_expression_that_does_not_fit(live: Client, expression: str, problem: str) -> None:
    """The warning names the kind, the position and what is wrong."""
    (warning,) = await _warnings(live, expression)
    assert warning.startswith(f"apps/v1, Kind=Deployment: ERROR: <input>:{problem}")


@pytest.mark.parametrize(
    "expression",
    [
        "object.spec.replicas > 1",
        "object.spec.strategy.rollingUpdate.maxSurge == '10%' || object.spec.strategy.rollingUpdate.maxSurge == 1",
        "object.metadata.labels['a'] == 'b'",
        "namespaceObject.metadata.name == request.name",
        "authorizer.group('').resource('pods').check('get').allowed()",
    ],
)
async def test_an_expression_that_fits(live: Client, expression: str) -> None:
    """A field that may be a number or a text is compared with both; other fields have their types."""
    assert await _warnings(live, expression) == []


async def test_each_matched_kind_is_checked(live: Client) -> None:
    """The kinds are sorted by group, version and name, and a kind of two rules is checked once."""
    pods = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}
    more = {**DEPLOYMENTS, "resources": ["statefulsets", "deployments"]}
    found = await _warnings(live, "object.spec.foo == 1", more, pods, DEPLOYMENTS)
    assert [each.partition(": ")[0] for each in found] == [
        "/v1, Kind=Pod",
        "apps/v1, Kind=Deployment",
        "apps/v1, Kind=StatefulSet",
    ]


async def test_the_empty_group_means_any_group(live: Client) -> None:
    """As client-go maps resources, `events` of the core group are those of events.k8s.io, too."""
    events = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["events"]}
    found = await _warnings(live, "object.involvedObject.name == ''", events)
    assert [each.partition(": ")[0] for each in found] == ["events.k8s.io/v1, Kind=Event"]


@pytest.mark.parametrize(
    "rule",
    [
        {**DEPLOYMENTS, "apiGroups": ["apps", "*"]},
        {**DEPLOYMENTS, "apiVersions": ["v1", "*"]},
        {**DEPLOYMENTS, "resources": ["*", "deployments/scale"]},
        {**DEPLOYMENTS, "resources": ["nopes"]},
    ],
)
async def test_wildcards_subresources_and_unknown_resources_are_not_checked(live: Client, rule: dict[str, Any]) -> None:
    """A rule that does not name its kinds has no warnings."""
    assert await _warnings(live, "object.nope == 1", rule) == []


async def test_about_ten_kinds_are_checked(live: Client) -> None:
    """A rule with many resources is checked for the first ten by name."""
    names = ["configmaps", "endpoints", "limitranges", "persistentvolumeclaims", "pods", "podtemplates"]
    names += ["replicationcontrollers", "resourcequotas", "secrets", "serviceaccounts", "services", "nodes"]
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "resources": names}
    found = await _warnings(live, "object.nope == 1", rule)
    assert len(found) == 10
    assert not any("ServiceAccount" in each or "Kind=Service:" in each for each in found)


async def test_variables_have_types(live: Client) -> None:
    """A variable has the type of its expression; objects, and expressions that do not compile, have any type."""
    variables = [
        {"name": "count", "expression": "object.spec.replicas"},
        {"name": "spec", "expression": "object.spec"},
        {"name": "broken", "expression": "object.nope"},
        {"name": "names", "expression": "object.spec.template.spec.containers.map(c, c.name)"},
    ]
    assert await _warnings(live, "variables.spec.nope == variables.broken", variables=variables) == []
    (number,) = await _warnings(live, "variables.count == ''", variables=variables)
    assert number.endswith("applied to '(int, string)'")
    (text,) = await _warnings(live, "variables.names[0] == 1", variables=variables)
    assert text.endswith("applied to '(string, int)'")


async def test_parameters_have_the_type_of_their_kind(live: Client) -> None:
    """The fields of parameters are checked; those of a kind that is not served are not."""
    known = {"apiVersion": "v1", "kind": "ConfigMap"}
    (warning,) = await _warnings(live, "params.nope == 1", paramKind=known)
    assert "undefined field 'nope'" in warning
    assert await _warnings(live, "params.nope == 1", paramKind={"apiVersion": "a.io/v1", "kind": "Nope"}) == []


async def test_message_expressions_are_checked(live: Client) -> None:
    """The warning about a message expression names its field."""
    validation = {"expression": "true", "messageExpression": "string(object.metadata.nam)"}
    spec = {"matchConstraints": {"resourceRules": [DEPLOYMENTS]}, "validations": [{"expression": "true"}, validation]}
    (warning,) = await check_types(live, {"spec": spec})
    assert warning["fieldRef"] == "spec.validations[1].messageExpression"


async def test_custom_kinds_are_checked(live: Client) -> None:
    """A definition that was installed after the last discovery is found, with the schema that it declares."""
    await _warnings(live, "true")
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer"}}}}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    spec = {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "things", "kind": "Thing"},
        "versions": [version],
    }
    definition = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
    await live.create(Unstructured({**definition, "metadata": {"name": "things.example.com"}, "spec": spec}))
    things = {"apiGroups": ["example.com"], "apiVersions": ["v1"], "resources": ["things"]}
    (warning,) = await _warnings(live, "object.spec.size == 'L' && object.metadata.name != ''", things)
    assert warning.startswith("example.com/v1, Kind=Thing: ")
    assert warning.endswith("applied to '(int, string)'")
