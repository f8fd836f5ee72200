"""Access control: order and modes of authorizers."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.apiserver._user_webhooks import PODS, SELF, Reviewer, ask


async def test_authorizers_are_asked_in_order() -> None:
    """The first authorizer that allows or denies decides."""
    asked = Reviewer(authz=lambda _: {"allowed": False, "denied": True})
    assert (await ask(asked.server(authorization=("RBAC", "Webhook")), "POST", SELF, body={}))[0] == 201
    assert (await ask(asked.server(authorization=("Webhook", "RBAC")), "POST", SELF, body={}))[0] == 403
    assert (await ask(asked.server(authorization=("AlwaysAllow", "Webhook")), "GET", PODS))[0] == 200


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"authorization": "RBAC"}, "an authorization webhook needs Webhook"),
        ({"authorization": "Webhook", "authorization_webhook": None}, "no authorization webhook is set"),
        ({"authorization": ("RBAC", "RBAC")}, "each once; got RBAC, RBAC"),
        ({"authorization": ()}, "got none"),
    ],
)
def test_modes_have_to_fit(options: dict[str, Any], said: str) -> None:
    """A mode without its webhook, a webhook without its mode, and a repeated mode are errors."""
    with pytest.raises(ValueError, match=said):
        Reviewer().server(**options)
