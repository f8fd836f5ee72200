"""HTTP headers of client and server."""

from __future__ import annotations

import pytest

from pyctrl._headers import Headers


def test_names_match_in_any_case() -> None:
    """Names match in any case, all values are kept, and the mapping returns the first."""
    headers = Headers([("A", "1"), ("b", "2"), ("a", "3")])

    assert headers["a"] == headers.get("A") == "1"
    assert headers.get_all("a") == ["1", "3"]
    assert dict(headers) == {"A": "1", "b": "2"}
    assert headers.lowered == {"a": "1", "b": "2"}
    assert len(headers) == 2
    assert "B" in headers


def test_a_name_that_is_not_there() -> None:
    """A missing header is None, the default, an empty list, or a KeyError with the name as written."""
    headers = Headers([("A", "1")])

    assert headers.get("C") is None
    assert headers.get("C", "2") == "2"
    assert headers.get_all("C") == []
    assert "C" not in headers
    with pytest.raises(KeyError, match="'C'"):
        headers["C"]
