"""Bind addresses: accepted formats, and errors."""

from __future__ import annotations

import pytest

from pyctrl.errors import ManagerError
from pyctrl.manager._servers.bind_address import BindAddress


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        (":8081", None, 8081),
        ("127.0.0.1:80", "127.0.0.1", 80),
        ("[::1]:1", "::1", 1),
        ("some.host:0", "some.host", 0),
    ],
)
def test_an_address_is_a_host_and_a_port(text: str, host: str | None, port: int) -> None:
    """The formats of Go's listeners, as used in manifests."""
    assert BindAddress.parse(text, "health_bind_address") == BindAddress(host, port)
    assert str(BindAddress(host, port)) == text


@pytest.mark.parametrize("text", [None, "", "0"])
def test_no_address_is_none(text: str | None) -> None:
    """`0` disables a server, as with kubebuilder's flags."""
    assert BindAddress.parse(text, "health_bind_address") is None


@pytest.mark.parametrize("text", ["8081", "localhost", "::1:80", ":99999", "http://a:80"])
def test_anything_else_is_refused_with_the_forms_that_there_are(text: str) -> None:
    """The message names the option, the expected format, and the value."""
    with pytest.raises(ManagerError, match=r"health_bind_address is an address such as :8081, .*got '"):
        BindAddress.parse(text, "health_bind_address")
