"""Tests of the errors of the API server: their codes, messages and `Status` objects."""

from __future__ import annotations

import json

from pyctrl.apiserver._errors import (
    UndecodableBody,
    conflict,
    forbidden,
    invalid,
    invalid_value,
    not_found,
    not_supported,
    required,
    too_long,
)


def test_an_error_names_the_resource_with_its_group() -> None:
    """An error about an object of a named group has the group in its message and in its details."""
    refused = not_found("deployments", "web", "apps")
    assert refused.code == 404
    assert refused.status == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": 'deployments.apps "web" not found',
        "reason": "NotFound",
        "details": {"name": "web", "group": "apps", "kind": "deployments"},
        "code": 404,
    }
    assert str(conflict("configmaps", "a", why="busy")) == 'Operation cannot be fulfilled on configmaps "a": busy'


def test_an_invalid_object_has_equal_errors_once_in_its_message() -> None:
    """The message of an invalid object has equal errors once, while the causes have each of them."""
    cause = required("spec.name")
    refused = invalid("Widget", "a", [cause, cause], "example.com")
    assert str(refused) == 'Widget.example.com "a" is invalid: spec.name: Required value'
    causes = refused.status["details"]["causes"]
    assert causes == [{"reason": "FieldValueRequired", "message": "Required value", "field": "spec.name"}] * 2


def test_a_field_error_is_written_as_apimachinery_writes_it() -> None:
    """The message of a field error has the wording of apimachinery, with quoted strings and right plurals."""
    assert invalid_value("spec.port", 0, "must be positive").message == "Invalid value: 0: must be positive"
    unsupported = not_supported("type", "Other", ("B", "A"))
    assert unsupported.message == 'Unsupported value: "Other": supported values: "B", "A"'
    assert too_long("name", 1).message == "Too long: may not be more than 1 byte"
    assert too_long("name", 2).message == "Too long: may not be more than 2 bytes"


def test_forbidden_leaves_out_an_unknown_name() -> None:
    """A forbidden request without a name, as a list is, has only the resource in its message."""
    assert str(forbidden("pods", "", "no access")) == "pods is forbidden: no access"
    assert str(forbidden("pods", "a", "no access")) == 'pods "a" is forbidden: no access'


def test_the_response_of_an_error_has_its_status_and_headers() -> None:
    """The response to a refused request is the `Status` in JSON, with the code and the added headers."""
    refused = UndecodableBody("Pod", "v1", "unexpected end")
    response = refused.response([("Audit-Id", "x")])
    assert response.status == 400
    assert response.headers == (("Content-Type", "application/json"), ("Audit-Id", "x"))
    assert isinstance(response.body, bytes)
    message = 'Pod in version "v1" cannot be handled as a Pod: unexpected end'
    assert json.loads(response.body)["message"] == message
