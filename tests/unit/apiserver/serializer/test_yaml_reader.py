"""YAML as go-yaml reads it."""

from __future__ import annotations

import pytest

from pyctrl.apiserver._serializer.yaml_reader import read_yaml
from tests.unit.apiserver._kit import CONFIGMAPS, Asker


def test_yaml_bodies_are_read_as_go_reads_them(ask: Asker) -> None:
    """A YAML body creates the same object as JSON."""
    body = b"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  when: 2001-01-01\n"
    code, made = ask("POST", CONFIGMAPS, body, headers={"Content-Type": "application/yaml"})
    assert (code, made["data"]) == (201, {"when": "2001-01-01"})


def test_yaml_scalars_are_go_yamls() -> None:
    """y and n are booleans, also as keys; times, 1:30 and dates are strings; 1e3 is a number."""
    read = read_yaml(b"{a: y, n: 1, t: 1:30, d: 2001-01-01, e: 1e3, o: 0o7, h: 0x1f, s: '5', u: ~}", [])
    assert read == {
        "a": True, "false": 1, "t": "1:30", "d": "2001-01-01", "e": 1000, "o": 7, "h": 31, "s": "5", "u": None
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[0o17, -0O17, 017, 0X1f, 0b11, 1_000, 08]", [15, -15, 15, 31, 3, 1000, 8]),
        ("{1: a, true: b, 1.5: c}", {"1": "a", "true": "b", "1.5": "c"}),
        ("a: !!binary aGk=", {"a": "hi"}),
        ("a: !!str 1", {"a": "1"}),
    ],
)
def test_numbers_keys_and_tags_are_go_yamls(text: str, expected: object) -> None:
    """Numbers have the prefixes of Go, keys that Python takes for equal stay apart, and binary text is decoded."""
    assert read_yaml(text.encode(), []) == expected


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: 1\nb:\n c: '1'\n  d: '2'\n", "yaml: line 3: did not find expected key"),
        ('a: 1\nb: "x\n', "yaml: line 3: found unexpected end of stream"),
        ("a: !!binary x", "yaml: !!binary value contains invalid base64 data"),
    ],
)
def test_an_error_names_the_line_of_the_problem(text: str, problem: str) -> None:
    """The line is where the problem was found, not where the collection or text began."""
    with pytest.raises(ValueError, match=f"^{problem}$"):
        read_yaml(text.encode(), [])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{\n\t"a": "1",\n\t"b": {\n\t\t"c": "2",\n\t},\n}', {"a": "1", "b": {"c": "2"}}),
        ("a:\tb\nc: d\t\ne: f\t# comment\n", {"a": "b", "c": "d", "e": "f"}),
        ("a: x\ty\nb: {c: x \t y}\n", {"a": "x\ty", "b": {"c": "x \t y"}}),
        ("a: x\n   \ty\n  z\n\n  end\n", {"a": "x y z\nend"}),
        ("a: b\n...\nc: d\n", {"a": "b"}),
        ("a:\t{b: c}\nd:\t[\t]\n", {"a": {"b": "c"}, "d": []}),
    ],
)
def test_tabs_separate_words(text: str, expected: object) -> None:
    """Tabs are spaces in flow collections, after colons and words, and part of a plain scalar between words."""
    assert read_yaml(text.encode(), []) == expected


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a:\n\tb: 1\n", "yaml: line 2: found character that cannot start any token"),
        ("- \ta\n", "yaml: found character that cannot start any token"),
        ("a: b\n\tc\n", "yaml: line 2: found a tab character that violates indentation"),
        ("a:\n  b: c\n\n\t\n", "yaml: line 4: found a tab character that violates indentation"),
        ("a:\n  b: c\n   \td: e\n", "yaml: line 3: mapping values are not allowed in this context"),
    ],
)
def test_tabs_do_not_indent(text: str, problem: str) -> None:
    """A tab as indentation is an error, with go-yaml's message."""
    with pytest.raises(ValueError, match=f"^{problem}$"):
        read_yaml(text.encode(), [])
