"""Estimated costs of the functions of Kubernetes and of cel-go's extensions."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from pyctrl.cel import STRING, list_of
from pyctrl.cel._estimates import MAX, Size
from pyctrl.cel._expressions import Constant
from pyctrl.cel._library.costs import CallEstimate, Operand, library_estimate


class _Sizes:
    """The items at each path have 5 characters."""

    def find_size(self, path: Sequence[str] | None) -> Size | None:
        return Size(0, 5) if path else None


def _text(most: int, least: int = 0) -> Operand:
    return Operand(STRING, None, Size(least, most), None)


def _number(value: int) -> Operand:
    return Operand(STRING, None, None, Constant(at=0, value=value))


ITEMS = Operand(list_of(STRING), ["self", "items"], Size(0, 10), None)


@pytest.mark.parametrize(
    ("function", "target", "arguments", "estimate"),
    [
        ("lowerAscii", _text(100), (), CallEstimate(10, Size(0, 100))),
        ("split", _text(100), (_text(1), _number(3)), CallEstimate(20, Size(0, 3))),
        ("replace", _text(100), (_text(1, 1), _text(2, 2)), CallEstimate(20, Size(0, 200))),
        ("replace", _text(100), (_text(0), _text(2, 2)), CallEstimate(20, Size(2, 302))),
        ("replace", _text(100), (_text(2, 2), _text(1, 1)), CallEstimate(20, Size(0, 100))),
        ("join", ITEMS, (_text(1, 1),), CallEstimate(6, Size(0, 59))),
        ("max", ITEMS, (), CallEstimate(20)),
        ("find", _text(99), (_text(8),), CallEstimate(20, Size(0, 99))),
        ("distinct", ITEMS, (), CallEstimate(211, Size(0, 100))),
        ("slice", ITEMS, (_number(2), _number(6)), CallEstimate(15, Size(4, 4))),
        ("lists.range", None, (_number(-1),), CallEstimate(11, Size(0, 0))),
        ("sets.equivalent", None, (ITEMS, ITEMS), CallEstimate(201)),
        ("check", None, (), CallEstimate(350_000)),
        ("fieldSelector", None, (_text(10),), CallEstimate(10 + 1 + 250)),
    ],
)
def test_estimates(
    function: str, target: Operand | None, arguments: tuple[Operand, ...], estimate: CallEstimate
) -> None:
    """The cost follows the sizes of the operands, as does the size of the result."""
    assert library_estimate(_Sizes(), function, "", target, arguments) == estimate


def test_an_item_of_unknown_size_is_expensive() -> None:
    """Comparisons of texts without a schema have the highest cost."""
    unknown = Operand(list_of(STRING), None, Size(0, 10), None)
    assert library_estimate(_Sizes(), "min", "", unknown, ()) == CallEstimate(MAX)


def test_a_text_is_parsed_before_it_is_compared() -> None:
    """`containsIP` of a string costs more than of an address."""
    arguments = (_text(100),)
    parsed = library_estimate(_Sizes(), "containsIP", "net.CIDR.(string) -> bool", _text(1), arguments)
    assert parsed == CallEstimate(4 + 10)
    given = library_estimate(_Sizes(), "containsIP", "net.CIDR.(net.IP) -> bool", _text(1), arguments)
    assert given == CallEstimate(4)


def test_a_function_without_an_estimate_has_none() -> None:
    """Such a function has the cost of the standard library."""
    assert library_estimate(_Sizes(), "isURL", "(string) -> bool", None, (_text(1),)) is None
