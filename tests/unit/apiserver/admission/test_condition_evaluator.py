"""Evaluation of match conditions."""

from __future__ import annotations

from tests.unit.apiserver._hooks import World


async def test_a_condition_without_a_value_is_what_the_failure_policy_says(world: World) -> None:
    """If a match condition fails, failurePolicy Fail rejects the write, and Ignore skips the webhook."""
    condition = {"name": "c", "expression": "object.metadata.labels.x == 'y'"}
    await world.hook("v", {"matchConditions": [condition]})
    code, status = await world.create()
    assert code == 403
    why = "expression 'object.metadata.labels.x == 'y'' resulted in error: no such key: labels"
    assert status["message"] == f'configmaps "a" is forbidden: {why}'
    assert world.calls == []
