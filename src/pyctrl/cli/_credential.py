"""Credentials of a login: described without their secrets, and printed on request."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from pyctrl.api import format_time
from pyctrl.cli._durations import shown_end
from pyctrl.client import CertificateSource, ClientCertificate, Config
from pyctrl.errors import CommandFailed, ConfigError

__all__ = ["AuthInfo", "Credential", "Part", "auth_info_of", "part_of"]

Part = Literal["token", "ca", "certificate", "key"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Credential:
    """One credential that a login sends.

    Claims of a JSON Web Token and fields of a certificate are parsed, not verified: the server verifies them.
    """

    kind: Literal["token", "password", "certificate"]
    origin: str
    subject: str = ""
    issuer: str = ""
    audiences: tuple[str, ...] = ()
    expires_at: datetime | None = None

    def __str__(self) -> str:
        return f"{self.origin}, which {shown_end(self.expires_at)}" if self.expires_at else self.origin

    def to_wire(self) -> dict[str, Any]:
        """Return the known fields, for JSON and YAML."""
        fields = {
            "kind": self.kind,
            "origin": self.origin,
            "subject": self.subject,
            "issuer": self.issuer,
            "audiences": list(self.audiences),
            "expiresAt": format_time(self.expires_at) if self.expires_at else None,
        }
        return {name: value for name, value in fields.items() if value}


@dataclass(frozen=True, slots=True)
class AuthInfo:
    """All credentials of a login. `repr` shows no secrets."""

    credentials: tuple[Credential, ...]
    header: str | None = field(repr=False)
    certificate: ClientCertificate | None

    @property
    def token(self) -> str | None:
        """The bearer token; None if there is none."""
        scheme, _, token = (self.header or "").partition(" ")
        return token if scheme == "Bearer" else None


async def auth_info_of(config: Config) -> AuthInfo:
    """Return the credentials of a login, which may run its plugin. Raises ConfigError if they cannot be obtained."""
    header = await config.credentials.authorization()
    certificate = config.tls.certificate
    if isinstance(config.credentials, CertificateSource):
        certificate = await config.credentials.certificate() or certificate
    found = []
    if certificate is not None:
        found.append(_of_certificate(certificate))
    if header is not None:
        found.append(_of_header(header, str(config.credentials)))
    return AuthInfo(tuple(found), header, certificate)


async def part_of(config: Config, part: Part) -> str:
    """Return one part of a login, in the form that curl expects.

    Raises:
        CommandFailed: the login has no such part.
    """
    if part == "ca":
        if config.tls.ca is None:
            raise CommandFailed(f"the login has no certificate authority ({config.source})")
        return config.tls.ca.read().decode()
    proof = await auth_info_of(config)
    if part == "token":
        if proof.token is None:
            raise CommandFailed(f"the login has no token: it sends {_listed(proof)} ({config.source})")
        return proof.token
    if proof.certificate is None:
        raise CommandFailed(f"the login has no client certificate: it sends {_listed(proof)} ({config.source})")
    return (proof.certificate.certificate if part == "certificate" else proof.certificate.key).read().decode()


def _listed(proof: AuthInfo) -> str:
    return " and ".join(credential.origin for credential in proof.credentials) or "nothing"


def _of_header(header: str, origin: str) -> Credential:
    scheme, _, token = header.partition(" ")
    if scheme != "Bearer":
        return Credential(kind="password", origin=origin)
    claims = _claims(token)
    audience, expires = claims.get("aud") or (), claims.get("exp")
    return Credential(
        kind="token",
        origin=origin,
        subject=str(claims.get("sub") or ""),
        issuer=str(claims.get("iss") or ""),
        audiences=(audience,) if isinstance(audience, str) else tuple(map(str, audience)),
        expires_at=datetime.fromtimestamp(expires, UTC) if isinstance(expires, int | float) else None,
    )


def _claims(token: str) -> Mapping[str, Any]:
    """Return the payload of a JSON Web Token; empty if the token is of another kind."""
    parts = token.split(".")
    if len(parts) != 3:
        return {}
    try:
        claims = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
    except (ValueError, binascii.Error):
        return {}
    return claims if isinstance(claims, dict) else {}


def _of_certificate(certificate: ClientCertificate) -> Credential:
    origin = certificate.certificate.origin
    try:
        from cryptography import x509  # here: an extra; without it fewer fields are known
    except ImportError:
        return Credential(kind="certificate", origin=origin)
    try:
        read = x509.load_pem_x509_certificate(certificate.certificate.read())
        return Credential(
            kind="certificate",
            origin=origin,
            subject=read.subject.rfc4514_string(),
            issuer=read.issuer.rfc4514_string(),
            expires_at=read.not_valid_after_utc,
        )
    except (ValueError, ConfigError):  # the transport reports what is wrong with it
        return Credential(kind="certificate", origin=origin)
