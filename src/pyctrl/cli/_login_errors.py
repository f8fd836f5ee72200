"""Error messages for a cluster that does not answer or rejects the login, with the login and a remedy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pyctrl import _clock
from pyctrl.cli._credential import Credential, auth_info_of
from pyctrl.client import Config
from pyctrl.errors import CommandFailed, PyctrlError, TransportError, Unauthorized

__all__ = ["explain_login_error"]


async def explain_login_error(error: Unauthorized | TransportError, config: Config) -> CommandFailed:
    """Return the error for users: the failure, the login, and what to do."""
    if not isinstance(error, Unauthorized):
        return CommandFailed("\n".join([str(error), *_login(config)]))
    try:
        sent = (await auth_info_of(config)).credentials
    except PyctrlError as failed:  # it was available for the request
        return CommandFailed("\n".join([_unknown(config), f"  sent: unknown: {failed}", *_login(config)]))
    lines = [f"  sent: {credential}" for credential in sent] or ["  sent: no token and no certificate"]
    return CommandFailed("\n".join([_unknown(config), *lines, *_login(config), _advice(sent)]))


def _unknown(config: Config) -> str:
    return f"the API server at {config.server} rejected the credentials (401 Unauthorized)"


def _login(config: Config) -> Iterator[str]:
    yield f"  login: {config.source}"
    for source, why in config.passed_over:
        yield f"  skipped: {source}: {why}"


def _advice(sent: Sequence[Credential]) -> str:
    if not sent:
        return "Name a user with credentials in the kubeconfig, or choose another context with --context."
    if any(each.expires_at and each.expires_at <= _clock.now() for each in sent):
        return "Log in again; for a service account: pyctrl token NAME, as a user with the permission."
    if issuers := [each.issuer for each in sent if each.issuer]:
        return f"Check that {' or '.join(issuers)} is for this cluster, and that its account still exists."
    return "Check that the credentials are for this cluster and were not revoked."
