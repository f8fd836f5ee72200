"""Error classes of failed responses, and their attributes."""

from __future__ import annotations

import pytest

from pyctrl.errors import (
    AlreadyExists,
    ApiError,
    BadRequest,
    Cause,
    Conflict,
    Expired,
    Forbidden,
    Gone,
    InternalError,
    Invalid,
    NotFound,
    ServerTimeout,
    ServiceUnavailable,
    Timeout,
    TooManyRequests,
    error_from_status,
)


@pytest.mark.parametrize(
    ("reason", "code", "expected"),
    [
        ("AlreadyExists", 409, AlreadyExists),
        ("Conflict", 409, Conflict),
        ("", 409, Conflict),
        ("Expired", 410, Expired),
        ("Gone", 410, Gone),
        ("", 410, Gone),
        ("ServerTimeout", 500, ServerTimeout),
        ("", 500, InternalError),
        ("SomethingNew", 404, NotFound),
        ("", 599, InternalError),
        ("", 418, ApiError),
    ],
)
def test_the_class_is_chosen_by_reason_then_code_then_hundred(reason: str, code: int, expected: type) -> None:
    """The reason determines the class, then a known code; any other 5xx is an internal error."""
    error = error_from_status({"reason": reason, "message": "m"}, http_code=code, request="GET /x")
    assert type(error) is expected
    assert (error.code, error.reason, str(error)) == (code, reason, "m (GET /x)")


def test_an_error_made_by_hand_has_the_code_and_reason_of_its_class() -> None:
    """`NotFound("…")` has the code and reason of a server's error; Expired is a 410, as Gone is."""
    found = [(error.code, error.reason) for error in (NotFound("m"), Gone("m"), Expired("m"), ApiError("m"))]
    assert found == [(404, "NotFound"), (410, "Gone"), (410, "Expired"), (0, "")]


def test_a_class_of_ones_own_is_as_the_class_above() -> None:
    """A user's subclass inherits code, reason and retries, and responses never become it."""

    class Stale(Conflict):
        pass

    assert (Stale("m").code, Stale("m").reason, Stale.may_retry) == (409, "Conflict", True)
    assert type(error_from_status({"reason": "Conflict"}, http_code=409)) is Conflict


def test_what_may_be_retried() -> None:
    """Conflicts, throttling and server failures are retriable, other errors are not."""
    helps = (Conflict, TooManyRequests, InternalError, ServerTimeout, ServiceUnavailable, Timeout)
    useless = (ApiError, BadRequest, NotFound, AlreadyExists, Gone, Expired, Forbidden, Invalid)
    assert [cls.may_retry for cls in helps] == [True] * len(helps)
    assert [cls.may_retry for cls in useless] == [False] * len(useless)


def test_forbidden_says_what_is_missing() -> None:
    """User, verb, resource and scope are parsed from the server's message; from another message they are empty."""
    sentence = (
        'pods is forbidden: User "jane" cannot list resource "deployments/scale" in API group "apps" '
        'in the namespace "shop"'
    )
    error = Forbidden(sentence)
    found = (error.user, error.verb, error.resource, error.api_group, error.namespace)
    assert found == ("jane", "list", "deployments/scale", "apps", "shop")
    assert (Forbidden("exceeded quota").verb, Forbidden("exceeded quota").namespace) == ("", "")


def test_details_are_read_with_care() -> None:
    """Causes and Retry-After come from the details; the header takes precedence, and invalid bodies do no harm."""
    details = {"retryAfterSeconds": 3, "causes": [{"reason": "R", "message": "m", "field": "spec"}]}
    error = error_from_status({"details": details}, http_code=422)
    assert (type(error), error.message, error.retry_after) == (Invalid, "the server answered 422", 3)
    assert error.causes == (Cause(reason="R", message="m", field="spec"),)
    assert error_from_status({"details": details}, http_code=429, retry_after=1.0).retry_after == 1.0
    strange = error_from_status({"details": "none"}, http_code=400)
    assert (dict(strange.details), strange.causes) == ({}, ())
