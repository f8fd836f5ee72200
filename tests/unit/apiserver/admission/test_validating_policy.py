"""ValidatingAdmissionPolicies: denials and their messages, as of a kube-apiserver 1.36."""

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


@pytest.mark.parametrize(
    "spec",
    [
        {"failurePolicy": "Ignore", "validations": [{"expression": "object.data.x == ''"}]},
        {
            "matchConditions": [{"name": "c", "expression": "object.metadata.name == 'other'"}],
            "validations": [{"expression": "false"}],
        },
    ],
)
def test_a_policy_that_may_fail_or_is_not_meant_lets_pass(ask: Asker, spec: dict[str, Any]) -> None:
    """With failurePolicy Ignore, errors are ignored. Match conditions exclude writes."""
    _bind(ask, _policy(**spec))
    assert ask("POST", CONFIGMAPS, {"metadata": {"name": "a"}})[0] == 201


def test_a_warning_is_not_a_refusal(ask: Asker) -> None:
    """With the action Warn the response has a warning header, and the write succeeds."""
    _bind(ask, _policy(validations=[{"expression": "false", "message": "no"}]), validationActions=["Warn", "Audit"])
    answer = ask.answer("POST", CONFIGMAPS, {"metadata": {"name": "a"}})
    assert answer.status == 201
    told = "Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': no"
    assert ("Warning", f'299 - "{told}"') in answer.headers


def test_parameters_come_from_an_object(ask: Asker) -> None:
    """A binding refers to the parameters; parameterNotFoundAction decides if they do not exist."""
    ask.make("limits", data={"max": "4"})
    policy = _policy(
        paramKind={"apiVersion": "v1", "kind": "ConfigMap"},
        validations=[{"expression": "int(object.data.n) <= int(params.data.max)", "message": "too many"}],
    )
    _bind(ask, policy, paramRef={"name": "limits", "namespace": "default", "parameterNotFoundAction": "Deny"})
    body = {"metadata": {"name": "a"}, "data": {"n": "5"}}
    assert ask("POST", CONFIGMAPS, body)[1]["message"].endswith(f"{WHO}: too many")
    policies = f"{ADMISSION}/validatingadmissionpolicies/p"
    assert ask("POST", CONFIGMAPS, {**body, "data": {"n": "4"}})[0] == 201
    assert ask("DELETE", policies)[0] == 200
    assert ask("DELETE", f"{CONFIGMAPS}/a")[0] == 200


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
