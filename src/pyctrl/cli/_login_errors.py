"""What to say when a cluster does not answer, or does not know who asks: which login that was, and what to do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pyctrl import _clock
from pyctrl.cli._credential import Credential, auth_info_of
from pyctrl.client import Config
from pyctrl.errors import CommandFailed, PyctrlError, TransportError, Unauthorized


async def explain_login_error(error: Unauthorized | TransportError, config: Config) -> CommandFailed:
    """Return what a user needs to know of a failure that has to do with the login."""
    if not isinstance(error, Unauthorized):
        return CommandFailed("\n".join([str(error), *_login(config)]))
    try:
        sent = (await auth_info_of(config)).credentials
    except PyctrlError as failed:  # it could be had a moment ago
        return CommandFailed("\n".join([_unknown(config), f"  sent: unknown now: {failed}", *_login(config)]))
    lines = [f"  sent: {credential}" for credential in sent] or ["  sent: nothing, no token and no certificate"]
    return CommandFailed("\n".join([_unknown(config), *lines, *_login(config), _advice(sent)]))


def _unknown(config: Config) -> str:
    return f"the API server at {config.server} does not know who this is (401 Unauthorized)"


def _login(config: Config) -> Iterator[str]:
    yield f"  login: {config.source}"
    for source, why in config.passed_over:
        yield f"  passed over: {source}: {why}"


def _advice(sent: Sequence[Credential]) -> str:
    if not sent:
        return "Name a user with credentials in the kubeconfig, or choose another context with --context."
    if any(each.expires_at and each.expires_at <= _clock.now() for each in sent):
        return "Log in again; for a service account: pyctrl token NAME, as somebody who may."
    if issuers := [each.issuer for each in sent if each.issuer]:
        return f"Was {' or '.join(issuers)} meant for this cluster, and is the account that it was for still there?"
    return "Is it of this cluster, and has nobody revoked it?"
