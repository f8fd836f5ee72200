"""ServiceAccounts and their tokens."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver._registry.serviceaccounts import MAX_SECONDS
from tests.unit.apiserver._kit import Asker

ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"
TOKEN = f"{ACCOUNTS}/robot/token"


@pytest.fixture
def ask() -> Asker:
    """A server with the service account robot."""
    ask = Asker()
    assert ask("POST", ACCOUNTS, {"metadata": {"name": "robot"}})[0] == 201
    return ask


def test_a_token_request_is_answered_with_a_token_of_one_hour(ask: Asker) -> None:
    """A token request without a lifetime gets a signed token for one hour and the name of the account."""
    code, made = ask("POST", TOKEN, {"spec": {}})
    assert (code, made["kind"], made["metadata"]["name"]) == (201, "TokenRequest", "robot")
    assert made["spec"]["expirationSeconds"] == 3600
    assert made["status"]["token"].count(".") == 2


@pytest.mark.parametrize(("seconds", "code"), [(599, 422), (600, 201), (MAX_SECONDS, 201), (MAX_SECONDS + 1, 422)])
def test_lifetimes_are_limited(ask: Asker, seconds: int, code: int) -> None:
    """A token is valid for ten minutes at least and 2^32 seconds at most."""
    assert ask("POST", TOKEN, {"spec": {"expirationSeconds": seconds}})[0] == code


@pytest.mark.parametrize(
    ("reference", "code", "message"),
    [
        ({"kind": "ConfigMap", "apiVersion": "v1", "name": "a"}, 400, "cannot bind token to object of type /v1, Kind"),
        ({"kind": "Secret", "apiVersion": "v1"}, 400, "Name parameter required."),
        ({"kind": "Pod", "apiVersion": "v1", "name": "absent"}, 404, 'pods "absent" not found'),
    ],
)
def test_a_token_is_bound_only_to_an_object_that_exists(
    ask: Asker, reference: dict[str, Any], code: int, message: str
) -> None:
    """A token request for an object that is absent, or of a kind that tokens cannot be bound to, is refused."""
    answered, status = ask("POST", TOKEN, {"spec": {"boundObjectRef": reference}})
    assert answered == code
    assert status["message"].startswith(message)


def test_the_name_of_a_token_request_is_that_of_the_account(ask: Asker) -> None:
    """A token request that names another account is refused."""
    code, status = ask("POST", TOKEN, {"metadata": {"name": "other"}, "spec": {}})
    assert code == 422
    assert [cause["field"] for cause in status["details"]["causes"]] == ["metadata.name"]
