"""Validation rules of custom kinds: their budgets, ratcheting, and the rules of defaults, on any cluster."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from pyctrl.api import Unstructured
from pyctrl.client import Client, ServerWarning
from pyctrl.errors import Invalid
from pyctrl.kinds.apiextensions.v1 import CustomResourceDefinition
from pyctrl.testing import ClusterUnderTest
from tests.integration._definitions import definition_of, installed, widget_kind

pytestmark = [
    pytest.mark.virtual_time,  # where the cluster is embedded
    pytest.mark.slow("a real API server lets the first creation of a new kind wait for two seconds"),
]
NUMBER = {"type": "integer"}
INTERSECTS = "!sets.intersects(self.a, self.b)"  # costs the product of the sizes and takes little time
LISTS = {name: {"type": "array", "maxItems": limit, "items": NUMBER} for name, limit in (("a", 1000), ("b", 1200))}


def schema_of(rules: list[dict[str, str]], **properties: Any) -> dict[str, Any]:
    spec = {"type": "object", "properties": properties, "x-kubernetes-validations": rules}
    return {"type": "object", "properties": {"spec": spec}}


async def errors_of(client: Client, namespace: str, spec: Mapping[str, Any]) -> list[str]:
    with pytest.raises(Invalid) as refused:
        await client.create(Unstructured.new(widget_kind(namespace), name="a", namespace=namespace, spec=spec))
    return [cause.message for cause in refused.value.causes]


async def is_accepted(client: Client, namespace: str, spec: Mapping[str, Any]) -> bool:
    wanted = Unstructured.new(widget_kind(namespace), name="b", namespace=namespace, spec=spec)
    try:
        await client.create(wanted, dry_run=True)
    except Invalid:
        return False
    return True


async def test_an_expensive_rule_ends_the_validation(client: Client, namespace: str) -> None:
    """The evaluation of a rule may cost a million; no other rule is evaluated after it."""
    rules = [{"rule": INTERSECTS, "message": "a"}, {"rule": "self.b.size() < 900", "message": "b"}]
    async with installed(client, widget_kind(namespace), schema_of(rules, **LISTS)):
        assert await errors_of(client, namespace, {"a": [1] * 1000, "b": [2] * 900}) == ["Invalid value: b"]
        (only,) = await errors_of(client, namespace, {"a": [1] * 1000, "b": [2] * 1100})
        assert only.endswith("no further validation rules will be run due to call cost exceeds limit for rule: a")


async def test_unchanged_invalid_values_are_warnings(cluster: ClusterUnderTest, namespace: str) -> None:
    """An update that leaves an invalid value unchanged succeeds with a warning."""
    warnings: list[ServerWarning] = []
    kind = widget_kind(namespace)
    async with (
        Client.connect(cluster.config, on_warning=warnings.append) as client,
        installed(client, kind, schema_of([], n=NUMBER)),
    ):
        made = await client.create(Unstructured.new(kind, name="a", namespace=namespace, spec={"n": 9}))
        definition = await client.get(CustomResourceDefinition, definition_of(kind).key)
        schema = schema_of([{"rule": "self.n < 5", "message": "large"}], n=NUMBER)
        definition.spec.versions = definition_of(kind, schema).spec.versions
        await client.update(definition)

        async with asyncio.timeout(10):
            while await is_accepted(client, namespace, {"n": 9}):
                await asyncio.sleep(0.05)  # no event tells that the server evaluates the new rule
        warnings.clear()
        made.metadata.labels = {"a": "b"}
        await client.update(made)
        assert [warning.text for warning in warnings] == ["spec: Invalid value: large"]


async def test_a_default_obeys_the_rules(client: Client, namespace: str) -> None:
    """A definition whose default violates a rule is invalid."""
    number = {**NUMBER, "default": 7, "x-kubernetes-validations": [{"rule": "self < 5", "message": "large"}]}
    with pytest.raises(Invalid) as refused:
        await client.create(definition_of(widget_kind(namespace), schema_of([], n=number)))
    assert [cause.message for cause in refused.value.causes] == ["Invalid value: 7: large"]
