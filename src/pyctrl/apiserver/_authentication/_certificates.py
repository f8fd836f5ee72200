"""Client certificates, which TLS has verified, as users."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyctrl.apiserver._authentication._user import AUTHENTICATED, User


def user_of_certificate(certificate: Mapping[str, Any]) -> User | None:
    """Give the user that a verified client certificate is: the common name, in its organizations as groups.

    Args:
        certificate: as `ssl.SSLSocket.getpeercert` gives it.
    """
    subject = [pair for names in certificate.get("subject", ()) for pair in names]
    name = next((value for key, value in subject if key == "commonName"), "")
    groups = tuple(value for key, value in subject if key == "organizationName")
    return User(name=name, groups=(*groups, AUTHENTICATED)) if name else None
