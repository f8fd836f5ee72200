"""Who we are: what goes into the Authorization header, and how it is renewed.

The transport asks `Credentials.authorization` before each request, which must be cheap, and `Credentials.refresh`
once when the server answered 401. Plugins have a file of their own, `_exec.py`; so has OpenID Connect, `_oidc.py`.
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
    """Proves to an API server who is asking. Implement it for a way of logging in that pyctrl lacks.

    Both methods are called from many tasks at once; what is slow in them should happen once for all who wait.
    A class that also has ``async def certificate(self) -> ClientCertificate | None`` brings the client certificate.
    ``str()`` of credentials says for people what is sent and where it is from, and does not show it.
    """

    async def authorization(self) -> str | None:
        """Return the value of the Authorization header, renewed if it is about to expire; None for no header.

        Raises:
            ConfigError: there is none to be had; the message says from where and why.
        """
        ...

    async def refresh(self, rejected: str | None = None) -> bool:
        """Renew after the server answered 401; True if it is worth asking again.

        Args:
            rejected: the header that was refused. If it is no longer the current one somebody else has renewed it
                in the meantime: there is nothing to do, and asking again is worth it.
        """
        ...


@runtime_checkable
class StorableCredentials(Protocol):
    """Credentials that can be written down in a kubeconfig."""

    def to_kubeconfig_user(self) -> dict[str, Any]:
        """Return the entries of ``user``, secrets included."""
        ...


class Anonymous:
    """Nobody, or whoever the client certificate says: no header is sent."""

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
    """A token that never changes. For one that is renewed on disk use `TokenFile`."""

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
    """A name and a password. Kubernetes itself takes none since 1.19; proxies in front of it may."""

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
    """A token in a file that somebody else renews, as kubelet does: read again within 60 s, and on a 401.

    While the file cannot be read the last token stays in use, and a warning is logged.
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
        """Read the file now; True if it holds another token than the one that was refused."""
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
            self._header = _bearer(read_token(self._path))  # on the loop: reading 1 KB is quicker than a thread for it
        except ConfigError as error:
            if self._header is None:
                raise
            log.warning("token file cannot be read again, the last token stays", extra={"error": str(error)})
        self._read_at = asyncio.get_running_loop().time()


def read_token(path: Path, origin: str = "the token file") -> str:
    """Return the token in a file, without the line break that editors leave behind. Blocks."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{origin}: cannot read {path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{origin}: {path} is not text") from error
    return checked_token(text, f"{origin}: {path}")


def checked_token(token: str, origin: str) -> str:
    """Return the token stripped. One that is empty or cannot stand in a header is a ConfigError, which hides it."""
    stripped = token.strip()
    if not stripped:
        raise ConfigError(f"{origin} is empty")
    if not (stripped.isascii() and stripped.isprintable()) or " " in stripped:
        raise ConfigError(f"{origin} holds characters that no token has: a blank, a line break or non-ASCII text")
    return stripped


def basic_authorization(username: str, password: str) -> str:
    """Return the Basic header (RFC 7617, in UTF-8)."""
    return f"Basic {base64.b64encode(f'{username}:{password}'.encode()).decode()}"


def _bearer(token: str) -> str:
    return f"Bearer {token}"
