"""JSON syntax errors with the messages of Go's decoder."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyctrl._go.json_errors import syntax_error


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "unexpected end of JSON input"),
        (b"{not", "invalid character 'n' looking for beginning of object key string"),
        (b'{"a":1,}', "invalid character '}' looking for beginning of object key string"),
        (b'{"a" 1}', "invalid character '1' after object key"),
        (b"[1 2]", "invalid character '2' after array element"),
        (b'{"a":01}', "invalid character '1' after object key:value pair"),
        (b"trux", "invalid character 'x' in literal true (expecting 'e')"),
        (b'"\n"', r"invalid character '\n' in string literal"),
        (b'"\\x"', "invalid character 'x' in string escape code"),
        (b"1.x", "invalid character 'x' after decimal point in numeric literal"),
        (b"{} x", "invalid character 'x' after top-level value"),
        (b"[" * 20_000, "invalid character '[' exceeded max depth"),
    ],
)
def test_text_that_is_not_json_is_refused_in_gos_words(text: bytes, message: str) -> None:
    """A client that logs the message sees what kube-apiserver would have said."""
    assert syntax_error(text) == message


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(json_values, st.sampled_from([None, 1]))
def test_json_has_no_syntax_error(value: Any, indent: int | None) -> None:
    """Whatever is JSON passes the scanner."""
    assert syntax_error(json.dumps(value, indent=indent).encode()) == ""
