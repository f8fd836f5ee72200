"""Credentials from an OpenID Connect provider: ``auth-provider: {name: oidc}`` of a kubeconfig.

kubernetes_asyncio's implementation is not used. In 36.1, without an authority for the provider it turns verification
off and sends the client secret and the refresh token to any server; with one it raises TypeError; and it rejects a
response without a new refresh token, which OAuth allows. A patch of its connector would silently stop working in a
release that renames it.
"""

from __future__ import annotations

import asyncio
import base64
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote_plus

import aiohttp

from pyctrl import _clock
from pyctrl.client._login.credentials import basic_authorization, checked_token
from pyctrl.client._login.proxy import proxy_from_environment
from pyctrl.client._login.single_flight import SingleFlight
from pyctrl.client._login.tls import Tls
from pyctrl.errors import ConfigError

__all__ = ["OidcCredentials", "OidcProvider"]

log = logging.getLogger("pyctrl.client")

RENEW_BEFORE = timedelta(seconds=30)  # as for exec plugins
PROVIDER_SECONDS = 30.0  # for both requests together


@dataclass(frozen=True, slots=True, kw_only=True)
class OidcProvider:
    """The issuer of the tokens, and the OAuth client."""

    issuer: str
    client_id: str
    client_secret: str = field(default="", repr=False)
    tls: Tls = field(default_factory=Tls)
    origin: str = "the OpenID Connect provider"


class OidcCredentials:
    """An ID token, renewed with its refresh token before it expires and after a 401.

    The kubeconfig is not rewritten. So if the provider replaces refresh tokens, the one in the file becomes invalid for
    the next start; a warning is logged.
    """

    def __init__(
        self,
        provider: OidcProvider,
        *,
        id_token: str = "",
        refresh_token: str = "",
        entry: Mapping[str, Any] | None = None,
    ) -> None:
        self._provider = provider
        self._entry = entry
        self._id_token = id_token
        self._refresh_token = refresh_token
        self._expires_at = _expiry(id_token, provider.origin) if id_token else None
        self._flight = SingleFlight()

    async def authorization(self) -> str:
        """Return the Bearer header with an ID token that has not expired."""
        if not self._id_token or self._is_due():
            await self._flight.run(self._renew)
        return f"Bearer {self._id_token}"

    async def refresh(self, rejected: str | None = None) -> bool:
        """Request a new token from the provider. Return False if there is no refresh token."""
        if rejected is not None and rejected != f"Bearer {self._id_token}":
            return True
        if not self._refresh_token:
            return False
        before = self._id_token
        await self._flight.run(self._renew)
        return self._id_token != before

    def to_kubeconfig_user(self) -> dict[str, Any]:
        """Return the user with its provider as read from the kubeconfig."""
        if self._entry is None:
            raise ConfigError(f"{self._provider.origin} was not read from a kubeconfig, so it cannot be written to one")
        return {"auth-provider": dict(self._entry)}

    def __str__(self) -> str:
        return f"the ID token of {self._provider.issuer} ({self._provider.origin})"

    def __repr__(self) -> str:
        return f"OidcCredentials({self._provider.issuer!r})"

    def _is_due(self) -> bool:
        return self._expires_at is not None and _clock.now() >= self._expires_at - RENEW_BEFORE

    async def _renew(self) -> None:
        origin = self._provider.origin
        if not self._refresh_token:
            raise ConfigError(f"{origin}: the id-token has expired and there is no refresh-token: log in again")
        tokens = await _refresh(self._provider, self._refresh_token)
        if not tokens.get("id_token"):
            raise ConfigError(f"{origin}: {self._provider.issuer} returned no id_token; is the scope 'openid' granted?")
        self._id_token = checked_token(str(tokens["id_token"]), f"the id_token of {origin}")
        self._expires_at = _expiry(self._id_token, origin)
        self._keep_refresh_token(str(tokens.get("refresh_token") or self._refresh_token))

    def _keep_refresh_token(self, token: str) -> None:
        if token != self._refresh_token:
            log.warning(
                "Refresh token replaced, but not in the kubeconfig; log in again before the next start",
                extra={"issuer": self._provider.issuer},
            )
        self._refresh_token = token


async def _refresh(provider: OidcProvider, refresh_token: str) -> dict[str, Any]:
    """Exchange the refresh token for new tokens (OAuth 2, section 6)."""
    context = await asyncio.to_thread(provider.tls.build)
    headers, form = _client_authentication(provider)
    form |= {"grant_type": "refresh_token", "refresh_token": refresh_token}
    try:
        async with (
            asyncio.timeout(PROVIDER_SECONDS),
            aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=context), raise_for_status=True) as session,
        ):
            endpoint = await _token_endpoint(session, provider)
            proxy = proxy_from_environment(endpoint)
            async with session.post(endpoint, data=form, headers=headers, proxy=proxy) as answer:
                return _object(await answer.json(content_type=None), provider)
    except (aiohttp.ClientError, TimeoutError, ValueError) as error:
        reason = str(error) or type(error).__name__
        raise ConfigError(f"{provider.origin}: {provider.issuer} returned no new token: {reason}") from error


def _client_authentication(provider: OidcProvider) -> tuple[dict[str, str], dict[str, str]]:
    """Return the header or, without a secret, the form field that identifies the client (section 2.3.1)."""
    if not provider.client_secret:
        return {}, {"client_id": provider.client_id}
    pair = quote_plus(provider.client_id), quote_plus(provider.client_secret)
    return {"Authorization": basic_authorization(*pair)}, {}


async def _token_endpoint(session: aiohttp.ClientSession, provider: OidcProvider) -> str:
    url = f"{provider.issuer.rstrip('/')}/.well-known/openid-configuration"
    async with session.get(url, proxy=proxy_from_environment(url)) as answer:
        metadata = _object(await answer.json(content_type=None), provider)
    endpoint = metadata.get("token_endpoint")
    if not isinstance(endpoint, str):
        raise ConfigError(f"{provider.origin}: {url} has no token_endpoint")
    return endpoint


def _object(answer: object, provider: OidcProvider) -> dict[str, Any]:
    if not isinstance(answer, dict):
        raise ConfigError(f"{provider.origin}: the response of {provider.issuer} is not a JSON object")
    return answer


def _expiry(token: str, origin: str) -> datetime | None:
    """Return the expiry of a JSON Web Token. The token is not verified: the API server does that."""
    parts = token.split(".")
    if len(parts) != 3:
        raise ConfigError(f"{origin}: the id-token is not a JSON Web Token, which has three parts separated by dots")
    try:
        claims = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
        expires = claims.get("exp")
        return None if expires is None else datetime.fromtimestamp(float(expires), UTC)
    except (ValueError, TypeError, AttributeError, OverflowError) as error:
        raise ConfigError(f"{origin}: the claims of the id-token do not parse") from error
