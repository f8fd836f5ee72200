"""URLs of requests, as Go parses them."""

from __future__ import annotations

import pytest

from pyctrl._go.urls import split_scheme, url_error


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("https://a.example:80/b?c", ""),
        ("/path", ""),
        ("mailto:a b", ""),
        ("", 'parse "": empty url'),
        ("path", 'parse "path": invalid URI for request'),
        (":x", 'parse ":x": missing protocol scheme'),
        ("http://a b/", 'parse "http://a b/": invalid character " " in host name'),
        ("http://a:b/", 'parse "http://a:b/": invalid port ":b" after host'),
        ("http://[::1", "parse \"http://[::1\": missing ']' in host"),
        ("/%zz", 'parse "/%zz": invalid URL escape "%zz"'),
    ],
)
def test_an_invalid_url_has_the_error_of_go(text: str, error: str) -> None:
    """`url_error` returns what `url.ParseRequestURI` says."""
    assert url_error(text) == error


def test_a_url_begins_with_its_scheme() -> None:
    """Without a scheme the text is returned whole."""
    assert split_scheme("https://a") == ("https", "//a")
    assert split_scheme("/a:b") == ("", "/a:b")
