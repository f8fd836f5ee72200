"""Certificate requests on a machine without the package cryptography."""

from __future__ import annotations

import base64

import pytest

from pyctrl import _certificate_requests
from pyctrl._certificate_requests import NoCryptography, check_request, parse_request


def pem(der: bytes) -> bytes:
    """Return a PEM block of a request."""
    return b"-----BEGIN CERTIFICATE REQUEST-----\n%s-----END CERTIFICATE REQUEST-----\n" % base64.encodebytes(der)


def test_without_cryptography_only_the_structure_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A request whose content cannot be read is accepted if its outermost structure is right."""
    monkeypatch.setattr(_certificate_requests, "_cryptography", lambda: None)
    check_request(pem(b"\x30\x03abc"))
    with pytest.raises(ValueError, match="asn1: syntax error: trailing data"):
        check_request(pem(b"\x30\x03abcd"))
    with pytest.raises(NoCryptography):
        parse_request(pem(b"\x30\x03abc"))
