"""ValidatingAdmissionPolicies: denials and their messages, as of a kube-apiserver 1.36."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest

from pyctrl.apiserver import ApiServer, AuditLog
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


def test_a_namespace_that_does_not_exist_is_an_error_of_the_policy() -> None:
    """The namespaceSelector of a policy cannot be evaluated then, and the failurePolicy decides."""
    server = ApiServer(random=Random(7), disable_admission_plugins=["NamespaceLifecycle"])
    ask = Asker(server)
    constraints = {"resourceRules": [RULE], "namespaceSelector": {"matchLabels": {"a": "b"}}}
    _bind(ask, _policy(validations=[{"expression": "true"}], matchConstraints=constraints))
    code, refused = ask("POST", "/api/v1/namespaces/nix/configmaps", {"metadata": {"name": "a"}})
    why = 'failed to configure policy: namespaces "nix" not found'
    assert (code, refused["message"]) == (
        422,
        f"configmaps \"a\" is forbidden: ValidatingAdmissionPolicy 'p' denied request: {why}",
    )


def test_a_denied_write_has_annotations_and_failures_in_the_audit_log() -> None:
    """The audit event of a denial has the annotations of all policies, and with the action Audit the failure."""
    lines: list[bytes] = []
    ask = Asker(ApiServer(random=Random(7), audit=AuditLog(lines.append, random=Random(1))))
    annotations = [{"key": "size", "valueExpression": "'n=' + string(object.data.size())"}]
    validations = [{"expression": "false", "message": "no"}]
    _bind(ask, _policy(validations=validations, auditAnnotations=annotations), validationActions=["Deny", "Audit"])
    lines.clear()
    assert ask("POST", CONFIGMAPS, {"metadata": {"name": "a"}, "data": {"k": "v"}})[0] == 422
    (event,) = map(json.loads, lines)
    assert event["annotations"]["p/size"] == "n=1"
    (failure,) = json.loads(event["annotations"]["validation.policy.admission.k8s.io/validation_failure"])
    assert failure == {
        "message": "no",
        "policy": "p",
        "binding": "b",
        "expressionIndex": 0,
        "validationActions": ["Deny", "Audit"],
    }
