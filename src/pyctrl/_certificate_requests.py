"""PKCS#10 certificate requests, and the checks of kube-apiserver for them and for issued certificates.

Signatures and the content of requests need the package `cryptography`, which is imported on the first use. Without it
only the PEM text and the outermost structure are checked.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from pyctrl._go.pem import pem_blocks

if TYPE_CHECKING:
    from cryptography.x509 import CertificateSigningRequest

__all__ = ["CertificateRequest", "NoCryptography", "check_certificates", "check_request", "parse_request"]

REQUEST, CERTIFICATE = "CERTIFICATE REQUEST", "CERTIFICATE"
_SEQUENCE = 0x30
_PARAMETERS = (
    "{optional:false explicit:false application:false private:false defaultValue:<nil> tag:<nil> stringType:0 "
    "timeType:0 set:false omitEmpty:false}"
)


class NoCryptography(Exception):
    """Raised when the content of a request is needed and the package cryptography is not installed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CertificateRequest:
    """The subject and the alternative names of a certificate request."""

    common_name: str
    organizations: tuple[str, ...]
    dns_names: tuple[str, ...] = ()
    ip_addresses: tuple[str, ...] = ()
    email_addresses: tuple[str, ...] = ()
    uris: tuple[str, ...] = ()
    encoded: bytes = field(default=b"", repr=False)
    """The request in DER."""


def check_request(pem: bytes) -> None:
    """Check a certificate request and its signature.

    Raises:
        ValueError: It is invalid; the message is that of Go's crypto/x509.
    """
    encoded = _request_block(pem)
    _check_sequence(encoded)
    if _cryptography() is not None:
        _check_signature(_load(encoded))


def parse_request(pem: bytes) -> CertificateRequest:
    """Read a certificate request.

    Raises:
        ValueError: It is not a certificate request.
        NoCryptography: The package cryptography is not installed.
    """
    encoded = _request_block(pem)
    _check_sequence(encoded)
    if _cryptography() is None:
        raise NoCryptography
    return _content(_load(encoded), encoded)


def check_certificates(pem: bytes) -> None:
    """Check the certificates of a status: PEM blocks without headers, each a certificate.

    Raises:
        ValueError: The text is invalid; the message is kube-apiserver's.
    """
    count = 0
    for block in pem_blocks(pem):
        if block.type != CERTIFICATE:
            raise ValueError(f'only CERTIFICATE PEM blocks are allowed, found "{block.type}"')
        if block.has_headers:
            raise ValueError("no PEM block headers are permitted")
        count += 1
        _check_certificate(block.data)
    if not count:
        raise ValueError("must contain at least one CERTIFICATE PEM block")


@cache
def _cryptography() -> ModuleType | None:
    try:
        return import_module("cryptography.x509")
    except ImportError:
        return None


def _request_block(pem: bytes) -> bytes:
    block = next(pem_blocks(pem), None)
    if block is None or block.type != REQUEST:
        raise ValueError("PEM block type must be CERTIFICATE REQUEST")
    return block.data


# -- DER -------------------------------------------------------------------------------------------------------


def _check_sequence(data: bytes) -> None:
    """Check that the data is one SEQUENCE that is not empty, with the errors of Go's encoding/asn1."""
    if not data:
        raise ValueError("asn1: syntax error: sequence truncated")
    header = _header(data)
    if header is None:
        raise ValueError("asn1: syntax error: truncated tag or length")
    start, length = header
    tag = data[0]
    if tag != _SEQUENCE:
        what = f"class:{tag >> 6} tag:{tag & 31} length:{length} isCompound:{str(bool(tag & 0x20)).lower()}"
        raise ValueError(
            f"asn1: structure error: tags don't match (16 vs {{{what}}}) {_PARAMETERS} certificateRequest @{start}"
        )
    if start + length > len(data):
        raise ValueError("asn1: syntax error: data truncated")
    if not length:
        raise ValueError("asn1: syntax error: sequence truncated")
    if start + length < len(data):
        raise ValueError("asn1: syntax error: trailing data")


def _header(data: bytes) -> tuple[int, int] | None:
    """Return where the content of the first element starts and how long it is."""
    if len(data) < 2:
        return None
    length, start = data[1], 2
    if length & 0x80:
        count = length & 0x7F
        start += count
        if not 0 < count <= 4 or start > len(data):
            return None
        length = int.from_bytes(data[2:start])
    return start, length


def _check_certificate(data: bytes) -> None:
    if not data:
        raise ValueError("found CERTIFICATE PEM block containing 0 certificates")
    while data:
        header = _header(data)
        if header is None or data[0] != _SEQUENCE or sum(header) > len(data):
            raise ValueError("x509: malformed certificate")
        start, end = header[0], sum(header)
        inner = _header(data[start:end])
        if inner is None or data[start] != _SEQUENCE or sum(inner) > end - start:
            raise ValueError("x509: malformed tbs certificate")
        x509 = _cryptography()
        if x509 is not None:
            try:
                x509.load_der_x509_certificate(data[:end])
            except ValueError as error:
                raise ValueError("x509: malformed certificate") from error
        data = data[end:]


# -- cryptography ----------------------------------------------------------------------------------------------


def _load(encoded: bytes) -> CertificateSigningRequest:
    x509 = _cryptography()
    assert x509 is not None
    try:
        request: CertificateSigningRequest = x509.load_der_x509_csr(encoded)
        request.public_key(), request.subject, request.extensions
    except ValueError as error:
        raise ValueError("x509: malformed certificate request") from error
    return request


def _check_signature(request: CertificateSigningRequest) -> None:
    """Check the signature with the key of the request."""
    from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

    key = request.public_key()
    try:
        is_valid = request.is_signature_valid
    except (InvalidSignature, UnsupportedAlgorithm, ValueError, TypeError):
        is_valid = False
    if not is_valid:
        failures: dict[type, str] = {
            rsa.RSAPublicKey: "crypto/rsa: verification error",
            ec.EllipticCurvePublicKey: "x509: ECDSA verification failure",
            ed25519.Ed25519PublicKey: "x509: Ed25519 verification failure",
        }
        known = [failure for kind, failure in failures.items() if isinstance(key, kind)]
        raise ValueError(*known or ["x509: cannot verify signature: algorithm unimplemented"])


def _content(request: CertificateSigningRequest, encoded: bytes) -> CertificateRequest:
    from cryptography import x509
    from cryptography.x509.oid import NameOID

    def values(oid: x509.ObjectIdentifier) -> tuple[str, ...]:
        return tuple(str(each.value) for each in request.subject.get_attributes_for_oid(oid))

    try:
        names = request.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        names = x509.SubjectAlternativeName([])
    return CertificateRequest(
        common_name=(values(NameOID.COMMON_NAME) or ("",))[-1],
        organizations=values(NameOID.ORGANIZATION_NAME),
        dns_names=tuple(names.get_values_for_type(x509.DNSName)),
        ip_addresses=tuple(str(each) for each in names.get_values_for_type(x509.IPAddress)),
        email_addresses=tuple(names.get_values_for_type(x509.RFC822Name)),
        uris=tuple(names.get_values_for_type(x509.UniformResourceIdentifier)),
        encoded=encoded,
    )
