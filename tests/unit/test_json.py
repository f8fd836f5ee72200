"""JSON: one error class, and documents that are too deeply nested for the decoders."""

from __future__ import annotations

import pytest

from pyctrl._json import decode_json, split_items, split_members
from pyctrl.errors import DecodeError

DEEP = b"[" * 2000 + b"]" * 2000


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b'"a', "truncated"),
        (b'"\xff"', "not UTF-8"),
        (b"1", "Expected `str`"),
    ],
)
def test_every_failure_is_a_decode_error(data: bytes, why: str) -> None:
    """Invalid JSON, invalid UTF-8 and another type are DecodeErrors with the reason."""
    with pytest.raises(DecodeError, match=why):
        decode_json(data, str)


def test_members_are_split_without_decoding() -> None:
    """Each member keeps its JSON byte for byte; of duplicate names the last one counts."""
    data = b'{ "a": {"x": [1, "}"]} , "b":"\\"," , "deep": %s, "a": 2 }' % DEEP
    assert split_members(data) == ({"a": b"2", "b": b'"\\","', "deep": DEEP}, True)


@pytest.mark.parametrize(
    ("data", "members"),
    [
        (b'{"a": 1, "b": [1', {"a": b"1"}),
        (b'{"a": 1, "b": 2]', {"a": b"1"}),
        (b'{"a": 1} x', {"a": b"1"}),
        (b"[1]", {}),
    ],
)
def test_damage_is_reported_with_the_members_before_it(data: bytes, members: dict[str, bytes]) -> None:
    """A truncated or damaged document is reported as incomplete, with the members before the damage."""
    assert split_members(data) == (members, False)


def test_the_scan_ends_at_the_wanted_member() -> None:
    """Data after the wanted member is not read, so damage there has no effect."""
    assert split_members(b'{"kind": "Pod", "metadata": {}, "spec": ]]', until="metadata")[0] == {
        "kind": b'"Pod"',
        "metadata": b"{}",
    }


def test_items_are_split_without_decoding() -> None:
    """The items of a list are split, also nested ones; a truncated list is incomplete."""
    assert split_items(b'[{"a": [{}]}, {"b": %s}]' % DEEP) == ([b'{"a": [{}]}', b'{"b": %s}' % DEEP], True)
    assert split_items(b'[{"a": 1}, {"b":') == ([b'{"a": 1}'], False)
