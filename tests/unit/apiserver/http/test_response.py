"""Encoding of HTTP/1.1 responses."""

from __future__ import annotations

import gzip
from dataclasses import replace

import pytest

from pyctrl.apiserver import Response
from pyctrl.apiserver._http.head import RequestHead, parse_head
from pyctrl.apiserver._http.response import (
    GZIP_FROM,
    encode_chunk,
    encode_response,
    encode_stream_head,
    error_response,
    is_compressible,
)


def _head(method: str = "GET", minor: int = 1, *lines: str) -> RequestHead:
    return parse_head("\r\n".join([f"{method} / HTTP/1.{minor}", "Host: localhost", *lines]).encode())


def _split(data: bytes) -> tuple[list[str], bytes]:
    head, _, body = data.partition(b"\r\n\r\n")
    return [line for line in head.decode().split("\r\n") if not line.startswith("Date: ")], body


def test_a_response_has_its_length() -> None:
    """A response to HEAD has the length of the body without the body."""
    response = Response(status=201, headers=[("A", "b")], body=b"xyz")
    lines, body = _split(encode_response(_head(), response, closing=False))
    assert (lines, body) == (["HTTP/1.1 201 Created", "A: b", "Content-Length: 3"], b"xyz")
    assert _split(encode_response(_head("HEAD"), response, closing=False)) == (lines, b"")


@pytest.mark.parametrize(
    ("minor", "closing", "line"),
    [(1, True, ["Connection: close"]), (1, False, []), (0, False, ["Connection: keep-alive"]), (0, True, [])],
)
def test_the_connection_is_announced_where_it_is_not_the_default(minor: int, closing: bool, line: list[str]) -> None:
    """HTTP/1.1 connections stay open by default, HTTP/1.0 connections close."""
    lines, _ = _split(encode_response(_head("GET", minor), Response(status=200, headers=()), closing=closing))
    assert [each for each in lines if each.startswith("Connection")] == line


def test_large_bodies_are_compressed_for_clients_that_accept_gzip() -> None:
    """The threshold is kube-apiserver's."""
    large, accepting = b"a" * (GZIP_FROM + 1), _head("GET", 1, "Accept-Encoding: gzip")
    response = Response(status=200, headers=(), body=large)
    assert not is_compressible(_head(), response)
    assert not is_compressible(accepting, replace(response, body=large[1:]))
    lines, body = _split(encode_response(accepting, response, closing=False))
    assert {"Content-Encoding: gzip", "Vary: Accept-Encoding"} <= set(lines)
    assert gzip.decompress(body) == large


def test_the_response_of_another_server_is_not_compressed_again() -> None:
    """It is passed on as it is."""
    response = Response(status=200, headers=(), body=b"a" * (GZIP_FROM + 1), is_verbatim=True)
    assert not is_compressible(_head("GET", 1, "Accept-Encoding: gzip"), response)


def test_streams_are_chunked_in_http_1_1() -> None:
    """An HTTP/1.0 stream ends with the connection."""
    response = Response(status=200, headers=())
    assert "Transfer-Encoding: chunked" in _split(encode_stream_head(_head(), response, closing=False))[0]
    assert _split(encode_stream_head(_head("GET", 0), response, closing=False))[0] == ["HTTP/1.0 200 OK"]
    assert encode_chunk(b"x" * 17) == b"11\r\n" + b"x" * 17 + b"\r\n"


def test_a_header_cannot_be_split() -> None:
    """Line breaks in header values become spaces."""
    response = Response(status=200, headers=[("Warning", "a\r\nX: y")])
    lines, _ = _split(encode_response(_head(), response, closing=False))
    assert "Warning: a  X: y" in lines
    assert error_response("400 Bad Request", "").endswith(b"Content-Length: 0\r\n\r\n")
