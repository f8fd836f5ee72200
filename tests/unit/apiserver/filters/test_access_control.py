"""Access control: order and modes of authorizers."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.apiserver._user_webhooks import Reviewer


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
