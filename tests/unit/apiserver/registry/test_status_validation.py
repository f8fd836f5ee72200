"""Validation of statuses: counters, conditions and addresses."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver._registry import status_validation as rules

CONDITION = {"type": "Ready", "status": "True", "reason": "Fine", "lastTransitionTime": "2026-01-01T00:00:00Z"}


def fields(errors: Any) -> list[str]:
    """Return the fields of errors."""
    return [each.field for each in errors]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, []),
        ({"type": "not a name"}, ["c[0].type"]),
        ({"status": "Maybe"}, ["c[0].status"]),
        ({"observedGeneration": -1}, ["c[0].observedGeneration"]),
        ({"lastTransitionTime": None}, ["c[0].lastTransitionTime"]),
        ({"reason": ""}, ["c[0].reason"]),
        ({"reason": "two words"}, ["c[0].reason"]),
        ({"reason": "x" * 1025}, ["c[0].reason"]),
        ({"message": "x" * 32769}, ["c[0].message"]),
    ],
)
def test_a_condition_has_a_type_a_status_a_reason_and_a_time(change: dict[str, Any], expected: list[str]) -> None:
    """A condition that lacks one of its fields, or has one of a wrong form, is refused at that field."""
    assert fields(rules.validate_conditions([{**CONDITION, **change}], "c")) == expected


def test_each_condition_has_a_type_of_its_own() -> None:
    """Two conditions of one type are refused, and so are those of a priority level."""
    assert fields(rules.validate_conditions([CONDITION, CONDITION], "c")) == ["c[1].type"]
    twice = {"status": {"conditions": [{"type": "A"}, {"type": "A"}, {"type": ""}]}}
    found = fields(rules.validate_flow_status(twice, None))
    assert found == ["status.conditions[1].type", "status.conditions[2].type"]


@pytest.mark.parametrize(
    ("validate", "status", "expected"),
    [
        (
            rules.validate_deployment_status,
            {"collisionCount": 2, "replicas": 1, "readyReplicas": 2},
            ["status.readyReplicas"],
        ),
        (
            rules.validate_deployment_status,
            {"collisionCount": 2, "replicas": 2, "availableReplicas": 1},
            ["status.availableReplicas"],
        ),
        (
            rules.validate_deployment_status,
            {"collisionCount": 2, "terminatingReplicas": -1},
            ["status.terminatingReplicas"],
        ),
        (rules.validate_deployment_status, {}, ["status.collisionCount"]),
        (rules.validate_replica_set_status, {"fullyLabeledReplicas": 1}, ["status.fullyLabeledReplicas"]),
        (rules.validate_stateful_set_status, {"collisionCount": 2, "currentReplicas": 1}, ["status.currentReplicas"]),
        (rules.validate_daemon_set_status, {"collisionCount": 1}, ["status.collisionCount"]),
        (rules.validate_daemon_set_status, {"collisionCount": 2, "numberReady": -1}, ["status.numberReady"]),
        (rules.validate_counters("currentReplicas"), {"currentReplicas": -1}, ["status.currentReplicas"]),
        (rules.validate_budget_status, {"expectedPods": -1}, ["status.expectedPods"]),
    ],
)
def test_counters_fit_each_other(validate: Any, status: dict[str, Any], expected: list[str]) -> None:
    """Counters are not negative, parts are not greater than the whole, and collisions are not forgotten."""
    assert fields(validate({"status": status}, {"status": {"collisionCount": 2}})) == expected


def test_addresses_of_load_balancers_are_valid() -> None:
    """Addresses, host names and modes of a load balancer that are wrong are refused."""
    ingress = [
        {"ip": "10.0.0.1", "ipMode": "VIP"},
        {"ip": "x"},
        {"hostname": "10.0.0.1"},
        {"ip": "10.0.0.1", "ipMode": "x"},
        {"ipMode": "VIP"},
    ]
    found = fields(rules.validate_ingress_status({"status": {"loadBalancer": {"ingress": ingress}}}, None))
    path = "status.loadBalancer.ingress"
    assert found == [f"{path}[1].ip", f"{path}[2].hostname", f"{path}[3].ipMode", f"{path}[4].ipMode"]


def test_warnings_of_expressions_name_their_field() -> None:
    """A warning about an expression of a policy has a text and the field of the expression."""
    checking = {"expressionWarnings": [{"fieldRef": " ", "warning": ""}]}
    found = fields(rules.validate_policy_status({"status": {"typeChecking": checking}}, None))
    path = "status.typeChecking.expressionWarnings[0]"
    assert found == [f"{path}.warning", f"{path}.fieldRef"]
