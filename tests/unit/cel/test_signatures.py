"""Function tables."""

from __future__ import annotations

import pytest

from pyctrl.cel._signatures import overloads, read_type


@pytest.mark.parametrize(
    ("text", "kind", "shown"),
    [
        ("int", "int", "int"),
        ("list(A)", "list", "list(A)"),
        ("map(string, list(int))", "map", "map(string, list(int))"),
        ("net.IP", "opaque", "net.IP"),
    ],
)
def test_types_of_signatures(text: str, kind: str, shown: str) -> None:
    """A single capital letter is a type parameter, any other unknown name an opaque type."""
    found = read_type(text)
    assert (found.kind, str(found)) == (kind, shown)


def test_overloads_of_one_name_are_joined() -> None:
    """The first parameter of a method is its target; functions have none."""
    table = overloads({"f": [("list(A).(A, int) -> bool", max)]}, {"f": [("(map(A,B)) -> A", min)]})
    method, function = table["f"]
    assert (method.is_member, [str(each) for each in method.parameters], method.variables) == (
        True,
        ["list(A)", "A", "int"],
        ("A",),
    )
    assert (function.is_member, str(function.result), function.variables) == (False, "A", ("A", "B"))
