"""Flags of `pyctrl apiserver` for authentication and authorization webhooks, as in kube-apiserver."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Group, Parameter, Token

from pyctrl.cli._durations import duration
from pyctrl.cli._webhook_kubeconfig import webhook_target

if TYPE_CHECKING:
    from pyctrl.apiserver import AuthenticationWebhook, AuthorizationWebhook

__all__ = ["WebhookFlags", "modes", "plugin_names"]

WEBHOOKS = Group("Authentication and authorization webhooks", sort_key=2.5)
MODES = ("Node", "RBAC", "AlwaysAllow", "Webhook")

_File = Annotated[Path | None, Parameter(group=WEBHOOKS, metavar="FILE")]
_Version = Annotated[Literal["v1", "v1beta1"], Parameter(group=WEBHOOKS, metavar="VERSION")]
_Duration = Annotated[timedelta, Parameter(group=WEBHOOKS, metavar="DURATION", converter=duration)]


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookFlags:
    """Webhooks for authentication and authorization, and how long their answers are cached."""

    authentication_token_webhook_config_file: _File = None
    """The kubeconfig of a webhook that reviews tokens the server does not know."""
    authentication_token_webhook_version: _Version = "v1beta1"
    """The version of its TokenReviews."""
    authentication_token_webhook_cache_ttl: _Duration = timedelta(minutes=2)
    """How long to cache its answers."""
    authorization_webhook_config_file: _File = None
    """The kubeconfig of a webhook that authorizes requests, for `--authorization-mode Webhook`."""
    authorization_webhook_version: _Version = "v1beta1"
    """The version of its SubjectAccessReviews."""
    authorization_webhook_cache_authorized_ttl: _Duration = timedelta(minutes=5)
    """How long to cache that a request is allowed."""
    authorization_webhook_cache_unauthorized_ttl: _Duration = timedelta(seconds=30)
    """How long to cache that a request is denied."""

    def authentication(self) -> AuthenticationWebhook | None:
        """Return the authentication webhook.

        Raises:
            CommandFailed: the file is not a kubeconfig of a webhook.
        """
        from pyctrl.apiserver import AuthenticationWebhook  # here: help and completion need none of it

        if self.authentication_token_webhook_config_file is None:
            return None
        url, ca = webhook_target(
            "--authentication-token-webhook-config-file", self.authentication_token_webhook_config_file
        )
        return AuthenticationWebhook(
            url=url,
            ca=ca,
            version=self.authentication_token_webhook_version,
            cache=self.authentication_token_webhook_cache_ttl,
        )

    def authorization(self) -> AuthorizationWebhook | None:
        """Return the authorization webhook.

        Raises:
            CommandFailed: the file is not a kubeconfig of a webhook.
        """
        from pyctrl.apiserver import AuthorizationWebhook  # here: see authentication

        if self.authorization_webhook_config_file is None:
            return None
        url, ca = webhook_target("--authorization-webhook-config-file", self.authorization_webhook_config_file)
        return AuthorizationWebhook(
            url=url,
            ca=ca,
            version=self.authorization_webhook_version,
            authorized_cache=self.authorization_webhook_cache_authorized_ttl,
            unauthorized_cache=self.authorization_webhook_cache_unauthorized_ttl,
        )


def modes(kind: Any, tokens: Sequence[Token]) -> tuple[str, ...]:
    """Parse ``--authorization-mode``: modes separated by commas. For `Parameter(converter=…)`."""
    found = tuple(mode.strip() for mode in tokens[0].value.split(","))
    for mode in found:
        if mode not in MODES:
            raise ValueError(f"{mode!r} is not one of {', '.join(MODES)}")
    return found


def plugin_names(kind: Any, tokens: Sequence[Token]) -> tuple[str, ...]:
    """Parse names separated by commas, from each use of a flag. For `Parameter(converter=…)`."""
    return tuple(name.strip() for token in tokens for name in token.value.split(",") if name.strip())
