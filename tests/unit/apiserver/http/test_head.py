"""Request heads: parsing, and errors with the messages of Go's net/http."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyctrl.apiserver._http.head import MalformedHead, RequestHead, parse_head


def head(first: str = "GET / HTTP/1.1", *lines: str) -> RequestHead:
    return parse_head("\r\n".join([first, "Host: x", *lines]).encode("latin-1"))


def test_a_head_is_method_path_query_and_headers() -> None:
    """Header names are case-insensitive, and the first of a repeated header counts."""
    read = head("PATCH /api/v1/nodes?a=1&b=%20c HTTP/1.1", "Content-LENGTH: 7", "Accept: one", "accept:two ")

    assert (read.method, read.path, read.length, read.headers["accept"]) == ("PATCH", "/api/v1/nodes", 7, "one")
    assert read.headers.get_all("accept") == ["one", "two"]
    assert read.parameters() == [("a", "1"), ("b", " c")]


def test_a_folded_line_belongs_to_the_header_above_it() -> None:
    """A line that begins with a space continues the last header, also one of a repeated name."""
    read = head("GET / HTTP/1.1", "Accept: one", "Accept: two", "\t, three")

    assert read.headers.get_all("accept") == ["one", "two , three"]


@pytest.mark.parametrize(
    ("target", "path", "query"),
    [
        ("http://somewhere/api?x", "/api", "x"),
        ("HTTPS://somewhere:6443", "/", ""),
        ("http://somewhere?x=/y", "/", "x=/y"),
        ("/a?b?c", "/a", "b?c"),
        ("/a%2Fb", "/a%2Fb", ""),
        ("/\xff", "/\xff", ""),
    ],
)
def test_targets(target: str, path: str, query: str) -> None:
    """A target may be an absolute URL, and its path is not decoded."""
    read = head(f"GET {target} HTTP/1.1")
    assert (read.path, read.query) == (path, query)


@pytest.mark.parametrize("method", ["get", "FOO", "M-SEARCH", "CONNECT", "TRACE"])
def test_any_method_reaches_the_server(method: str) -> None:
    """The parser accepts every method: the server answers 405 with a Status."""
    assert head(f"{method} / HTTP/1.1").method == method


def test_parameters_that_do_not_parse_are_passed_over() -> None:
    """A parameter with a bad escape or a semicolon is dropped; the others are kept."""
    assert head("GET /?a=%zz&b=1;c=2&d=3&e&=f&g=%C3%A4+%2B HTTP/1.1").parameters() == [
        ("d", "3"),
        ("e", ""),
        ("", "f"),
        ("g", "ä +"),
    ]


@pytest.mark.parametrize(
    ("data", "status"),
    [
        ("hello", "400 Bad Request"),
        ("GET / HTTP/1.1\r\nA: b", "400 Bad Request: missing required Host header"),
        ("GET / HTTP/1.1\r\nHost: x\r\nHost: y", "400 Bad Request"),
        ("GET api HTTP/1.1\r\nHost: x", "400 Bad Request"),
        ("GET /a b HTTP/1.1\r\nHost: x", "400 Bad Request"),
        ("GET /%zz HTTP/1.1\r\nHost: x", "400 Bad Request"),
        ("GET /\x01 HTTP/1.1\r\nHost: x", "400 Bad Request"),
        ("G(T / HTTP/1.1\r\nHost: x", "400 Bad Request"),
        ("GET / HTTP/2.0\r\nHost: x", "505 HTTP Version Not Supported: unsupported protocol version"),
        ("GET / HTTP/11\r\nHost: x", "400 Bad Request"),
        ("GET / HTTP/1.1\r\nHost: x\r\nnocolon", "400 Bad Request"),
        ("GET / HTTP/1.1\r\nHost: x\r\nbad name: 1", "400 Bad Request: invalid header name"),
        ("GET / HTTP/1.1\r\nHost: x\r\nname : 1", "400 Bad Request"),
        ("GET / HTTP/1.1\r\nHost: x\r\nname: \x00", "400 Bad Request: invalid header value"),
        ("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: -3", "400 Bad Request"),
        ("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 4", "400 Bad Request"),
        ("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999", "400 Bad Request"),
        ("GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip", "501 Not Implemented"),
        ("GET / HTTP/1.1\r\nHost: x\r\nExpect: wonders", "417 Expectation Failed"),
    ],
)
def test_refusals(data: str, status: str) -> None:
    """A head that net/http refuses gets the same status line."""
    with pytest.raises(MalformedHead) as refused:
        parse_head(data.encode("latin-1"))
    assert refused.value.status == status


def test_chunks_win_over_a_length() -> None:
    """With both headers Content-Length is ignored, so that proxies and the server agree on the end of a request."""
    read = head("POST / HTTP/1.1", "Content-Length: 3", "Transfer-Encoding: chunked")
    assert (read.is_chunked, read.length) == (True, 0)


@pytest.mark.parametrize(
    ("version", "connection", "kept"),
    [
        ("1.1", None, True),
        ("1.1", "close", False),
        ("1.1", "Upgrade, CLOSE", False),
        ("1.0", None, False),
        ("1.0", "keep-alive", True),
    ],
)
def test_who_keeps_a_connection(version: str, connection: str | None, kept: bool) -> None:
    """HTTP/1.1 keeps the connection unless the client closes it, HTTP/1.0 only on request."""
    lines = [f"Connection: {connection}"] if connection else []
    assert head(f"GET / HTTP/{version}", *lines).keeps_alive is kept


@given(st.binary(max_size=200))
def test_nothing_but_a_refusal_comes_of_rubbish(data: bytes) -> None:
    """Any bytes are parsed or refused, without another error."""
    try:
        read = parse_head(data)
    except MalformedHead:
        return
    assert read.path
    read.parameters()
