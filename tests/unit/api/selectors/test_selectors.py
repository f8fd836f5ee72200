"""Selectors parse, match and print as in the API server."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyctrl.api import FieldSelector, LabelOperator, LabelRequirement, LabelSelector
from pyctrl.errors import SelectorError

KEYS = ["a", "b", "example.com/role", "in", "notin"]
VALUES = ["", "x", "y-1", "5", "10", "007", "A_b.c"]


@st.composite
def requirements(draw: st.DrawFn) -> LabelRequirement:
    operator = draw(st.sampled_from(LabelOperator))
    key = draw(st.sampled_from(KEYS))
    if operator in (LabelOperator.EXISTS, LabelOperator.NOT_EXISTS):
        return LabelRequirement(key, operator)
    if operator in (LabelOperator.GREATER, LabelOperator.LESS):
        return LabelRequirement(key, operator, (draw(st.sampled_from(["0", "5", "12"])),))
    several = operator in (LabelOperator.IN, LabelOperator.NOT_IN)
    values = draw(st.lists(st.sampled_from(VALUES), min_size=1, max_size=3 if several else 1))
    return LabelRequirement(key, operator, tuple(values))


selectors = st.builds(LabelSelector, st.lists(requirements(), max_size=4).map(tuple))
labels = st.dictionaries(st.sampled_from(KEYS), st.sampled_from(VALUES))


@given(selectors)
def test_printed_selector_parses_back(selector: LabelSelector) -> None:
    """A printed selector parses to an equal selector with an equal hash."""
    parsed = LabelSelector.parse(str(selector))
    assert parsed == selector
    assert hash(parsed) == hash(selector)


@given(st.lists(requirements(), max_size=4))
def test_order_and_repetition_do_not_matter(terms: list[LabelRequirement]) -> None:
    """Selectors with the same terms are equal and print the same, in any order and with repeated terms."""
    one, other = LabelSelector(tuple(terms)), LabelSelector(tuple(reversed(terms * 2)))
    assert one == other
    assert str(one) == str(other)


@given(selectors, labels)
def test_selector_matches_when_all_its_terms_do(selector: LabelSelector, labels: dict[str, str]) -> None:
    """A selector matches an object only if all of its terms match."""
    assert selector.matches(labels) is all(term.matches(labels) for term in selector.requirements)


@given(selectors, labels)
def test_wire_form_means_the_same(selector: LabelSelector, labels: dict[str, str]) -> None:
    """A selector converted to matchLabels and matchExpressions and back selects the same objects."""
    if any(term.operator in (LabelOperator.GREATER, LabelOperator.LESS) for term in selector.requirements):
        with pytest.raises(SelectorError, match="no form in matchExpressions"):
            selector.to_wire()
        return
    assert LabelSelector.from_wire(selector.to_wire()).matches(labels) is selector.matches(labels)


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("", ""),
        ("  ", ""),
        ("a", "a"),
        ("! a", "!a"),
        ("a==b", "a=b"),
        ("b=1,a=2", "a=2,b=1"),
        ("a =", "a="),
        ("a=,b", "a=,b"),
        ("a in (y,x,y)", "a in (x,y)"),
        ("a in ()", "a in ()"),
        ("a in (,)", "a in ()"),
        ("a in (,y)", "a in (,y)"),
        ("a notin (x,,y)", "a notin (,x,y)"),
        ("in in (in,notin)", "in in (in,notin)"),
        ("a=in", "a=in"),
        ("a>5,a<\t7", "a<7,a>5"),
        ("example.com/role!=web", "example.com/role!=web"),
    ],
)
def test_grammar(text: str, printed: str) -> None:
    """Every form of the grammar parses and has one printed form."""
    assert str(LabelSelector.parse(text)) == printed


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        (",a", 1, "found ',', expected a label key"),
        ("a,", 3, "the selector ends, expected a label key"),
        ("a b", 3, "found 'b', expected an operator"),
        ("!a=b", 3, "found '=', expected ',' or the end"),
        ("a in x", 6, "found 'x', expected '('"),
        ("a in (x", 8, "the selector ends, expected a value, ',' or ')'"),
        ("a in (x y)", 9, "found 'y', expected a value, ',' or ')'"),
        ("a=b=c", 4, "found '=', expected ',' or the end"),
        ("a=(", 3, "found '(', expected a value"),
        ("ok=1,-a=b", 6, "letter or digit at both ends"),
        ("Example.com/a=b", 1, "DNS subdomain"),
        ("/a=b", 1, "DNS subdomain"),
        ("a/b/c", 1, "DNS subdomain"),
        (f"{'a' * 64}=b", 1, "1 to 63"),
        (f"a={'b' * 64}", 3, "at most 63"),
        ("a=-b", 3, "letter or digit at both ends"),
        ("a>b", 3, "64-bit integer"),
        ("a>9223372036854775808", 3, "64-bit integer"),
        ("a>", 3, "64-bit integer"),
    ],
)
def test_mistakes_are_shown_at_their_place(text: str, place: int, words: str) -> None:
    """The error for an invalid selector has the actual text, the expected text, and the position."""
    with pytest.raises(SelectorError) as raised:
        LabelSelector.parse(text)
    assert f"{text!r}: at character {place}: " in str(raised.value)
    assert words in str(raised.value)


@given(st.text(alphabet="ab/.-_=!<>(), \tin5", max_size=30))
def test_any_text_parses_or_is_a_selector_error(text: str) -> None:
    """Any text either parses or raises SelectorError."""
    with contextlib.suppress(SelectorError):
        LabelSelector.parse(text)


@pytest.mark.parametrize(
    ("text", "labels", "matches"),
    [
        ("a!=b", {}, True),
        ("a notin (b)", {}, True),
        ("a in (b,c)", {"a": "c"}, True),
        ("a", {"a": ""}, True),
        ("a=", {}, False),
        ("a>5", {"a": "10"}, True),
        ("a>5", {"a": "5"}, False),
        ("a>5", {"a": "x"}, False),
        ("a>5", {}, False),
        ("a<5", {}, False),
        ("a<5", {"a": "-9223372036854775808"}, True),
        ("a<5", {"a": "-9223372036854775809"}, False),
        ("a>5", {"a": "0" * 5000 + "7"}, True),
    ],
)
def test_absent_and_odd_labels(text: str, labels: dict[str, str], matches: bool) -> None:
    """Negations match an absent label; comparisons need a 64-bit integer."""
    assert LabelSelector.parse(text).matches(labels) is matches


def test_absent_selector_selects_nothing_and_empty_one_everything() -> None:
    """None on the wire selects nothing, `{}` selects everything; both survive encoding and printing."""
    nothing, everything = LabelSelector.from_wire(None), LabelSelector.from_wire({})
    assert nothing.is_nothing
    assert everything.is_everything
    assert not nothing.matches({"nothing": "x"})
    assert not nothing.matches({})
    assert everything.matches({})
    assert nothing.to_wire() is None
    assert everything.to_wire() == {}
    assert LabelSelector.parse(str(nothing)) == nothing


def test_wire_form_of_mixed_terms() -> None:
    """Equality is encoded as matchLabels, all other terms as matchExpressions."""
    selector = LabelSelector.parse("a=1,b!=2,c in (x,y),d,!e")
    assert selector.to_wire() == {
        "matchLabels": {"a": "1"},
        "matchExpressions": [
            {"key": "b", "operator": "NotIn", "values": ["2"]},
            {"key": "c", "operator": "In", "values": ["x", "y"]},
            {"key": "d", "operator": "Exists"},
            {"key": "e", "operator": "DoesNotExist"},
        ],
    }
    assert LabelSelector.from_wire({"matchLabels": None, "matchExpressions": None}).is_everything


@pytest.mark.parametrize(
    "wire",
    [
        {"matchLabels": ["a"]},
        {"matchLabels": {"a": 5}},
        {"matchExpressions": ["a"]},
        {"matchExpressions": [{"key": "a", "operator": "Gt", "values": ["1"]}]},
        {"matchExpressions": [{"key": "a", "operator": "In"}]},
        {"matchExpressions": [{"key": "a", "operator": "In", "values": "x"}]},
        {"matchExpressions": [{"key": "a", "operator": "Exists", "values": ["x"]}]},
        {"matchExpressions": [{"operator": "Exists"}]},
    ],
)
def test_wrong_wire_forms_are_selector_errors(wire: dict[str, object]) -> None:
    """An invalid wire form raises a SelectorError that names the expected form."""
    with pytest.raises(SelectorError):
        LabelSelector.from_wire(wire)


field_values = st.text(alphabet="ab\\,=! x", max_size=8)
fields = st.dictionaries(st.sampled_from(["metadata.name", "spec.nodeName", "type"]), field_values)


@given(fields)
def test_field_values_are_escaped(wanted: dict[str, str]) -> None:
    r"""A field value with `\`, `,` or `=` survives printing and parsing, and matches its object."""
    selector = FieldSelector.from_dict(wanted)
    assert FieldSelector.parse(str(selector)) == selector
    assert selector.matches(wanted.get)


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("", ""),
        ("a=b", "a=b"),
        ("a==b,", "a=b"),
        ("b!=x,a=", "a=,b!=x"),
        (r"a=\\,b=c", r"a=\\,b=c"),
        (r"a=x\,y\=z", r"a=x\,y\=z"),
    ],
)
def test_field_grammar(text: str, printed: str) -> None:
    """Field selectors are terms of `=`, `==` and `!=`, separated by unescaped commas."""
    assert str(FieldSelector.parse(text)) == printed


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("a", 1, "no operator"),
        ("x=1,a", 5, "no operator"),
        ("=b", 1, "name of a field"),
        ("a=b=c", 4, "in a value write"),
        (r"a=\x", 3, "in a value write"),
        ("a=b\\", 4, "in a value write"),
    ],
)
def test_field_mistakes_are_shown_at_their_place(text: str, place: int, words: str) -> None:
    """The error for an invalid field selector has the position and the reason."""
    with pytest.raises(SelectorError) as raised:
        FieldSelector.parse(text)
    assert f"at character {place}: " in str(raised.value)
    assert words in str(raised.value)


def test_absent_field_is_the_empty_value() -> None:
    """An absent field equals only the empty value."""
    absent: dict[str, str] = {}
    assert FieldSelector.parse("spec.nodeName=").matches(absent.get)
    assert FieldSelector.parse("spec.nodeName!=a").matches(absent.get)
    assert not FieldSelector.parse("spec.nodeName=a").matches(absent.get)
    assert FieldSelector.everything().is_everything
