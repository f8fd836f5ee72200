"""Issuing of server and client certificates by an authority."""

from __future__ import annotations

from datetime import timedelta

import pytest
from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID

from pyctrl import _clock
from pyctrl._certificates import issue_client, issue_server, new_authority


def test_a_server_certificate_has_its_names_and_addresses() -> None:
    """DNS names and addresses are subject alternative names, and the authority verifies the signature."""
    authority = new_authority("test-ca")
    issuer = x509.load_pem_x509_certificate(authority[0])
    made = x509.load_pem_x509_certificate(issue_server(authority, ["web.default.svc", "127.0.0.1", "::1"])[0])

    names = made.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["web.default.svc"]
    assert [str(each) for each in names.get_values_for_type(x509.IPAddress)] == ["127.0.0.1", "::1"]
    assert list(made.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value) == [
        ExtendedKeyUsageOID.SERVER_AUTH
    ]
    made.verify_directly_issued_by(issuer)


def test_a_client_certificate_names_user_and_groups() -> None:
    """The common name is the user, and each organization is a group, as kube-apiserver reads them."""
    made = x509.load_pem_x509_certificate(issue_client(new_authority("test-ca"), "jane", ["dev", "ops"])[0])

    assert [(each.rfc4514_attribute_name, each.value) for each in made.subject] == [
        ("O", "dev"),
        ("O", "ops"),
        ("CN", "jane"),
    ]
    assert list(made.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value) == [
        ExtendedKeyUsageOID.CLIENT_AUTH
    ]


def test_a_certificate_is_valid_for_its_lifetime() -> None:
    """A certificate is valid from five minutes ago, because clocks differ, until its lifetime has passed."""
    now = _clock.now().replace(microsecond=0)
    lifetime = timedelta(hours=2)
    made = x509.load_pem_x509_certificate(issue_server(new_authority("test-ca"), ["a"], lifetime=lifetime)[0])

    assert timedelta(0) <= made.not_valid_before_utc - (now - timedelta(minutes=5)) < timedelta(minutes=1)
    assert made.not_valid_after_utc - made.not_valid_before_utc == lifetime + timedelta(minutes=5)


def test_a_key_of_another_authority_is_an_error() -> None:
    """Signing with a key that does not belong to the authority is an error."""
    one, two = new_authority("one"), new_authority("two")
    with pytest.raises(ValueError, match="the key does not match the certificate"):
        issue_server((one[0], two[1]), ["a"])
