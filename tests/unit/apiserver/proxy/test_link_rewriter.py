"""Links of proxied responses, which stay below the proxy."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import AsyncGenerator

import pytest

from pyctrl.apiserver import Response
from pyctrl.apiserver._errors import StatusError
from pyctrl.apiserver._proxy.link_rewriter import LinkRewriter, escaped_path

PREFIX = "/api/v1/namespaces/default/pods/p/proxy"
LINKS = LinkRewriter(prefix=PREFIX, scheme="", host="", hosts=("10.0.0.1:80", "127.0.0.1:8001"))


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("/a/b?c=d#e", f"{PREFIX}/a/b?c=d#e"),
        ("/a//b/../c/", f"{PREFIX}/a/c/"),
        ("http://10.0.0.1:80/a", f"{PREFIX}/a"),
        ("http://127.0.0.1:8001/a%20b", f"http://127.0.0.1:8001{PREFIX}/a%20b"),
        (f"{PREFIX}/a", f"{PREFIX}/a"),
        ("http://elsewhere/a", "http://elsewhere/a"),
        ("a/b", "a/b"),
        ("#top", "#top"),
        ("http://[", "http://["),
    ],
)
def test_links_to_the_server_stay_below_the_proxy(target: str, expected: str) -> None:
    """Relative links and links to other hosts stay as they are."""
    assert LINKS.url(target) == expected


def test_the_server_is_told_where_clients_reach_it() -> None:
    """By X-Forwarded headers, with the trailing slash."""
    assert [*LINKS.headers("/a/")] == [("X-Forwarded-Uri", f"{PREFIX}/a/")]
    outside = LinkRewriter(prefix="", scheme="https", host="h:443", hosts=("h:443",))
    forwarded = {"X-Forwarded-Uri": "/apis/x/v1", "X-Forwarded-Host": "h:443", "X-Forwarded-Proto": "https"}
    assert dict(outside.headers("/apis/x/v1")) == forwarded


PAGE = """<!doctype html><p class='a'>1 &lt; 2<br>
<a id=x href="/a?b=1&amp;c=2">a</a> <img src='/i.png'/><a href="b">b</a>
<script>if (1 < 2) "<a href='/no'>"</script><form action="/f"></form>"""

REWRITTEN = f"""<!doctype html><p class="a">1 &lt; 2<br>
<a id="x" href="{PREFIX}/a?b=1&amp;c=2">a</a> <img src="{PREFIX}/i.png"/><a href="b">b</a>
<script>if (1 < 2) "<a href='/no'>"</script><form action="{PREFIX}/f"></form>"""


def test_links_of_a_page_are_rewritten() -> None:
    """Tags are written in the form of Go; scripts and text stay as they are."""
    assert LINKS.page(PAGE) == REWRITTEN
    assert LINKS.page("<P hidden title='\"a\" > b'>") == '<p hidden="" title="&#34;a&#34; &gt; b">'
    assert LINKS.page("a < b") == "a < b"


def page(body: bytes, coding: str = "", kind: str = "text/html; charset=utf-8") -> Response:
    """Return the response with a page."""
    headers = [("Content-Type", kind), ("Content-Length", str(len(body)))]
    return Response(status=200, headers=[*headers, *([("Content-Encoding", coding)] if coding else [])], body=body)


async def test_pages_may_be_compressed() -> None:
    """They are decoded and encoded again; what cannot be decoded is passed on."""
    encoder = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    deflated = encoder.compress(PAGE.encode()) + encoder.flush()
    found = await LINKS.rewritten(page(gzip.compress(PAGE.encode()), "gzip"))
    assert gzip.decompress(found.body).decode() == REWRITTEN  # type: ignore[arg-type]
    assert "Content-Length" not in dict(found.headers)
    found = await LINKS.rewritten(page(deflated, "deflate"))
    assert zlib.decompress(found.body, -zlib.MAX_WBITS).decode() == REWRITTEN  # type: ignore[arg-type]
    for other in (page(b"x", "br"), page(PAGE.encode(), kind="text/plain")):
        assert await LINKS.rewritten(other) is other
    with pytest.raises(StatusError):
        await LINKS.rewritten(page(b"no gzip", "gzip"))


async def test_a_page_that_is_a_stream_is_read_to_its_end() -> None:
    """Its links may be anywhere."""

    async def parts() -> AsyncGenerator[bytes, None]:
        yield b"<a hre"
        yield b'f="/a">'

    found = await LINKS.rewritten(Response(status=200, headers=[("Content-Type", "text/html")], body=parts()))
    assert found.body == f'<a href="{PREFIX}/a">'.encode()


def test_paths_have_the_escapes_of_go() -> None:
    """Brackets and quotes are escaped, delimiters are not."""
    assert escaped_path("/a b/é/(1)'?;,:@&=+$~") == "/a%20b/%C3%A9/%281%29%27%3F;,:@&=+$~"
