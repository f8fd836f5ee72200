"""Token of a service account, renewed as kubelet renews projected tokens."""

from __future__ import annotations

import asyncio
import logging
from datetime import datetime, timedelta
from typing import Any

from pyctrl import _clock
from pyctrl.api import Key
from pyctrl.client import Client, Config
from pyctrl.errors import PyctrlError
from pyctrl.kinds.authentication.v1 import TokenRequest, TokenRequestSpec
from pyctrl.kinds.core.v1 import ServiceAccount

__all__ = ["AccountToken"]

log = logging.getLogger("pyctrl.testing")

RENEWED_AT = 0.8  # of its lifetime, as kubelet does


class AccountToken:
    """Credentials with a service account's token of one hour, which is renewed before it expires.

    Args:
        admin: the login that requests the tokens.
        account: the service account.
    """

    def __init__(self, admin: Config, account: Key) -> None:
        self._admin = admin
        self._account = account
        self._token = ""
        self._renew_at: datetime | None = None
        self._expires_at: datetime | None = None
        self._renewing = asyncio.Lock()

    async def authorization(self) -> str:
        """Return the Bearer header, with a new token after 80 % of the current one's lifetime."""
        async with self._renewing:  # one of many callers renews it
            if self._renew_at is None or _clock.now() >= self._renew_at:
                await self._renew()
        return f"Bearer {self._token}"

    async def refresh(self, rejected: str | None = None) -> bool:
        """Request a new token unless another caller has done so; a recreated account needs one."""
        async with self._renewing:
            if rejected in (None, f"Bearer {self._token}"):
                before = self._token
                await self._renew()
                return self._token != before
        return True

    def to_kubeconfig_user(self) -> dict[str, Any]:
        """Return the user with the current token."""
        return {"token": self._token}

    def __str__(self) -> str:
        return f"a token for service account {self._account}"

    async def _renew(self) -> None:
        """Request a token. If that fails, keep the current one until it expires."""
        try:
            await self._request()
        except PyctrlError as error:
            if self._expires_at is None or _clock.now() >= self._expires_at:
                raise
            log.warning("Token renewal failed, keeping the current token", extra={"error": str(error)})

    async def _request(self) -> None:
        async with Client.connect(self._admin) as client:
            wanted = TokenRequest(spec=TokenRequestSpec(audiences=[]))
            made = await client.subresource("token").create(ServiceAccount, self._account, wanted, answer=TokenRequest)
        now, self._token = _clock.now(), made.status.token
        self._expires_at = made.status.expiration_timestamp or now + timedelta(hours=1)
        self._renew_at = now + (self._expires_at - now) * RENEWED_AT
