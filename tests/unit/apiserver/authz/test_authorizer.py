"""The union of authorizers."""

from __future__ import annotations

from tests.unit.apiserver._user_webhooks import PODS, SELF, Reviewer, ask


async def test_authorizers_are_asked_in_order() -> None:
    """The first authorizer that allows or denies decides."""
    asked = Reviewer(authz=lambda _: {"allowed": False, "denied": True})
    assert (await ask(asked.server(authorization=("RBAC", "Webhook")), "POST", SELF, body={}))[0] == 201
    assert (await ask(asked.server(authorization=("Webhook", "RBAC")), "POST", SELF, body={}))[0] == 403
    assert (await ask(asked.server(authorization=("AlwaysAllow", "Webhook")), "GET", PODS))[0] == 200
