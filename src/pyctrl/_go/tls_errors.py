"""Texts of failed TLS handshakes as in Go's `crypto/tls`."""

from __future__ import annotations

import re
import ssl

__all__ = ["handshake_error"]

_ALERT = re.compile(r"(?:TLSV1|TLSV13|SSLV3)_(?:ALERT_)?(\w+)")
#: Alerts whose text is not that of OpenSSL's name.
_TEXTS = {
    "bad record mac": "bad record MAC",
    "certificate revoked": "revoked certificate",
    "certificate expired": "expired certificate",
    "certificate unknown": "unknown certificate",
    "unknown ca": "unknown certificate authority",
    "decode error": "error decoding message",
    "decrypt error": "error decrypting message",
    "protocol version": "protocol version not supported",
    "insufficient security": "insufficient security level",
    "user cancelled": "user canceled",
}


def handshake_error(error: ssl.SSLError) -> str:
    """Return the text of an error other than an untrusted certificate: the server's alert, or that it sent no TLS."""
    alert = _ALERT.fullmatch(error.reason or "")
    if alert is None:
        return "tls: first record does not look like a TLS handshake"
    text = alert[1].lower().replace("_", " ")
    return f"remote error: tls: {_TEXTS.get(text, text)}"
