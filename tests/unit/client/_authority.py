"""Certificates for tests, and a TLS handshake without sockets."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_FROM, _UNTIL = datetime.now(UTC) - timedelta(hours=1), datetime.now(UTC) + timedelta(days=1)


@dataclass(frozen=True)
class Issued:
    """A certificate and its key, as PEM."""

    certificate: bytes
    key: bytes


class Authority:
    """A certificate authority. ``identifiers=False`` omits extensions that RFC 5280 requires and many clusters lack."""

    def __init__(self, name: str = "cluster", *, identifiers: bool = True, parent: Authority | None = None) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        self._identifiers = identifiers
        signer, signer_key = (parent._name, parent._key) if parent else (self._name, self._key)
        builder = (
            _blank(self._name, signer, self._key.public_key())
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .add_extension(x509.KeyUsage(*_usage(key_cert_sign=True)), critical=True)
        )
        self.pem = _pem(self._identified(builder, self._key.public_key(), signer_key).sign(signer_key, hashes.SHA256()))

    def server(self, *names: str) -> Issued:
        """Issue a certificate for a server with these names and addresses."""
        alternatives = [_alternative(name) for name in names or ("localhost", "127.0.0.1")]
        return self._issue("server", ExtendedKeyUsageOID.SERVER_AUTH, x509.SubjectAlternativeName(alternatives))

    def client(self, name: str = "dev") -> Issued:
        """Issue a certificate for a user with this name."""
        return self._issue(name, ExtendedKeyUsageOID.CLIENT_AUTH)

    def server_context(self, *names: str, issued: Issued | None = None) -> ssl.SSLContext:
        """Return the TLS context of a server with these names; client certificates are requested but optional."""
        issued = issued or self.server(*names)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        load_chain(context, issued)
        context.verify_mode = ssl.CERT_OPTIONAL
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        context.load_verify_locations(cadata=self.pem.decode())
        return context

    def _issue(self, name: str, usage: x509.ObjectIdentifier, *extensions: x509.ExtensionType) -> Issued:
        key = ec.generate_private_key(ec.SECP256R1())
        builder = _blank(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]), self._name, key.public_key())
        builder = builder.add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
        for extension in extensions:
            builder = builder.add_extension(extension, critical=False)
        certificate = self._identified(builder, key.public_key(), self._key).sign(self._key, hashes.SHA256())
        return Issued(_pem(certificate), key_pem(key))

    def _identified(
        self, builder: x509.CertificateBuilder, key: ec.EllipticCurvePublicKey, signer: ec.EllipticCurvePrivateKey
    ) -> x509.CertificateBuilder:
        if not self._identifiers:
            return builder
        return builder.add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False).add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False
        )


def key_pem(key: ec.EllipticCurvePrivateKey, password: bytes | None = None) -> bytes:
    """Return a key as PEM, encrypted if there is a password."""
    encryption = serialization.BestAvailableEncryption(password) if password else serialization.NoEncryption()
    return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, encryption)


def encrypted(issued: Issued, password: bytes = b"secret") -> bytes:
    """Return the key of a certificate, encrypted."""
    key = serialization.load_pem_private_key(issued.key, None)
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    return key_pem(key, password)


def load_chain(context: ssl.SSLContext, issued: Issued) -> None:
    """Load the certificate into a context."""
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "pem")
        path.write_bytes(issued.certificate + issued.key)
        context.load_cert_chain(path)


def shake_hands(client: ssl.SSLContext, server: ssl.SSLContext, name: str = "localhost") -> str | None:
    """Do a TLS handshake of two contexts in memory; return the name in the client's certificate, if any."""
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    one = client.wrap_bio(to_client, to_server, server_hostname=name)
    other = server.wrap_bio(to_server, to_client, server_side=True)
    for side in (one, other, one, other, one, other):
        try:
            side.do_handshake()
        except ssl.SSLWantReadError:
            continue
    shown = other.getpeercert(binary_form=True)
    if shown is None:
        return None
    (name_shown,) = x509.load_der_x509_certificate(shown).subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    return str(name_shown.value)


def _blank(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
    serial = x509.random_serial_number()
    return x509.CertificateBuilder(issuer, subject, key, serial, _FROM, _UNTIL)


def _usage(**allowed: bool) -> list[bool]:
    names = ("digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement")
    return [
        allowed.get(name, False) for name in (*names, "key_cert_sign", "crl_sign", "encipher_only", "decipher_only")
    ]


def _alternative(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)
