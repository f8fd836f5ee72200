"""Validation of the expressions of policies."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.apiserver._kit import Asker

ADMISSION = "/apis/admissionregistration.k8s.io/v1"


RULE = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["*"]}


def _policy(**spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "p"}, "spec": {"matchConstraints": {"resourceRules": [RULE]}, **spec}}


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ({}, "spec.validations: Required value: validations or auditAnnotations must contain at least one item"),
        ({"validations": [{"expression": "nix"}]}, "undeclared reference to 'nix'"),
        ({"validations": [{"expression": "1"}]}, "must evaluate to bool but got int"),
        ({"validations": [{"expression": "params.x"}]}, "undeclared reference to 'params'"),
        ({"validations": [{"expression": "true", "reason": "Foo"}]}, 'Unsupported value: "Foo"'),
        ({"auditAnnotations": [{"key": "k", "valueExpression": "1"}]}, "must evaluate to one of [string null_type]"),
    ],
)
def test_a_policy_that_cannot_work_is_refused(ask: Asker, spec: dict[str, Any], why: str) -> None:
    """The messages are kube-apiserver's."""
    code, status = ask("POST", f"{ADMISSION}/validatingadmissionpolicies", _policy(**spec))
    assert code == 422
    assert why in status["message"]
