"""Error classes of failed responses, and their attributes."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest
from kubernetes_asyncio.client import ApiException
from kubernetes_asyncio.client.exceptions import NotFoundException

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
    from_api_exception,
    is_api_exception,
    to_api_exception,
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


# --- kubernetes_asyncio ---------------------------------------------------------------------------------------------


def api_exception(status: int, body: object = None, **headers: str) -> ApiException:
    """Return an exception as the library raises it."""
    error: Any = ApiException(status=status, reason="Phrase")
    error.body = json.dumps(body) if isinstance(body, dict) else body
    error.headers = headers or None
    return cast(ApiException, error)


@pytest.mark.parametrize("as_bytes", [False, True])
def test_an_api_exception_has_the_class_of_its_reason(as_bytes: bool) -> None:
    """The Status in the body decides the class; Retry-After and details are kept, and the exception is the cause."""
    status = {
        "kind": "Status",
        "code": 409,
        "reason": "AlreadyExists",
        "message": "taken",
        "details": {"name": "a", "kind": "pods"},
    }
    error = api_exception(409, status, **{"Retry-After": "3"})
    if as_bytes:
        error.body = json.dumps(status).encode()
    found = from_api_exception(error)
    assert isinstance(found, AlreadyExists)
    assert (found.code, found.message, found.retry_after) == (409, "taken", 3)
    assert found.details["name"] == "a"
    assert found.__cause__ is error


@pytest.mark.parametrize(
    ("error", "expected", "text"),
    [
        (api_exception(404), NotFound, "the server answered 404: Phrase"),
        (api_exception(503, "<html>"), ServiceUnavailable, "the server answered 503: Phrase"),
        (api_exception(0), ApiError, "the server answered 0: Phrase"),
        (api_exception(409, {"no": "Status"}), Conflict, "the server answered 409: Phrase"),
    ],
)
def test_an_api_exception_without_a_status(error: ApiException, expected: type[ApiError], text: str) -> None:
    """Without a Status the code decides, as for an answer of a proxy."""
    found = from_api_exception(error)
    assert type(found) is expected
    assert str(found) == text


def test_other_exceptions_are_no_api_exceptions() -> None:
    """Subclasses are ApiExceptions, as those of the dynamic client; other exceptions are not."""
    assert is_api_exception(NotFoundException(status=404))
    assert not is_api_exception(NotFound("no"))
    with pytest.raises(TypeError, match="expected an ApiException of kubernetes_asyncio, got ValueError"):
        from_api_exception(ValueError("no"))


def test_an_error_becomes_an_api_exception_and_back() -> None:
    """Status, reason, body and headers are those that the library's client would have set."""
    error = TooManyRequests("slow down", retry_after=3)
    theirs = to_api_exception(error)
    assert (theirs.status, theirs.reason, theirs.__cause__) == (429, "Too Many Requests", error)
    back = from_api_exception(theirs)
    assert (type(back), back.message, back.retry_after) == (TooManyRequests, "slow down", 3)
    assert to_api_exception(ApiError("odd", code=299, reason="Odd")).reason == "Odd"
