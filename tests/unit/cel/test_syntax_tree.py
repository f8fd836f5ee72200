"""Decoding of the parser's output."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.cel._expressions import Call, Constant, Identifier, ListLiteral, MapLiteral, Select
from pyctrl.cel._parser import parse
from pyctrl.cel._values import Uint


@pytest.mark.parametrize(
    ("text", "value"),
    [("null", None), ("true", True), ("-3", -3), ("3u", Uint(3)), ("1.5", 1.5), ("'a'", "a"), ("b'a'", b"a")],
)
def test_constants(text: str, value: Any) -> None:
    """Each literal has its Python value and type."""
    found = parse(text)
    assert isinstance(found, Constant)
    assert (found.value, type(found.value)) == (value, type(value))


def test_nodes() -> None:
    """Calls have target and arguments, literals their items, and `has` is a selection that tests."""
    call = parse("a.f([1, ?b], {'k': has(c.d)})")
    assert isinstance(call, Call)
    assert (call.function, isinstance(call.target, Identifier)) == ("f", True)
    items, entries = call.arguments
    assert isinstance(items, ListLiteral)
    assert items.optional == {1}
    assert isinstance(entries, MapLiteral)
    (entry,) = entries.entries
    assert isinstance(entry.value, Select)
    assert (entry.value.field, entry.value.is_test) == ("d", True)
