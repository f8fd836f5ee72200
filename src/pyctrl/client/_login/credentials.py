"""Credentials: the Authorization header and its renewal.

The transport calls `Credentials.authorization` before each request, so it must be cheap, and `Credentials.refresh` once
after a 401. Exec plugins are in `exec.py`, OpenID Connect is in `oidc.py`.
"""

from __future__ import annotations

import asyncio
import base64
import logging
import os
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from pyctrl.errors import ConfigError

__all__ = [
    "Anonymous",
    "BasicAuth",
    "BearerToken",
    "Credentials",
    "StorableCredentials",
    "TokenFile",
    "basic_authorization",
    "checked_token",
    "read_token",
]

log = logging.getLogger("pyctrl.client")

REREAD_SECONDS = (
    60.0  # of loop time; kubelet renews a projected token at 80 % of its life, which is 10 minutes at least
)


@runtime_checkable
class Credentials(Protocol):
    """Authentication to an API server. Implement it for a kind of login that pyctrl lacks.

    Many tasks call both methods concurrently, so share slow work among them. A class with
    ``async def certificate(self) -> ClientCertificate | None`` also provides the client certificate. ``str()`` of
    credentials describes them and their source without showing a secret.
    """

    async def authorization(self) -> str | None:
        """Return the value of the Authorization header, renewed if it is about to expire; None for no header.

        Raises:
            ConfigError: the credentials cannot be obtained; the message has the source and the reason.
        """
        ...

    async def refresh(self, rejected: str | None = None) -> bool:
        """Renew the credentials after a 401. Return True if the request should be sent again.

        Args:
            rejected: the rejected header. If it is no longer the current one, another task has renewed it: return True
                at once.
        """
        ...


@runtime_checkable
class StorableCredentials(Protocol):
    """Credentials that can be written to a kubeconfig."""

    def to_kubeconfig_user(self) -> dict[str, Any]:
        """Return the entries of ``user``, secrets included."""
        ...


class Anonymous:
    """No Authorization header: an anonymous user, or the user of the client certificate."""

    async def authorization(self) -> None:
        """Return None: no header."""

    async def refresh(self, rejected: str | None = None) -> bool:
        """Return False: there is nothing to renew."""
        return False

    def to_kubeconfig_user(self) -> dict[str, Any]:
        """Return an empty user."""
        return {}

    def __str__(self) -> str:
        return "no token and no password"

    def __repr__(self) -> str:
        return "Anonymous()"


class BearerToken:
    """A fixed token. Use `TokenFile` for a token that is renewed on disk."""

    def __init__(self, token: str, *, origin: str = "the token") -> None:
        self._token = checked_token(token, origin)
        self._origin = origin

    async def authorization(self) -> str:
        """Return the Bearer header."""
        return f"Bearer {self._token}"

    async def refresh(self, rejected: str | None = None) -> bool:
        """Return False: there is nothing to renew."""
        return False

    def to_kubeconfig_user(self) -> dict[str, Any]:
        """Return the user with its token."""
        return {"token": self._token}

    def __str__(self) -> str:
        return self._origin

    def __repr__(self) -> str:
        return "BearerToken(…)"


class BasicAuth:
    """A name and a password. Kubernetes 1.19 removed them; proxies in front of it may accept them."""

    def __init__(self, username: str, password: str) -> None:
        self._username = username
        self._password = password

    async def authorization(self) -> str:
        """Return the Basic header."""
        return basic_authorization(self._username, self._password)

    async def refresh(self, rejected: str | None = None) -> bool:
        """Return False: there is nothing to renew."""
        return False

    def to_kubeconfig_user(self) -> dict[str, Any]:
        """Return the user with its password."""
        return {"username": self._username, "password": self._password}

    def __str__(self) -> str:
        return f"the password of {self._username!r}"

    def __repr__(self) -> str:
        return f"BasicAuth({self._username!r}, …)"


class TokenFile:
    """A token in a file that another program renews, such as kubelet. It is read again within 60 s, and after a 401.

    If the file cannot be read, the current token stays in use and a warning is logged.
    """

    def __init__(self, path: str | os.PathLike[str], *, token: str | None = None) -> None:
        self._path = Path(path)
        self._header = None if token is None else _bearer(token)
        self._read_at: float | None = None

    async def authorization(self) -> str:
        """Return the Bearer header with a token that was read less than 60 s ago."""
        if self._is_due():
            self._read()
        assert self._header is not None
        return self._header

    async def refresh(self, rejected: str | None = None) -> bool:
        """Read the file now. Return True if it has another token than the rejected one."""
        if rejected is not None and rejected != self._header:
            return True
        before = self._header
        self._read()
        return self._header != before

    def to_kubeconfig_user(self) -> dict[str, Any]:
        """Return the user with the name of the file."""
        return {"tokenFile": str(self._path.absolute())}

    def __str__(self) -> str:
        return f"the token in {self._path}"

    def __repr__(self) -> str:
        return f"TokenFile({str(self._path)!r})"

    def _is_due(self) -> bool:
        if self._header is None or self._read_at is None:
            return True
        elapsed = asyncio.get_running_loop().time() - self._read_at
        return not 0 <= elapsed < REREAD_SECONDS  # negative: another loop, whose clock starts elsewhere

    def _read(self) -> None:
        try:
            self._header = _bearer(
                read_token(self._path)
            )  # on the loop: reading 1 KB is quicker than starting a thread
        except ConfigError as error:
            if self._header is None:
                raise
            log.warning("Token file cannot be read, keeping the current token", extra={"error": str(error)})
        self._read_at = asyncio.get_running_loop().time()


def read_token(path: Path, origin: str = "the token file") -> str:
    """Return the token in a file, without the trailing line break that editors add. Blocks."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{origin}: cannot read {path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{origin}: {path} is not text") from error
    return checked_token(text, f"{origin}: {path}")


def checked_token(token: str, origin: str) -> str:
    """Return the token stripped. Raises ConfigError, without showing the token, if it is empty or no header value."""
    stripped = token.strip()
    if not stripped:
        raise ConfigError(f"{origin} is empty")
    if not (stripped.isascii() and stripped.isprintable()) or " " in stripped:
        raise ConfigError(
            f"{origin} has characters that are invalid in a token: a blank, a line break or non-ASCII text"
        )
    return stripped


def basic_authorization(username: str, password: str) -> str:
    """Return the Basic header (RFC 7617, in UTF-8)."""
    return f"Basic {base64.b64encode(f'{username}:{password}'.encode()).decode()}"


def _bearer(token: str) -> str:
    return f"Bearer {token}"
