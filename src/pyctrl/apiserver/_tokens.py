"""Tokens of service accounts: signed by this server, bound to the account that they were made for, and expiring."""

from __future__ import annotations

import base64
import hmac
from collections.abc import Mapping
from random import Random
from typing import Any

import msgspec

from pyctrl._clock import now

ISSUER = "https://kubernetes.default.svc"
DEFAULT_SECONDS = 3600
LEAST_SECONDS = 600  # kube-apiserver's own limits
MOST_SECONDS = 1 << 32

_HEADER = {"alg": "HS256", "typ": "JWT"}


class TokenSigner:
    """Signs and reads tokens. The key lives and dies with the server, as the accounts do."""

    def __init__(self, random: Random) -> None:
        self._key = random.randbytes(32)

    def sign(self, claims: Mapping[str, Any]) -> str:
        """Make a JSON web token."""
        signed = f"{_encode(_HEADER)}.{_encode(claims)}"
        return f"{signed}.{self._signature(signed)}"

    def read(self, token: str) -> dict[str, Any] | None:
        """Give the claims of a token; None when this server did not sign it, or it has expired."""
        signed, _, signature = token.rpartition(".")
        if not signed or not hmac.compare_digest(signature.encode(), self._signature(signed).encode()):
            return None
        claims: dict[str, Any] = _decode(signed.partition(".")[2])
        return claims if claims["exp"] > now().timestamp() else None

    def _signature(self, signed: str) -> str:
        return _text(hmac.digest(self._key, signed.encode(), "sha256"))


def claims_of(account: Mapping[str, Any], audiences: list[str], seconds: int) -> dict[str, Any]:
    """Make the claims of a token for a service account."""
    metadata = account["metadata"]
    issued = int(now().timestamp())
    bound = {"name": metadata["name"], "uid": metadata["uid"]}
    return {
        "aud": audiences,
        "exp": issued + seconds,
        "iat": issued,
        "iss": ISSUER,
        "kubernetes.io": {"namespace": metadata["namespace"], "serviceaccount": bound},
        "nbf": issued,
        "sub": f"system:serviceaccount:{metadata['namespace']}:{metadata['name']}",
    }


def _encode(value: Mapping[str, Any]) -> str:
    return _text(msgspec.json.encode(value))


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decode(text: str) -> Any:
    return msgspec.json.decode(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
