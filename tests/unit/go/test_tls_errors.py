"""Texts of failed TLS handshakes."""

from __future__ import annotations

import ssl

import pytest

from pyctrl._go.tls_errors import handshake_error


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        ("TLSV1_ALERT_INTERNAL_ERROR", "remote error: tls: internal error"),
        ("SSLV3_ALERT_HANDSHAKE_FAILURE", "remote error: tls: handshake failure"),
        ("TLSV13_ALERT_CERTIFICATE_REQUIRED", "remote error: tls: certificate required"),
        ("TLSV1_UNRECOGNIZED_NAME", "remote error: tls: unrecognized name"),
        ("TLSV1_ALERT_UNKNOWN_CA", "remote error: tls: unknown certificate authority"),
        ("WRONG_VERSION_NUMBER", "tls: first record does not look like a TLS handshake"),
        ("", "tls: first record does not look like a TLS handshake"),
    ],
)
def test_the_text_is_that_of_go(reason: str, text: str) -> None:
    """An alert of the server has Go's text; anything else was no TLS."""
    error = ssl.SSLError()
    error.reason = reason
    assert handshake_error(error) == text
