"""Signing of JSON web tokens: with RS256, as in kube-apiserver, if `cryptography` is installed, else with HS256.

A valid signature means that this server issued the token. Callers validate the claims.
"""

from __future__ import annotations

import base64
import hmac
from collections.abc import Mapping
from functools import cache, cached_property, lru_cache
from hashlib import sha256
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

import msgspec

from pyctrl.apiserver._storage.storage import Storage

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

__all__ = ["KEY_BITS", "MAX_CACHED_TOKENS", "JSONWebToken", "SigningKey", "TokenSigner"]


KEY_BITS = 2048
MAX_CACHED_TOKENS = 4096  # parsed tokens with the result of their signature check


class SigningKey(Protocol):
    """A key that signs tokens and verifies signatures; `algorithm` and `id` are in the header of tokens."""

    algorithm: str
    id: str

    def sign(self, text: bytes) -> bytes: ...
    def verify(self, text: bytes, signature: bytes) -> bool: ...
    def public(self) -> dict[str, str] | None: ...


class JSONWebToken(NamedTuple):
    """A parsed token."""

    issuer: str
    is_genuine: bool  # the signature is valid
    claims: Mapping[str, Any]


class TokenSigner:
    """Signer and parser of tokens. The RSA key is generated at first use. A storage with a backend keeps the keys."""

    def __init__(self, storage: Storage, random: Random) -> None:
        self._storage = storage
        self._own = _HMACKey(storage.secret("service-account-hmac-key", lambda: random.randbytes(32)))
        self._parse_cached = lru_cache(MAX_CACHED_TOKENS)(self._parse)

    @cached_property
    def key(self) -> SigningKey:
        """The signing key of this server."""
        shared = _rsa_key()
        if shared is None or self._storage.backend is None:
            return shared or self._own
        return _RsaKey.read(self._storage.secret("service-account-signing-key", shared.pem))

    def sign(self, claims: Mapping[str, Any]) -> str:
        """Return a signed JSON web token."""
        header = {"alg": self.key.algorithm, "kid": self.key.id}
        signed = f"{_encode(header)}.{_encode(claims)}"
        return f"{signed}.{_text(self.key.sign(signed.encode()))}"

    def parse(self, token: str) -> JSONWebToken | None:
        """Parse a token and verify its signature; None for a text that is not a JSON web token."""
        return self._parse_cached(token)

    def _parse(self, token: str) -> JSONWebToken | None:
        parts = token.split(".")
        if len(parts) != 3:
            return None
        try:
            header, claims, signature = _decode(parts[0]), _decode(parts[1]), _bytes(parts[2])
        except ValueError:  # invalid base64 or JSON
            return None
        if not isinstance(header, dict) or not isinstance(claims, dict):
            return None
        is_genuine = self.key.verify(f"{parts[0]}.{parts[1]}".encode(), signature)
        return JSONWebToken(str(claims.get("iss", "")), is_genuine, claims)


class _HMACKey:
    """HS256 key, for servers without `cryptography`."""

    algorithm = "HS256"

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self.id = _text(sha256(b"id" + secret).digest())

    def sign(self, text: bytes) -> bytes:
        return hmac.digest(self._secret, text, "sha256")

    def verify(self, text: bytes, signature: bytes) -> bool:
        return hmac.compare_digest(signature, self.sign(text))

    def public(self) -> None:
        """Return None: the key is symmetric, so a verifier could issue tokens too."""


class _RsaKey:
    """RS256 key; tokens can be verified with its public half."""

    algorithm = "RS256"

    def __init__(self, private: RSAPrivateKey) -> None:
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

        self._private, self._public = private, private.public_key()
        der = self._public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        self.id = _text(sha256(der).digest())

    @classmethod
    def read(cls, pem: bytes) -> Self:
        """Return the key of a PEM file."""
        from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key

        private = load_pem_private_key(pem, password=None)
        assert isinstance(private, RSAPrivateKey)  # no other key is stored
        return cls(private)

    def pem(self) -> bytes:
        """Return the private key as a PEM file."""
        from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

        return self._private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())

    def sign(self, text: bytes) -> bytes:
        from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
        from cryptography.hazmat.primitives.hashes import SHA256

        return self._private.sign(text, PKCS1v15(), SHA256())

    def verify(self, text: bytes, signature: bytes) -> bool:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
        from cryptography.hazmat.primitives.hashes import SHA256

        try:
            self._public.verify(signature, text, PKCS1v15(), SHA256())
        except InvalidSignature:
            return False
        return True

    def public(self) -> dict[str, str]:
        """Return the public half as a JSON web key."""
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
    """Return the key of this process, generated once (some 50 ms); None without `cryptography`.

    All servers of a process share the key. A token of one server is still invalid at another: it has the uid of its
    account, which only servers with the same seed share.
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
