"""Cross-origin protection: without TLS, requests of web pages are refused and those of programs accepted."""

from __future__ import annotations

import pytest

from pyctrl.apiserver import ApiServer, serve
from pyctrl.apiserver._errors import StatusError
from pyctrl.apiserver._http.cross_origin import CrossOriginProtection
from pyctrl.apiserver._http.head import parse_head
from tests.unit.apiserver._raw import connected


def check(*lines: str, method: str = "POST", hosts: tuple[str, ...] = ("0.0.0.0",)) -> None:
    CrossOriginProtection(hosts).check(parse_head("\r\n".join([f"{method} /api HTTP/1.1", *lines]).encode()))


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1:8080", "192.0.2.7", "[::1]:8080", "[::1]", "localhost:8080", "LOCALHOST", "dev.localhost.", "0.0.0.0"],
)
def test_addresses_and_localhost_are_the_server(host: str) -> None:
    """IP addresses and localhost are accepted, with and without a port."""
    check(f"Host: {host}")
    check(f"Host: {host}", f"Origin: http://{host.lower()}", "Sec-Fetch-Site: same-origin")


@pytest.mark.parametrize("host", ["evil.example:8080", "localhost.evil.example", "127.0.0.1.evil.example", "x"])
def test_another_name_is_refused(host: str) -> None:
    """DNS rebinding: a page whose name resolves to 127.0.0.1 sends its own name, which is refused unless allowed."""
    with pytest.raises(StatusError, match="is not allowed"):
        check(f"Host: {host}", method="GET")
    check(f"Host: {host}", method="GET", hosts=(host.partition(":")[0].upper(),))


@pytest.mark.parametrize(
    "lines",
    [
        ("Origin: https://evil.example",),
        ("Origin: null",),
        ("Origin: http://[",),
        ("Origin: http://localhost:3000",),
        ("Sec-Fetch-Site: cross-site",),
        ("Sec-Fetch-Site: same-site",),
        ("Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"),
    ],
)
def test_another_origin_is_refused(lines: tuple[str, ...]) -> None:
    """A page of another site, or of another port of this machine, is refused."""
    with pytest.raises(StatusError, match="requests of web pages are refused"):
        check("Host: localhost:8080", *lines)


def test_a_link_may_be_followed() -> None:
    """A followed link is served: the page with the link cannot read it, and a GET changes nothing."""
    check("Host: localhost:8080", "Sec-Fetch-Site: none", "Sec-Fetch-Mode: navigate", method="GET")
    check("Host: localhost:8080", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", method="GET")


@pytest.mark.real_time
async def test_a_server_without_tls_refuses_web_pages() -> None:
    """The refusal is a Status and changes nothing; allowed names and HTTP/1.0 without Host are served."""
    maps = "/api/v1/namespaces/default/configmaps"
    async with serve(ApiServer(), allowed_hosts=["dev.example"]) as url:
        async with connected(url) as client:
            told = await client.ask("POST", maps, "Origin: https://evil.example", body=b'{"metadata":{"name":"a"}}')
            assert (told.status, b'"reason":"Forbidden"' in told.body) == (403, True)
            assert (await client.ask("GET", f"{maps}/a")).status == 404
        for lines, status in (
            ("HTTP/1.1\nHost: dev.example:1", 200),
            ("HTTP/1.0", 200),
            ("HTTP/1.1\nHost: evil.example", 403),
        ):
            async with connected(url) as client:
                await client.send(f"GET /version {lines}\n\n")
                assert (await client.told()).status == status
