"""Parse errors of IP addresses, in the words of Go's netip."""

from __future__ import annotations

import pytest

from pyctrl.cel._library.netip import address_error


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "unable to parse IP"),
        ("1.2.3", "IPv4 address too short"),
        ("1.2.3.4.5", "IPv4 address too long"),
        ("1.2.3.256", "IPv4 field has value >255"),
        ("01.2.3.4", "IPv4 field has octet with leading zero"),
        ("1::2::3", "multiple :: in address"),
        ("fe80::1%", "zone must be a non-empty string"),
    ],
)
def test_errors_of_addresses(text: str, why: str) -> None:
    """Each error has netip's reason."""
    assert why in address_error(text)
