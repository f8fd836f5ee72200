"""The proxy for a server."""

from __future__ import annotations

import pytest

from pyctrl.client._login.proxy import checked_proxy, proxy_from_environment, without_password
from pyctrl.errors import ConfigError

PROXY = "http://proxy:3128"


@pytest.mark.parametrize(
    ("server", "variables", "proxy"),
    [
        ("https://cluster", {}, None),
        ("https://cluster", {"HTTPS_PROXY": PROXY}, PROXY),
        ("https://cluster", {"https_proxy": PROXY}, PROXY),
        ("https://cluster", {"HTTPS_PROXY": PROXY, "https_proxy": "http://lower"}, PROXY),
        ("https://cluster", {"HTTP_PROXY": PROXY}, None),
        ("http://cluster", {"HTTP_PROXY": PROXY}, PROXY),
        ("https://cluster", {"HTTPS_PROXY": "proxy:3128"}, PROXY),
        ("https://localhost:6443", {"HTTPS_PROXY": PROXY}, None),
        ("https://127.0.0.1:6443", {"HTTPS_PROXY": PROXY}, None),
        ("https://[::1]:6443", {"HTTPS_PROXY": PROXY}, None),
    ],
)
def test_the_environment_names_the_proxy(server: str, variables: dict[str, str], proxy: str | None) -> None:
    """HTTPS_PROXY is for https and HTTP_PROXY for http, upper case first; loopback addresses have no proxy."""
    assert proxy_from_environment(server, variables) == proxy


@pytest.mark.parametrize(
    ("entry", "server", "direct"),
    [
        ("*", "https://cluster", True),
        ("example.com", "https://example.com", True),
        ("example.com", "https://api.example.com:6443", True),
        ("example.com", "https://notexample.com", False),
        (".example.com", "https://api.example.com", True),
        (".example.com", "https://example.com", False),
        ("*.example.com", "https://api.example.com", True),
        ("EXAMPLE.com", "https://api.example.COM", True),
        ("example.com:6443", "https://example.com:6443", True),
        ("example.com:6443", "https://example.com", False),
        ("example.com:443", "https://example.com", True),
        ("10.0.0.0/8", "https://10.1.2.3:6443", True),
        ("10.0.0.0/8", "https://11.1.2.3", False),
        ("10.0.0.0/8", "https://cluster", False),
        ("10.1.2.3", "https://10.1.2.3", True),
        ("10.1.2.3:6443", "https://10.1.2.3", False),
        ("fd00::/8", "https://[fd00::1]:6443", True),
        ("[fd00::1]:6443", "https://[fd00::1]:6443", True),
        ("fd00::1", "https://[fd00::1]", True),
        ("nonsense/99", "https://10.1.2.3", False),
        ("", "https://cluster", False),
        ("other, .svc ,cluster", "https://cluster", True),
    ],
)
def test_no_proxy_means_what_it_means_to_go(entry: str, server: str, direct: bool) -> None:
    """NO_PROXY accepts names with their subdomains, addresses, networks and ports, as in Go's net/http."""
    assert (proxy_from_environment(server, {"HTTPS_PROXY": PROXY, "NO_PROXY": entry}) is None) is direct


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("socks5://proxy:1080", "scheme 'socks5' are not supported"),
        ("http://", "has no host"),
        ("http://proxy:port", "is not the URL of a proxy"),
    ],
)
def test_a_proxy_that_cannot_be_used_is_told(value: str, why: str) -> None:
    """An unsupported proxy or a broken URL is an error with its source, before any request."""
    with pytest.raises(ConfigError, match=f"proxy-url of cluster 'x': .*{why}"):
        checked_proxy(value, "proxy-url of cluster 'x'")


def test_the_password_of_a_proxy_is_not_shown() -> None:
    """An error about a proxy hides its password."""
    assert without_password("http://me:s3cret@proxy:3128/x") == "http://…@proxy:3128/x"
    with pytest.raises(ConfigError) as caught:
        checked_proxy("http://me:s3cret@proxy:port", "HTTPS_PROXY")
    assert "s3cret" not in str(caught.value)
