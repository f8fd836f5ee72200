"""Renewal of a CA and of the serving certificate that it signs, as pure functions."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pyctrl._clock import now
from pyctrl.errors import ConfigError

if TYPE_CHECKING:
    from cryptography import x509

__all__ = ["Keys", "Lifetimes", "certificate_to_serve", "renewed", "split_bundle", "with_trusted"]

_BEGIN = b"-----BEGIN CERTIFICATE-----"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lifetimes:
    """Lifetimes of certificates. Each certificate is renewed after two thirds of its lifetime.

    Attributes:
        authority: of the CA. A new one is trusted beside the old one until the old one has expired.
        certificate: of the serving certificate.
        settling: how long a new CA must be trusted before it signs the serving certificate: long enough for every API
            server to have seen the configurations.

    Raises:
        ConfigError: the last third of the CA's lifetime is shorter than the lifetime of its certificates.
    """

    authority: timedelta = timedelta(days=365)
    certificate: timedelta = timedelta(days=90)
    settling: timedelta = timedelta(hours=1)

    def __post_init__(self) -> None:
        if self.authority < 3 * (self.certificate + self.settling):
            raise ConfigError(
                f"the lifetime of the authority must be at least three times that of its certificates plus settling; "
                f"got {self.authority} for {self.certificate} and {self.settling}"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """The contents of the Secret, as PEM.

    Attributes:
            authorities: the trusted CA certificates, oldest first; the last one signs.
            authority_key: the key of the last one.
            certificate: the serving certificate, and `key` its key.
    """

    authorities: tuple[bytes, ...]
    authority_key: bytes
    certificate: bytes
    key: bytes

    @property
    def bundle(self) -> bytes:
        """All CA certificates concatenated: the value of ``caBundle``."""
        return b"".join(self.authorities)

    @property
    def expiry(self) -> datetime:
        """When the serving certificate expires."""
        return _parsed(self.certificate).not_valid_after_utc

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Keys | None:
        """Decode the data of a Secret; None when pyctrl did not write it."""
        try:
            content = {name: base64.b64decode(data[name], validate=True) for name in _NAMES}
            keys = cls(
                authorities=split_bundle(content["ca.crt"]),
                authority_key=content["ca.key"],
                certificate=content["tls.crt"],
                key=content["tls.key"],
            )
            _ = [_parsed(each) for each in (*keys.authorities, keys.certificate)]
        except (KeyError, TypeError, ValueError, binascii.Error):
            return None
        return keys if keys.authorities else None

    def to_data(self) -> dict[str, str]:
        """Return the data of a Secret."""
        content = (self.bundle, self.authority_key, self.certificate, self.key)
        return {name: base64.b64encode(part).decode() for name, part in zip(_NAMES, content, strict=True)}


_NAMES = ("ca.crt", "ca.key", "tls.crt", "tls.key")


def split_bundle(bundle: bytes) -> tuple[bytes, ...]:
    """Return the certificates of a bundle, each as PEM; text before the first is ignored."""
    return tuple(_BEGIN + each for each in bundle.split(_BEGIN)[1:])


def renewed(keys: Keys | None, names: Sequence[str], lifetimes: Lifetimes, *, is_trusted: bool) -> Keys:
    """Return the keys to use from now on: the same, unless something is missing or due.

    First a new CA is added to the trusted ones. Once it has settled and is trusted everywhere, it signs a new
    certificate. When the old CA has expired it is dropped. The serving certificate is therefore trusted at any time.

    Args:
        keys: the current keys.
        names: the server's host names; a change of them requires a new certificate.
        lifetimes: the lifetimes of new certificates.
        is_trusted: whether all CAs of ``keys`` are known to be trusted by now.
    """
    if keys is None or _span(keys.authorities[-1])[1] <= now():
        return _issued(_with_authority(None, names, lifetimes), names, lifetimes)
    kept = tuple(each for each in keys.authorities if _span(each)[1] > now())
    keys = replace(keys, authorities=kept)
    if _is_due(kept[-1]):
        keys, has_settled = _with_authority(keys, names, lifetimes), False
    else:
        has_settled = (is_trusted or len(kept) == 1) and _is_trusted_everywhere(keys, kept[-1], lifetimes)
    if keys.expiry <= now() or (has_settled and _is_certificate_due(keys, names)):
        return _issued(keys, names, lifetimes)
    return keys


def with_trusted(keys: Keys, authorities: Iterable[bytes], names: Sequence[str]) -> Keys:
    """Return the keys with the given CAs trusted as well, if they are still valid and were made for these names.

    Certificates that they signed may still be served: by a replica that runs while another one finds no Secret and
    creates a new one, or while an older Secret is restored.
    """
    mine = [each for each in authorities if each not in keys.authorities and _is_own(each, names)]
    return replace(keys, authorities=(*dict.fromkeys(mine), *keys.authorities))


def certificate_to_serve(shown: Keys | None, found: Keys, names: Sequence[str], lifetimes: Lifetimes) -> Keys:
    """Return the keys that a replica serves, given those it served until now and those it found in the Secret.

    A valid certificate stays in use until the CA of the other one has settled: that CA may not be trusted everywhere
    yet, if the Secret was lost or an older one was restored. A trusted CA stays trusted until it expires.
    """
    if shown is None:
        return found
    keys = with_trusted(found, shown.authorities, names)
    if shown.expiry <= now():
        return keys
    issuer = next((each for each in found.authorities if _signed(found.certificate, each)), None)
    if found.expiry > now() and issuer in shown.authorities and _is_trusted_everywhere(found, issuer, lifetimes):
        return keys
    return replace(keys, certificate=shown.certificate, key=shown.key)


def _is_trusted_everywhere(keys: Keys, authority: bytes, lifetimes: Lifetimes) -> bool:
    """Return whether a CA has been trusted for long enough, or is the only one."""
    return len(keys.authorities) == 1 or now() >= _span(authority)[0] + lifetimes.settling


def _is_own(pem: bytes, names: Sequence[str]) -> bool:
    from cryptography.x509 import NameOID  # here: see _is_certificate_due

    try:
        subject = _parsed(pem).subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    except ValueError:
        return False
    return [each.value for each in subject] == [_authority_name(names)] and _span(pem)[1] > now()


def _is_certificate_due(keys: Keys, names: Sequence[str]) -> bool:
    from cryptography import x509  # here: only programs that issue certificates install it

    if not _signed(keys.certificate, keys.authorities[-1]):
        return True
    shown = _parsed(keys.certificate).extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    return _is_due(keys.certificate) or {str(name.value) for name in shown} != set(names)


@lru_cache(maxsize=8)
def _signed(certificate: bytes, authority: bytes) -> bool:
    from cryptography.exceptions import InvalidSignature  # here: see _is_certificate_due

    try:
        _parsed(certificate).verify_directly_issued_by(_parsed(authority))
    except (InvalidSignature, ValueError):
        return False
    return True


def _is_due(pem: bytes) -> bool:
    begin, end = _span(pem)
    return now() >= begin + (end - begin) * 2 / 3


def _with_authority(keys: Keys | None, names: Sequence[str], lifetimes: Lifetimes) -> Keys:
    from pyctrl import _certificates  # here: see _is_certificate_due

    certificate, key = _certificates.new_authority(_authority_name(names), lifetimes.authority)
    if keys is None:
        return Keys(authorities=(certificate,), authority_key=key, certificate=b"", key=b"")
    return replace(keys, authorities=(*keys.authorities, certificate), authority_key=key)


def _authority_name(names: Sequence[str]) -> str:
    return f"{names[0]} authority"[-64:]  # X.509's limit


def _issued(keys: Keys, names: Sequence[str], lifetimes: Lifetimes) -> Keys:
    from pyctrl import _certificates  # here: see _is_certificate_due

    authority = (keys.authorities[-1], keys.authority_key)
    certificate, key = _certificates.issue_server(
        authority, names, common_name=names[0][:64], lifetime=lifetimes.certificate
    )
    return replace(keys, certificate=certificate, key=key)


def _span(pem: bytes) -> tuple[datetime, datetime]:
    certificate = _parsed(pem)
    return certificate.not_valid_before_utc, certificate.not_valid_after_utc


@lru_cache(maxsize=8)  # the same few certificates are checked every minute
def _parsed(pem: bytes) -> x509.Certificate:
    from cryptography import x509  # here: see _is_certificate_due

    return x509.load_pem_x509_certificate(pem)
