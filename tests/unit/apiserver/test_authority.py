"""Certificate authority: server certificates that strict TLS accepts, and client certificates of users."""

from __future__ import annotations

import ssl
import sys
from pathlib import Path

import pytest

from pyctrl.apiserver import CertificateAuthority, User
from pyctrl.apiserver._authn import user_of_certificate
from pyctrl.errors import ConfigError


def strict_client(trusted: bytes) -> ssl.SSLContext:
    context = ssl.create_default_context(cadata=trusted.decode())
    context.verify_flags |= ssl.VERIFY_X509_STRICT  # Python 3.13's default
    return context


def shake_hands(client: ssl.SSLContext, server: ssl.SSLContext, name: str) -> ssl.SSLObject:
    """Run the handshake of two contexts in memory; return the server's side."""
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    one = client.wrap_bio(to_client, to_server, server_hostname=name)
    other = server.wrap_bio(to_server, to_client, server_side=True)
    for side in (one, other, one, other, one, other):
        try:
            side.do_handshake()
        except ssl.SSLWantReadError:
            continue
    return other


@pytest.mark.parametrize(
    "name", ["localhost", "127.0.0.1", "::1", "kubernetes.default.svc", "api.example", "192.0.2.3"]
)
def test_a_server_is_trusted_by_all_its_names(name: str) -> None:
    """A client that trusts the authority trusts the server under its default and its additional names."""
    authority = CertificateAuthority.new()
    server = authority.server_context(["api.example", "192.0.2.3"])
    assert shake_hands(strict_client(authority.certificate), server, name).cipher() is not None


def test_another_name_or_authority_is_not_trusted() -> None:
    """A server of another name, or of another authority with the same name, is refused."""
    authority = CertificateAuthority.new()
    for trusted, name in ((authority, "example.org"), (CertificateAuthority.new(), "localhost")):
        with pytest.raises(ssl.SSLCertVerificationError):
            shake_hands(strict_client(trusted.certificate), authority.server_context(), name)


def test_a_client_certificate_is_its_user(tmp_path: Path) -> None:
    """The user is the common name, the groups are the organizations and system:authenticated."""
    authority = CertificateAuthority.new()
    path = tmp_path / "jane.pem"
    path.write_bytes(b"".join(authority.client("jane", ["dev", "ops"])))
    client = strict_client(authority.certificate)
    client.load_cert_chain(path)

    certificate = shake_hands(client, authority.server_context(), "localhost").getpeercert()

    assert certificate is not None
    assert user_of_certificate(certificate) == User(name="jane", groups=("dev", "ops", "system:authenticated"))


def test_users_of_another_authority_are_taken_when_it_is_named(tmp_path: Path) -> None:
    """Client certificates of another authority are refused unless the server trusts it."""
    authority, company = CertificateAuthority.new(), CertificateAuthority.new("company")
    path = tmp_path / "jane.pem"
    path.write_bytes(b"".join(company.client("jane")))
    client = strict_client(authority.certificate)
    client.load_cert_chain(path)

    with pytest.raises(ssl.SSLError):
        shake_hands(client, authority.server_context(), "localhost")
    trusting = authority.server_context(client_ca=company.certificate)
    assert shake_hands(client, trusting, "localhost").getpeercert()


def test_an_authority_is_kept(tmp_path: Path) -> None:
    """The same directory has the same authority; only the owner can read its key."""
    kept = tmp_path / "certificates"
    first, second = CertificateAuthority.load_or_create(kept), CertificateAuthority.load_or_create(kept)
    assert first.certificate == second.certificate
    assert (kept / "ca.key").stat().st_mode & 0o077 == 0
    assert shake_hands(strict_client(first.certificate), second.server_context(), "localhost").cipher()


def test_files_that_are_no_authority(tmp_path: Path) -> None:
    """Unreadable or mismatched files are a ConfigError."""
    (tmp_path / "ca.crt").write_bytes(CertificateAuthority.new().certificate)
    (tmp_path / "ca.key").write_bytes(CertificateAuthority.new()._key)
    with pytest.raises(ConfigError, match="the key does not match the certificate"):
        CertificateAuthority.load_or_create(tmp_path).server()
    with pytest.raises(ConfigError, match="cannot load or create a certificate authority in"):
        CertificateAuthority.load_or_create(tmp_path / "ca.crt" / "below")
    with pytest.raises(ConfigError, match="contains no certificate: expected"):
        CertificateAuthority.new().server_context(client_ca=b"rubbish")
    with pytest.raises(ConfigError, match="does not parse"):
        CertificateAuthority.new().server_context(client_ca=b"-----BEGIN CERTIFICATE-----\nrubbish")


def test_without_cryptography_the_cure_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error for a missing package has the command that installs it."""
    monkeypatch.delitem(sys.modules, "pyctrl._certificates", raising=False)
    monkeypatch.setitem(sys.modules, "cryptography", None)
    with pytest.raises(ConfigError, match=r"pip install 'pyctrl-runtime\[apiserver\]'"):
        CertificateAuthority.new()
