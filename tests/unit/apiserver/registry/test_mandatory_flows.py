"""The flow schemas and priority levels that every server has."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from pyctrl.apiserver._registry.mandatory_flows import (
    validate_mandatory_flow_schema,
    validate_mandatory_priority_level,
)
from tests.unit.apiserver.registry._refusals import refusals

LEVEL = {"type": "Limited", "limited": {"nominalConcurrencyShares": 5, "limitResponse": {"type": "Reject"}}}
SCHEMA = {
    "priorityLevelConfiguration": {"name": "catch-all"},
    "matchingPrecedence": 10000,
    "rules": [
        {
            "subjects": [{"kind": "Group", "group": {"name": "system:authenticated"}}],
            "resourceRules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}],
            "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
        }
    ],
}


def _object(name: str, spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": deepcopy(spec)}


@pytest.mark.parametrize(("name", "count"), [("catch-all", 1), ("mine", 0)])
def test_the_last_priority_level_stays_as_it_is(name: str, count: int) -> None:
    """An administrator cannot change the spec of the priority level `catch-all`, but that of others."""
    old, new = _object(name, LEVEL), _object(name, LEVEL)
    new["spec"]["limited"]["nominalConcurrencyShares"] = 7
    found = list(validate_mandatory_priority_level(new, old))
    assert len(found) == count
    assert list(validate_mandatory_priority_level(old, old)) == []
    for each in found:
        assert (
            '"Limited":{"NominalConcurrencyShares":7,"LimitResponse":{"Type":"Reject","Queuing":null}' in each.message
        )


def test_the_shares_of_the_exempt_level_change() -> None:
    """An administrator may give shares to the level `exempt`, and cannot limit it."""
    old = _object("exempt", {"type": "Exempt"})
    assert refusals(validate_mandatory_priority_level(_object("exempt", {"type": "Exempt", "exempt": {}}), old)) == []
    limited = _object("exempt", {"type": "Limited", "exempt": {"lendablePercent": 5}})
    assert refusals(validate_mandatory_priority_level(limited, old)) == [
        'spec: Invalid value: {"Type":"Limited","Limited":null,"Exempt":{"NominalConcurrencyShares":0,"Le'
    ]


def test_mandatory_flow_schemas_stay_as_they_are() -> None:
    """An administrator cannot change the spec of the flow schema `catch-all`."""
    old, new = _object("catch-all", SCHEMA), _object("catch-all", SCHEMA)
    assert list(validate_mandatory_flow_schema(old, old)) == []
    new["spec"]["rules"][0]["subjects"] = [
        {"kind": "ServiceAccount", "serviceAccount": {"name": "a", "namespace": "b"}}
    ]
    (found,) = validate_mandatory_flow_schema(new, old)
    assert (
        '"ServiceAccount":{"Namespace":"b","Name":"a"}}],"ResourceRules":[{"Verbs":["*"],"APIGroups"' in found.message
    )
    assert found.message.endswith("spec of 'catch-all' must equal the fixed value")
