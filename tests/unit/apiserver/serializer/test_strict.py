"""Strict field validation."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyctrl._go.text import quoted
from pyctrl.apiserver._errors import StatusError
from pyctrl.apiserver._serializer.decoding import duplicate_members
from pyctrl.apiserver._serializer.strict import duplicate_fields, report_unknown


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (b'{"a":1,"b":{"a":2}}', []),
        (b'{"a":1,"a":2,"a":3}', ["a"]),
        (b'{"l":[{"x":1},{"x":1,"x":2}],"m":{"k":{},"k":{}}}', ["l[1].x", "m.k"]),
    ],
)
def test_duplicate_fields_in_document_order(body: bytes, found: list[str]) -> None:
    """Each path is reported once."""
    assert duplicate_fields(body) == found


_KEYS = st.text(st.sampled_from('a:": \\'), max_size=2)


def _spelled(text: str, escapes: bool) -> str:
    return json.dumps(text).replace(":", r"\u003a") if escapes else json.dumps(text)


def _rendered(value: Any, separator: str, escapes: bool) -> str:
    """Return JSON of a value whose objects are lists of pairs, so that keys can repeat."""
    if isinstance(value, list):
        members = [f"{_spelled(key, escapes)}{separator}{_rendered(each, separator, escapes)}" for key, each in value]
        return f"{{{','.join(members)}}}"
    return _spelled(value, escapes)


@given(
    st.recursive(_KEYS, lambda inner: st.lists(st.tuples(_KEYS, inner), max_size=3)),
    st.sampled_from([":", " : "]),
    st.booleans(),
)
def test_the_cheap_check_misses_nothing(value: Any, separator: str, escapes: bool) -> None:
    """Duplicate fields are found whatever spaces and escapes a body has, and whatever colons are in its texts."""
    body = _rendered(value, separator, escapes).encode()
    found = duplicate_members(body, msgspec.json.decode(body))
    assert found == [f"duplicate field {quoted(path)}" for path in duplicate_fields(body)]


def test_the_field_validation_decides() -> None:
    """Strict is an error, Warn a warning, Ignore nothing; duplicates in unknown fields are not reported."""
    unknown, duplicates = ["spec.x"], ['duplicate field "spec.x.y"', 'duplicate field "spec.z"']
    warnings: list[str] = []
    report_unknown("K", "v1", unknown, duplicates, "Ignore", warnings)
    assert warnings == []
    report_unknown("K", "v1", unknown, duplicates, "Warn", warnings)
    assert warnings == ['duplicate field "spec.z"', 'unknown field "spec.x"']
    with pytest.raises(StatusError, match='strict decoding error: duplicate field "spec.z", unknown field "spec.x"'):
        report_unknown("K", "v1", unknown, duplicates, "Strict", warnings)
