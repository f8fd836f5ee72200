"""Keys and certificates. Imports `cryptography`, so import it only where certificates are issued."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Sequence
from datetime import timedelta

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from pyctrl._clock import now

__all__ = ["is_issued_by", "issue_client", "issue_server", "new_authority", "sign_request"]

AUTHORITY_LIFETIME = timedelta(days=3650)  # kubeadm's
LIFETIME = timedelta(days=365)  # of issued certificates; kubeadm's
SKEW = timedelta(minutes=5)  # allowed clock skew of other machines

BACKDATE = timedelta(minutes=5)  # of requested certificates; this and the next are kube-controller-manager's
SHORT = timedelta(hours=8)  # the end of a certificate with a shorter lifetime is not backdated

_KEY_USAGES = {
    "signing": "digital_signature",
    "digital signature": "digital_signature",
    "content commitment": "content_commitment",
    "key encipherment": "key_encipherment",
    "key agreement": "key_agreement",
    "data encipherment": "data_encipherment",
    "cert sign": "key_cert_sign",
    "crl sign": "crl_sign",
    "encipher only": "encipher_only",
    "decipher only": "decipher_only",
}

# The object identifiers of extended key usages, in the order of Go's crypto/x509, and the usages that ask for them.
_PURPOSES = {
    "2.5.29.37.0": ("any",),
    "1.3.6.1.5.5.7.3.1": ("server auth",),
    "1.3.6.1.5.5.7.3.2": ("client auth",),
    "1.3.6.1.5.5.7.3.3": ("code signing",),
    "1.3.6.1.5.5.7.3.4": ("email protection", "s/mime"),
    "1.3.6.1.5.5.7.3.5": ("ipsec end system",),
    "1.3.6.1.5.5.7.3.6": ("ipsec tunnel",),
    "1.3.6.1.5.5.7.3.7": ("ipsec user",),
    "1.3.6.1.5.5.7.3.8": ("timestamping",),
    "1.3.6.1.5.5.7.3.9": ("ocsp signing",),
    "1.3.6.1.4.1.311.10.3.3": ("microsoft sgc",),
    "2.16.840.1.113730.4.1": ("netscape sgc",),
}

_USAGES = (
    "digital_signature",
    "content_commitment",
    "key_encipherment",
    "data_encipherment",
    "key_agreement",
    "key_cert_sign",
    "crl_sign",
    "encipher_only",
    "decipher_only",
)


def new_authority(name: str, lifetime: timedelta = AUTHORITY_LIFETIME) -> tuple[bytes, bytes]:
    """Create a self-signed certificate authority; return its certificate and key as PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    own = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    certificate = (
        _builder(own, own, key.public_key(), key.public_key(), lifetime)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage("digital_signature", "key_cert_sign", "crl_sign"), critical=True)
        .sign(key, hashes.SHA256())
    )
    return certificate.public_bytes(serialization.Encoding.PEM), _key_pem(key)


def issue_server(
    authority: tuple[bytes, bytes],
    names: Sequence[str],
    *,
    common_name: str = "kube-apiserver",
    lifetime: timedelta = LIFETIME,
) -> tuple[bytes, bytes]:
    """Issue a certificate for a server with these names and addresses; return it and its key as PEM."""
    alternatives = x509.SubjectAlternativeName([_alternative(name) for name in names])
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])
    return _issue(authority, subject, ExtendedKeyUsageOID.SERVER_AUTH, alternatives, lifetime=lifetime)


def issue_client(authority: tuple[bytes, bytes], user: str, groups: Sequence[str]) -> tuple[bytes, bytes]:
    """Issue a certificate for a user in these groups; return it and its key as PEM."""
    organizations = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
    subject = x509.Name([*organizations, x509.NameAttribute(NameOID.COMMON_NAME, user)])
    return _issue(authority, subject, ExtendedKeyUsageOID.CLIENT_AUTH)


def _issue(
    authority: tuple[bytes, bytes],
    subject: x509.Name,
    purpose: x509.ObjectIdentifier,
    *extensions: x509.ExtensionType,
    lifetime: timedelta = LIFETIME,
) -> tuple[bytes, bytes]:
    issuer, issuer_key = _loaded(authority)
    key = ec.generate_private_key(ec.SECP256R1())
    builder = (
        _builder(issuer.subject, subject, key.public_key(), issuer_key.public_key(), lifetime)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage("digital_signature"), critical=True)
        .add_extension(x509.ExtendedKeyUsage([purpose]), critical=False)
    )
    for extension in extensions:
        builder = builder.add_extension(extension, critical=False)
    certificate = builder.sign(issuer_key, hashes.SHA256())
    return certificate.public_bytes(serialization.Encoding.PEM), _key_pem(key)


def sign_request(authority: tuple[bytes, bytes], request: bytes, usages: Sequence[str], lifetime: timedelta) -> bytes:
    """Issue the certificate of a request in DER, by the rules of kube-controller-manager; return it as PEM.

    The subject and the alternative names are those of the request, all other extensions are dropped.

    Raises:
        ValueError: the authority has expired, or the request is invalid.
    """
    issuer, key = _loaded(authority)
    asked = x509.load_der_x509_csr(request)
    moment = now()
    begin, end = moment - BACKDATE, moment + lifetime - (timedelta() if lifetime < SHORT else BACKDATE)
    last = issuer.not_valid_after_utc
    if moment >= last:
        raise ValueError(f"refusing to sign a certificate that expired in the past: NotAfter={last}")
    names, public = issuer.subject, asked.public_key()
    builder = x509.CertificateBuilder(names, asked.subject, public, x509.random_serial_number(), begin, min(end, last))
    for extension, is_critical in _extensions(asked, usages):
        builder = builder.add_extension(extension, critical=is_critical)
    identifier = x509.AuthorityKeyIdentifier.from_issuer_public_key(key.public_key())
    certificate = builder.add_extension(identifier, critical=False).sign(key, hashes.SHA256())
    return certificate.public_bytes(serialization.Encoding.PEM)


def _extensions(
    asked: x509.CertificateSigningRequest, usages: Sequence[str]
) -> Iterator[tuple[x509.ExtensionType, bool]]:
    """Yield the extensions of a requested certificate, and whether each is critical."""
    if allowed := {_KEY_USAGES[usage] for usage in usages if usage in _KEY_USAGES}:
        yield _usage(*allowed), True
    if purposes := [oid for oid, names in _PURPOSES.items() if any(usage in names for usage in usages)]:
        yield x509.ExtendedKeyUsage([x509.ObjectIdentifier(oid) for oid in purposes]), False
    yield x509.BasicConstraints(ca=False, path_length=None), True
    try:
        alternatives = asked.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return
    yield alternatives, not list(asked.subject)


def _loaded(authority: tuple[bytes, bytes]) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    certificate, key = (
        x509.load_pem_x509_certificate(authority[0]),
        serialization.load_pem_private_key(authority[1], None),
    )
    if not isinstance(key, ec.EllipticCurvePrivateKey) or key.public_key() != certificate.public_key():
        raise ValueError("the key does not match the certificate")
    return certificate, key


def _builder(
    issuer: x509.Name,
    subject: x509.Name,
    key: ec.EllipticCurvePublicKey,
    issuer_key: ec.EllipticCurvePublicKey,
    lifetime: timedelta,
) -> x509.CertificateBuilder:
    """Return a builder with the key identifiers that strict verification, Python 3.13's default, requires."""
    serial, begin = x509.random_serial_number(), now() - SKEW
    return (
        x509.CertificateBuilder(issuer, subject, key, serial, begin, begin + SKEW + lifetime)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key), critical=False)
    )


def _usage(*allowed: str) -> x509.KeyUsage:
    return x509.KeyUsage(**{usage: usage in allowed for usage in _USAGES})


def _alternative(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _key_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    )


def is_issued_by(certificate: bytes, authorities: bytes) -> bool:
    """Return whether one of several authorities has issued a certificate directly.

    Args:
        certificate: the certificate in DER form.
        authorities: the certificates of the authorities, as PEM. What does not parse has issued nothing.
    """
    try:
        issued = x509.load_der_x509_certificate(certificate)
        known = x509.load_pem_x509_certificates(authorities)
    except ValueError:
        return False
    return any(_has_issued(each, issued) for each in known)


def _has_issued(authority: x509.Certificate, issued: x509.Certificate) -> bool:
    try:
        issued.verify_directly_issued_by(authority)
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True
