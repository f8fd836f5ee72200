"""Defaults and validation of admission policies and their bindings, as of a kube-apiserver 1.36."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.apiserver._kit import Asker
from tests.unit.apiserver.admission._policies import ADMISSION, RULE, apply_configuration

SPEC = {
    "matchConstraints": {"resourceRules": [RULE]},
    "reinvocationPolicy": "Never",
    "mutations": [apply_configuration("Object{}")],
}


def test_a_policy_gets_defaults(ask: Asker) -> None:
    """It fails on errors, matches equivalent resources, and selects everything."""
    code, made = ask("POST", f"{ADMISSION}/mutatingadmissionpolicies", {"metadata": {"name": "p"}, "spec": SPEC})
    assert code == 201
    assert made["spec"]["failurePolicy"] == "Fail"
    rules = [{**RULE, "scope": "*"}]
    selectors: dict[str, Any] = {"namespaceSelector": {}, "objectSelector": {}}
    assert made["spec"]["matchConstraints"] == {"resourceRules": rules, "matchPolicy": "Equivalent", **selectors}


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"matchConstraints": {}}, "spec.matchConstraints.resourceRules: Required value"),
        (
            {"matchConstraints": {"resourceRules": [{**RULE, "operations": ["DELETE"]}]}},
            'operations: Unsupported value: "DELETE": supported values: "*", "CONNECT", "CREATE", "UPDATE"',
        ),
        (
            {"matchConstraints": {"resourceRules": [{**RULE, "resourceNames": ["a", "a"]}]}},
            'spec.matchConstraints.resourceRules[0].resourceNames[1]: Duplicate value: "a"',
        ),
        ({"reinvocationPolicy": "X"}, 'spec.reinvocationPolicy: Unsupported value: "X"'),
        ({"paramKind": {"apiVersion": "a/b/c", "kind": "C"}}, "unexpected GroupVersion string: a/b/c"),
        ({"paramKind": {"apiVersion": "v1", "kind": "c_"}}, "may have mixed case, but should otherwise match"),
    ],
)
def test_an_invalid_policy_is_refused(ask: Asker, change: dict[str, Any], why: str) -> None:
    """The messages are kube-apiserver's."""
    body = {"metadata": {"name": "p"}, "spec": {**SPEC, **change}}
    code, status = ask("POST", f"{ADMISSION}/mutatingadmissionpolicies", body)
    assert code == 422
    assert why in status["message"]


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ({}, "spec.policyName: Required value"),
        (
            {"policyName": "p", "paramRef": {}},
            "spec.paramRef: Required value: one of name or selector must be specified",
        ),
        (
            {"policyName": "p", "paramRef": {"name": "a/b", "parameterNotFoundAction": "Deny"}},
            "spec.paramRef.name: Invalid value: \"a/b\": may not contain '/'",
        ),
        (
            {"policyName": "p", "matchResources": {"resourceRules": [{**RULE, "operations": ["DELETE"]}]}},
            "spec.matchResources.resourceRules.operations: Unsupported value",
        ),
    ],
)
def test_an_invalid_binding_is_refused(ask: Asker, spec: dict[str, Any], why: str) -> None:
    """The messages are kube-apiserver's."""
    body = {"metadata": {"name": "b"}, "spec": spec}
    code, status = ask("POST", f"{ADMISSION}/mutatingadmissionpolicybindings", body)
    assert code == 422
    assert why in status["message"]
