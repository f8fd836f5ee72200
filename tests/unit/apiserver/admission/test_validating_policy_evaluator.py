"""Messages, reasons and annotations of a ValidatingAdmissionPolicy."""

from __future__ import annotations

from tests.unit.apiserver._kit import CONFIGMAPS, Asker
from tests.unit.apiserver.admission._policies import bind_validating

BODY = {"metadata": {"name": "a"}, "data": {"n": "5"}}


def test_a_message_with_a_line_break_is_replaced(ask: Asker) -> None:
    """The message of the validation is used instead."""
    bind_validating(ask, validations=[{"expression": "false", "message": "no", "messageExpression": "'a\\nb'"}])
    assert ask("POST", CONFIGMAPS, BODY)[1]["message"].endswith("denied request: no")


def test_an_annotation_that_fails_denies_the_write(ask: Asker) -> None:
    """With failurePolicy Fail, whatever the actions of the binding are."""
    annotations = [{"key": "k", "valueExpression": "string(object.nix)"}]
    bind_validating(ask, auditAnnotations=annotations, binding={"validationActions": ["Audit"]})
    code, status = ask("POST", CONFIGMAPS, BODY)
    assert code == 422
    assert status["message"].endswith(
        "denied request: expression 'string(object.nix)' resulted in error: no such key: nix"
    )


def test_a_paramkind_that_is_not_served_denies_the_write(ask: Asker) -> None:
    """The message does not name a binding."""
    bind_validating(ask, paramKind={"apiVersion": "e.x/v1", "kind": "Nix"}, validations=[{"expression": "true"}])
    why = "failed to configure policy: failed to find resource referenced by paramKind: 'e.x/v1, Kind=Nix'"
    message = ask("POST", CONFIGMAPS, BODY)[1]["message"]
    assert message == f"configmaps \"a\" is forbidden: ValidatingAdmissionPolicy 'p' denied request: {why}"


def test_an_expression_that_fails_denies_the_write(ask: Asker) -> None:
    """With failurePolicy Fail, an error of a validation denies like a false one."""
    bind_validating(ask, validations=[{"expression": "object.data.absent == '1'"}])
    code, status = ask("POST", CONFIGMAPS, BODY)
    why = "expression 'object.data.absent == '1'' resulted in error: no such key: absent"
    assert (code, status["message"].endswith(f"denied request: {why}")) == (422, True)


def test_a_message_does_not_see_the_authorizer(ask: Asker) -> None:
    """As in a cluster, a messageExpression with a variable that needs the authorizer fails: the message is used."""
    variables = [{"name": "v", "expression": "string(authorizer.group('').resource('pods').check('get').allowed())"}]
    validations = [{"expression": "false", "message": "plain", "messageExpression": "'v is ' + variables.v"}]
    bind_validating(ask, variables=variables, validations=validations)
    assert ask("POST", CONFIGMAPS, BODY)[1]["message"].endswith("denied request: plain")
