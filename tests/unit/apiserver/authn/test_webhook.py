"""Webhook token authenticator."""

from __future__ import annotations

import pytest

from tests.unit.apiserver._user_webhooks import SELF, Reviewer, Status, ask


@pytest.mark.parametrize(
    ("status", "code"),
    [
        ({"authenticated": False}, 401),
        ({"authenticated": False, "error": "no such badge"}, 401),
        ({"authenticated": True, "user": {"username": "jane"}, "audiences": ["others"]}, 401),
        ({"authenticated": True, "user": {"username": "jane"}}, 201),
    ],
)
async def test_who_is_let_in(status: Status, code: int) -> None:
    """A user that the webhook authenticates, if the token is for this server."""
    assert (await ask(Reviewer(authn=lambda _: status).server(), "POST", SELF, body={}))[0] == code


async def test_an_authenticator_that_fails_knows_nobody() -> None:
    """A failure is a 401 and not cached; a TokenReview returns the error."""
    asked = Reviewer(code=503)
    server = asked.server(authorization_webhook=None)
    assert (await ask(server, "POST", SELF, body={}))[0] == 401
    _, review = await ask(
        server,
        "POST",
        "/apis/authentication.k8s.io/v1/tokenreviews",
        token=server.loopback_token,
        body={"spec": {"token": "jane"}},
    )
    error = "[invalid bearer token, the server is currently unable to handle the request]"
    assert review["status"] == {"user": {}, "error": error}
    asked.code = 200
    assert (await ask(server, "POST", SELF, body={}))[0] == 201
