"""Quantities are exact, print as in Kubernetes, and keep their source text."""

import copy
import pickle
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from pyctrl.api import Model, Quantity, QuantityFamily
from pyctrl.errors import QuantityError

SUFFIXES = ["", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e3", "E-3", "e+6"]
numbers = st.from_regex(r"[+-]?([0-9]{1,14}(\.[0-9]{0,10})?|\.[0-9]{1,9})", fullmatch=True)
texts = st.builds(str.__add__, numbers, st.sampled_from(SUFFIXES))
quantities = st.builds(Quantity, texts)


class Limits(Model):
    cpu: Quantity


@given(quantities)
def test_canonical_form_is_the_same_number(quantity: Quantity) -> None:
    """The canonical form has the same value and is its own canonical form."""
    again = Quantity(str(quantity))
    assert again == quantity
    assert hash(again) == hash(quantity)
    assert str(again) == str(quantity)


@given(quantities)
def test_canonical_form_has_no_fraction(quantity: Quantity) -> None:
    """The canonical form is an integer with a suffix, without a plus sign."""
    assert "." not in str(quantity)
    assert not str(quantity).startswith("+")


@given(quantities, quantities)
def test_arithmetic_is_exact(left: Quantity, right: Quantity) -> None:
    """Adding and subtracting a quantity restores the value; order is numeric."""
    assert left + right - right == left
    assert left + right == right + left
    assert (left < right) is (left.value < right.value)
    assert left * 3 == left + left + left
    assert left - right == -(right - left)


@given(quantities, quantities)
def test_left_operand_decides_the_suffixes(left: Quantity, right: Quantity) -> None:
    """A sum has the suffix family of its left operand, or of the right one if the left is zero."""
    assert (left + right).family is (right.family if left.is_zero else left.family)


@given(texts)
def test_source_text_survives_decoding_and_encoding(text: str) -> None:
    """Decoding and encoding keeps the source text, canonical or not."""
    assert Limits.from_wire({"cpu": text}).to_wire() == {"cpu": text}


@given(st.integers() | st.floats(allow_nan=False, allow_infinity=False, width=32))
def test_source_number_survives_decoding_and_encoding(number: float) -> None:
    """A quantity decoded from a JSON number is encoded as that number."""
    wire = Limits.from_wire({"cpu": number}).to_wire()
    assert wire == {"cpu": number}
    assert type(wire["cpu"]) is type(number)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("0", "0"),
        ("0Ki", "0"),
        ("-0.0", "0"),
        ("1.5", "1500m"),
        ("0.1", "100m"),
        ("1000m", "1"),
        ("1000", "1k"),
        ("12000", "12k"),
        ("1200", "1200"),
        ("+5", "5"),
        ("-1500m", "-1500m"),
        ("5.", "5"),
        (".5", "500m"),
        ("0.5n", "1n"),
        ("-0.5n", "-1n"),
        ("1.0000000001", "1000000001n"),
        ("1e3", "1e3"),
        ("1200e3", "1200e3"),
        ("1E-1", "100e-3"),
        ("1e0", "1"),
        ("1.5Gi", "1536Mi"),
        ("1024Ki", "1Mi"),
        ("1023", "1023"),
        ("0.5Ki", "512"),
        ("0.5Mi", "512Ki"),
        ("1.1Ki", "1126400m"),
        ("0.0001Ki", "102400u"),
        ("3000Ki", "3000Ki"),
        ("8Ei", "9223372036854775807"),
        ("-100Ei", "-9223372036854775807"),
        ("100E", "100E"),
        ("1000E", "1000E"),
    ],
)
def test_canonical_form(text: str, canonical: str) -> None:
    """The canonical form equals the API server's."""
    assert str(Quantity(text)) == canonical


@pytest.mark.parametrize(
    "text",
    ["", " ", "-", ".", "Ki", "1x", "1KI", "1ki", "1K", "1 Gi", "1e", "1e1.5", "1_000", "0x1", "--1", "١", "1e5000"],
)
def test_what_is_not_a_quantity(text: str) -> None:
    """The error for an invalid text shows the text."""
    with pytest.raises(QuantityError, match="quantity"):
        Quantity(text)


@pytest.mark.parametrize("value", [True, None, float("nan"), float("inf"), Decimal("NaN"), [1]])
def test_what_is_not_a_number(value: object) -> None:
    """A value that is not a finite number is refused."""
    with pytest.raises(QuantityError):
        Quantity(value)  # type: ignore[arg-type]


def test_equal_by_value() -> None:
    """Quantities, integers and Decimals are equal by value, with any suffix."""
    assert Quantity("1") == Quantity("1000m") == 1 == Quantity(1.0)
    assert Quantity("1Ki") == 1024
    assert Quantity("0.1") == Decimal("0.1")
    assert len({Quantity("1"), Quantity("1000m"), 1}) == 1
    assert Quantity("1Ki") > Quantity("1k") >= 1000
    assert Quantity("1") != "1"


def test_arithmetic() -> None:
    """Sums, differences and products are quantities in the left operand's family."""
    assert str(Quantity("1Gi") + Quantity("512Mi")) == "1536Mi"
    assert str(Quantity("500m") + 1) == "1500m"
    assert str(Quantity("1Gi") - Quantity("1Gi") + Quantity("1k")) == "1k"
    assert str(Quantity("250m") * 4) == "1"
    assert str(Decimal("0.5") * Quantity("1Gi")) == "512Mi"
    assert str(sum([Quantity("1Mi"), Quantity("1Mi")], Quantity(0))) == "2Mi"
    assert abs(Quantity("-3")) == 3


@pytest.mark.parametrize("wrong", [0.5, "1", None])
def test_arithmetic_with_floats_and_text_is_refused(wrong: object) -> None:
    """Floats and texts are refused as operands: they could round or hide a mistake."""
    with pytest.raises(TypeError):
        Quantity("1") + wrong  # type: ignore[operator]
    with pytest.raises(TypeError):
        Quantity("1") * Quantity("1")  # type: ignore[operator]
    with pytest.raises(TypeError):
        sorted([Quantity("1"), wrong])  # type: ignore[type-var]


def test_whole_units_are_rounded_away_from_zero() -> None:
    """Whole units are rounded away from zero."""
    assert Quantity("1500m").as_int() == int(Quantity("1500m")) == 2
    assert Quantity("-1500m").as_int() == -2
    assert Quantity("0.25").as_int("m") == 250
    assert Quantity("1Gi").as_int("Mi") == 1024
    assert Quantity("1G").as_int("Mi") == 954
    assert float(Quantity("250m")) == 0.25
    with pytest.raises(QuantityError, match="not a suffix"):
        Quantity("1").as_int("mb")


def test_family_can_be_chosen() -> None:
    """The suffix family of a computed number can be chosen."""
    assert str(Quantity(2**30, family=QuantityFamily.BINARY_SI)) == "1Gi"
    assert str(Quantity(Decimal("1.5"))) == "1500m"
    assert str(Quantity(Quantity("1Gi"), family=QuantityFamily.DECIMAL_EXPONENT)) == "1073741824"


@given(quantities)
def test_copies_are_equal_in_number_and_family(quantity: Quantity) -> None:
    """A copied or pickled quantity has the same value, family and source."""
    for twin in (copy.deepcopy(quantity), pickle.loads(pickle.dumps(quantity)), Quantity(quantity)):
        assert (twin.value, twin.family, twin.source) == (quantity.value, quantity.family, quantity.source)


def test_is_a_field_type() -> None:
    """As a field a quantity reads text and numbers, refuses other types, and has the schema of a quantity."""
    assert Limits(cpu=Quantity("1")).to_wire() == {"cpu": "1"}
    assert Limits.model_validate({"cpu": "250m"}).cpu.as_int("m") == 250
    with pytest.raises(ValidationError, match="not a quantity"):
        Limits.model_validate({"cpu": "lots"})
    schema = TypeAdapter(Quantity).json_schema()
    assert schema["anyOf"] == [{"type": "integer"}, {"type": "string"}]
    assert schema["x-kubernetes-int-or-string"] is True
