"""When which certificate is renewed: an authority and a serving certificate of its, as data."""

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
    """How long certificates are good for; each is renewed when two thirds of that are over.

    Attributes:
        authority: of the authority. A new one is trusted beside the old one until that has expired.
        certificate: of the serving certificate.
        settling: how long a new authority has to be trusted everywhere before it signs what is shown: long enough for
            every API server to have seen the configurations.

    Raises:
        ConfigError: the last third of the authority's life is shorter than what it signs lives.
    """

    authority: timedelta = timedelta(days=365)
    certificate: timedelta = timedelta(days=90)
    settling: timedelta = timedelta(hours=1)

    def __post_init__(self) -> None:
        if self.authority < 3 * (self.certificate + self.settling):
            raise ConfigError(
                f"an authority has to live three times as long as its certificates and the settling, at least; "
                f"got {self.authority} for {self.certificate} and {self.settling}"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """What the Secret holds, as PEM.

    Attributes:
        authorities: the certificates to be trusted, oldest first; the last one signs.
        authority_key: the key of the last one.
        certificate: what the server shows, and `key` its key.
    """

    authorities: tuple[bytes, ...]
    authority_key: bytes
    certificate: bytes
    key: bytes

    @property
    def bundle(self) -> bytes:
        """All authorities, one after another: what ``caBundle`` is to say."""
        return b"".join(self.authorities)

    @property
    def expiry(self) -> datetime:
        """When the serving certificate is no longer good."""
        return _parsed(self.certificate).not_valid_after_utc

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Keys | None:
        """Read the data of a Secret; None when that is not what pyctrl writes."""
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
    """Return the certificates of a bundle, each as PEM; what stands before the first is left out."""
    return tuple(_BEGIN + each for each in bundle.split(_BEGIN)[1:])


def renewed(keys: Keys | None, names: Sequence[str], lifetimes: Lifetimes, *, is_trusted: bool) -> Keys:
    """Return the keys that there should be now: the same, unless something is missing or it is time.

    First a new authority is trusted beside the old one; once that has settled and is trusted everywhere, it signs a new
    certificate; when the old one has expired it is no longer trusted. So that what is shown is trusted at any time.

    Args:
        keys: what there is.
        names: of the server; other names are a reason for a new certificate.
        lifetimes: see there.
        is_trusted: whether all authorities of ``keys`` are known to be trusted by now.
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
    """Return the keys with those of the authorities trusted as well that are still good and were made for these names.

    Somebody may show what they have signed: a replica that runs while another one finds no Secret and makes a new one,
    or an older one is put in its place.
    """
    mine = [each for each in authorities if each not in keys.authorities and _is_own(each, names)]
    return replace(keys, authorities=(*dict.fromkeys(mine), *keys.authorities))


def certificate_to_serve(shown: Keys | None, found: Keys, names: Sequence[str], lifetimes: Lifetimes) -> Keys:
    """Return what a replica shows that has shown one certificate until now, and finds what may be another in a Secret.

    Who has a good one shows it on, until the authority of the other one was there before and has settled: it may not
    be trusted everywhere yet, if the Secret was lost or is an older one. What was trusted stays so until it expires.
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
    """Whether an authority has been there for long enough, or there is no other."""
    return len(keys.authorities) == 1 or now() >= _span(authority)[0] + lifetimes.settling


def _is_own(pem: bytes, names: Sequence[str]) -> bool:
    from cryptography.x509 import NameOID  # here: see _is_certificate_due

    try:
        subject = _parsed(pem).subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    except ValueError:
        return False
    return [each.value for each in subject] == [_authority_name(names)] and _span(pem)[1] > now()


def _is_certificate_due(keys: Keys, names: Sequence[str]) -> bool:
    from cryptography import x509  # here: only those who make certificates have it

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
    return f"{names[0]} authority"[-64:]  # X.509 has no longer ones


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


@lru_cache(maxsize=8)  # the same few are looked at every minute
def _parsed(pem: bytes) -> x509.Certificate:
    from cryptography import x509  # here: see _is_certificate_due

    return x509.load_pem_x509_certificate(pem)
