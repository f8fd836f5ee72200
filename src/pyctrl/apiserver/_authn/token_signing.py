"""Signing: JSON web tokens with RS256 where `cryptography` is installed, as kube-apiserver has them, else with HS256.

The claims are the caller's. The signature only says that this server made them.
"""

from __future__ import annotations

import base64
import hmac
from collections.abc import Mapping
from functools import cache, lru_cache
from hashlib import sha256
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import msgspec

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

KEY_BITS = 2048
KEPT_TOKENS = 4096  # whose signatures were found good


class SigningKey(Protocol):
    """What signs: a name for the header of a token, and a way to sign and to check."""

    algorithm: str
    id: str

    def sign(self, text: bytes) -> bytes: ...
    def is_good(self, text: bytes, signature: bytes) -> bool: ...
    def public(self) -> dict[str, str] | None: ...


class JSONWebToken(NamedTuple):
    """A token that was read."""

    issuer: str
    is_genuine: bool  # this server signed it
    claims: Mapping[str, Any]


class TokenSigner:
    """Signs and reads tokens. What it needs is made when the first token is."""

    def __init__(self, random: Random) -> None:
        self._own = _HMACKey(random.randbytes(32))
        self._checked = lru_cache(KEPT_TOKENS)(self._check)

    @property
    def key(self) -> SigningKey:
        """The key that this server signs with."""
        return _rsa_key() or self._own

    def sign(self, claims: Mapping[str, Any]) -> str:
        """Make a JSON web token."""
        header = {"alg": self.key.algorithm, "kid": self.key.id}
        signed = f"{_encode(header)}.{_encode(claims)}"
        return f"{signed}.{_text(self.key.sign(signed.encode()))}"

    def read(self, token: str) -> JSONWebToken | None:
        """Read a token; None when it is no JSON web token."""
        return self._checked(token)

    def _check(self, token: str) -> JSONWebToken | None:
        parts = token.split(".")
        if len(parts) != 3:
            return None
        try:
            header, claims, signature = _decode(parts[0]), _decode(parts[1]), _bytes(parts[2])
        except ValueError:  # no base64, no JSON
            return None
        if not isinstance(header, dict) or not isinstance(claims, dict):
            return None
        is_genuine = self.key.is_good(f"{parts[0]}.{parts[1]}".encode(), signature)
        return JSONWebToken(str(claims.get("iss", "")), is_genuine, claims)


class _HMACKey:
    """HS256: for the server of a test, which needs no library for it."""

    algorithm = "HS256"

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self.id = _text(sha256(b"id" + secret).digest())

    def sign(self, text: bytes) -> bytes:
        return hmac.digest(self._secret, text, "sha256")

    def is_good(self, text: bytes, signature: bytes) -> bool:
        return hmac.compare_digest(signature, self.sign(text))

    def public(self) -> None:
        """Nothing: what checks such a token could make one."""


class _RsaKey:
    """RS256; anybody may check a token who has the public half of the key."""

    algorithm = "RS256"

    def __init__(self, private: RSAPrivateKey) -> None:
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

        self._private, self._public = private, private.public_key()
        der = self._public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        self.id = _text(sha256(der).digest())

    def sign(self, text: bytes) -> bytes:
        from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
        from cryptography.hazmat.primitives.hashes import SHA256

        return self._private.sign(text, PKCS1v15(), SHA256())

    def is_good(self, text: bytes, signature: bytes) -> bool:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
        from cryptography.hazmat.primitives.hashes import SHA256

        try:
            self._public.verify(signature, text, PKCS1v15(), SHA256())
        except InvalidSignature:
            return False
        return True

    def public(self) -> dict[str, str]:
        """Give the public half as a JSON web key."""
        numbers = self._public.public_numbers()
        modulus = numbers.n.to_bytes((numbers.n.bit_length() + 7) // 8)
        exponent = numbers.e.to_bytes((numbers.e.bit_length() + 7) // 8)
        return {
            "use": "sig",
            "kty": "RSA",
            "kid": self.id,
            "alg": self.algorithm,
            "n": _text(modulus),
            "e": _text(exponent),
        }


@cache
def _rsa_key() -> _RsaKey | None:
    """Make the key of this process, once: it takes some 50 ms. None without `cryptography`.

    All servers of a process share it. A token of one does not pass at another all the same: it names its account by
    uid, which only servers with the same seed share.
    """
    try:
        from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
    except ImportError:
        return None
    return _RsaKey(generate_private_key(public_exponent=65537, key_size=KEY_BITS))


def _encode(value: Mapping[str, Any]) -> str:
    return _text(msgspec.json.encode(value, order="sorted"))


def _decode(text: str) -> Any:
    return msgspec.json.decode(_bytes(text))


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _bytes(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
