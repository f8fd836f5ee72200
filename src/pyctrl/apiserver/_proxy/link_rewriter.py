"""Links of a proxied response: redirects, and the URLs in the tags of HTML pages, which lead back to the proxy."""

from __future__ import annotations

import gzip
import posixpath
import zlib
from collections.abc import AsyncGenerator, Collection, Iterator
from contextlib import aclosing
from dataclasses import dataclass, replace
from html.parser import HTMLParser
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from pyctrl.apiserver._errors import Response, Upgrade, internal_error

__all__ = ["LinkRewriter", "escaped_path"]

_IN_PATHS = "/$&+,:;=@~"  # besides letters, digits and "-._", what Go leaves as it is in a path

# The attributes with URLs, by tag, as in apimachinery's proxy.Transport.
_CITED = dict.fromkeys(("blockquote", "del", "ins", "q"), frozenset(("cite",)))
_URLS = {
    **_CITED,
    "a": frozenset(("href",)),
    "applet": frozenset(("codebase",)),
    "area": frozenset(("href",)),
    "audio": frozenset(("src",)),
    "base": frozenset(("href",)),
    "body": frozenset(("background",)),
    "button": frozenset(("formaction",)),
    "command": frozenset(("icon",)),
    "embed": frozenset(("src",)),
    "form": frozenset(("action",)),
    "frame": frozenset(("longdesc", "src")),
    "head": frozenset(("profile",)),
    "html": frozenset(("manifest",)),
    "iframe": frozenset(("longdesc", "src")),
    "img": frozenset(("longdesc", "src", "usemap")),
    "input": frozenset(("src", "usemap", "formaction")),
    "link": frozenset(("href",)),
    "object": frozenset(("classid", "codebase", "data", "usemap")),
    "script": frozenset(("src",)),
    "source": frozenset(("src",)),
    "video": frozenset(("poster", "src")),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkRewriter:
    """Rewrites links of one server.

    Attributes:
        prefix: The path below which the proxy serves the server.
        scheme: The scheme of rewritten links; "" for none.
        host: Their host; "" for none.
        hosts: The hosts that are the server; the last one is that of the client's request.
    """

    prefix: str
    scheme: str
    host: str
    hosts: tuple[str, ...]

    def headers(self, path: str) -> Iterator[tuple[str, str]]:
        """Yield the headers that tell the server where the client reaches a path."""
        uri = posixpath.normpath(f"{self.prefix}/{path}".replace("//", "/"))
        yield "X-Forwarded-Uri", uri + "/" if path.endswith("/") and uri != "/" else uri
        if self.host:
            yield "X-Forwarded-Host", self.host
        if self.scheme:
            yield "X-Forwarded-Proto", self.scheme

    async def rewritten(self, response: Response) -> Response:
        """Return a response with its redirect, or the links of its page, rewritten."""
        first = {name.lower(): value for name, value in reversed(response.headers)}
        if first.get("location"):
            return replace(response, headers=[(name, self._header(name, value)) for name, value in response.headers])
        kind, coding = first.get("content-type", "").partition(";")[0].strip(), first.get("content-encoding", "")
        if kind != "text/html" or coding not in _CODINGS:
            return response
        decode, encode = _CODINGS[coding]
        page = await _whole(response.body)
        try:
            body = encode(self.page(decode(page).decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape"))
        except (OSError, EOFError, zlib.error) as error:
            raise internal_error(f"error making {coding} reader: {error}") from None
        headers = [(name, value) for name, value in response.headers if name.lower() != "content-length"]
        return replace(response, headers=headers, body=body) if page else response

    def _header(self, name: str, value: str) -> str:
        return self.url(value) if name.lower() == "location" else value

    def url(self, target: str) -> str:
        """Return a link as the client reaches it. Links to other hosts, and relative ones, stay as they are."""
        try:
            url = urlsplit(target)
        except ValueError:
            return target
        if (url.netloc and url.netloc not in self.hosts) or not url.path.startswith("/"):
            return target
        if url.netloc != self.hosts[-1] or self.host:
            url = url._replace(scheme=self.scheme, netloc=self.host)
        if not unquote(url.path).startswith(self.prefix):
            joined = posixpath.normpath(self.prefix + unquote(url.path))
            url = url._replace(path=escaped_path(joined) + ("/" if url.path.endswith("/") else ""))
        return urlunsplit(url)

    def page(self, text: str) -> str:
        """Return an HTML page with its links rewritten."""
        parser = _TagParser(self, text)
        parser.feed(text)
        parser.close()
        return "".join(parser.parts()) if parser.changes else text


class _TagParser(HTMLParser):
    """Finds the tags of a page, with their links rewritten."""

    def __init__(self, links: LinkRewriter, text: str) -> None:
        super().__init__(convert_charrefs=False)
        self._links, self._text = links, text
        self._lines = [0]
        for line in text.split("\n"):
            self._lines.append(self._lines[-1] + len(line) + 1)
        #: The start, the end and the new text of each tag.
        self.changes: list[tuple[int, int, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record a tag; Go writes all of them in one form."""
        changed = [(name, self._changed(tag, name, value)) for name, value in attrs]
        line, column = self.getpos()
        start, text = self._lines[line - 1] + column, self.get_starttag_text() or ""
        self.changes.append((start, start + len(text), _tag(tag, changed, is_closed=text.endswith("/>"))))

    def _changed(self, tag: str, name: str, value: str | None) -> str | None:
        return self._links.url(value) if value and name in _URLS.get(tag, ()) else value

    def parts(self) -> Iterator[str]:
        """Yield the page in parts."""
        position = 0
        for start, end, tag in self.changes:
            yield self._text[position:start]
            yield tag
            position = end
        yield self._text[position:]


_ESCAPES = str.maketrans({"&": "&amp;", "'": "&#39;", "<": "&lt;", ">": "&gt;", '"': "&#34;", "\r": "&#13;"})  # Go's


def _tag(name: str, attributes: Collection[tuple[str, str | None]], *, is_closed: bool) -> str:
    shown = "".join(f' {key}="{(value or "").translate(_ESCAPES)}"' for key, value in attributes)
    return f"<{name}{shown}{'/' if is_closed else ''}>"


def escaped_path(path: str) -> str:
    """Return a path with the escapes of Go's `URL.EscapedPath`."""
    return quote(path, safe=_IN_PATHS)


async def _whole(body: bytes | AsyncGenerator[bytes, None] | Upgrade) -> bytes:
    assert not isinstance(body, Upgrade)  # those are not rewritten
    if isinstance(body, bytes):
        return body
    async with aclosing(body) as parts:
        return b"".join([part async for part in parts])


def _same(data: bytes) -> bytes:
    return data


def _inflated(data: bytes) -> bytes:
    return zlib.decompress(data, -zlib.MAX_WBITS)


def _deflated(data: bytes) -> bytes:
    encoder = zlib.compressobj(zlib.Z_BEST_COMPRESSION, wbits=-zlib.MAX_WBITS)
    return encoder.compress(data) + encoder.flush()


_CODINGS = {"": (_same, _same), "gzip": (gzip.decompress, gzip.compress), "deflate": (_inflated, _deflated)}
