"""Evaluation of the expressions of a policy, as of a kube-apiserver 1.36."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.apiserver._kit import CONFIGMAPS, Asker

ADMISSION = "/apis/admissionregistration.k8s.io/v1"


RULE = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["*"]}


WHO = "ValidatingAdmissionPolicy 'p' with binding 'b' denied request"


def _policy(**spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "p"}, "spec": {"matchConstraints": {"resourceRules": [RULE]}, **spec}}


def _bind(ask: Asker, policy: dict[str, Any], **binding: Any) -> None:
    code, made = ask("POST", f"{ADMISSION}/validatingadmissionpolicies", policy)
    assert code == 201, made
    spec = {"policyName": "p", "validationActions": ["Deny"], **binding}
    body = {"metadata": {"name": "b"}, "spec": spec}
    code, made = ask("POST", f"{ADMISSION}/validatingadmissionpolicybindings", body)
    assert code == 201, made


@pytest.mark.parametrize(
    ("validation", "code", "told"),
    [
        ({"expression": " object.data.n == '6' "}, 422, "failed expression: object.data.n == '6'"),
        ({"expression": "false", "message": "no"}, 422, "no"),
        ({"expression": "false", "message": "no", "reason": "Forbidden"}, 403, "no"),
        ({"expression": "false", "messageExpression": "'n is ' + object.data.n"}, 422, "n is 5"),
        ({"expression": "false", "message": "no", "messageExpression": "string(object.data.x)"}, 422, "no"),
        (
            {"expression": "object.data.x == ''"},
            422,
            "expression 'object.data.x == ''' resulted in error: no such key: x",
        ),
    ],
)
def test_a_validation_that_fails_refuses_the_write(ask: Asker, validation: Any, code: int, told: str) -> None:
    """The message is messageExpression's, the message, or the expression; the reason determines the code."""
    _bind(ask, _policy(validations=[validation]))
    refused, status = ask("POST", CONFIGMAPS, {"metadata": {"name": "a"}, "data": {"n": "5"}})
    assert refused == code
    assert status["message"] == f'configmaps "a" is forbidden: {WHO}: {told}'
    assert status["details"]["causes"] == [{"message": f"{WHO}: {told}"}]


def test_what_holds_passes(ask: Asker) -> None:
    """Variables can refer to each other, and to namespaceObject, request and authorizer."""
    variables = [
        {"name": "n", "expression": "int(object.data.n)"},
        {"name": "more", "expression": "variables.n + 1"},
    ]
    expressions = [
        "variables.more == 6",
        "namespaceObject.metadata.name == 'default'",
        "request.operation == 'CREATE'",
        "authorizer.group('').resource('pods').check('get').allowed()",
    ]
    _bind(ask, _policy(variables=variables, validations=[{"expression": each} for each in expressions]))
    assert ask("POST", CONFIGMAPS, {"metadata": {"name": "a"}, "data": {"n": "5"}})[0] == 201
