"""YAML of responses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyctrl.apiserver._serializer.yaml_reader import read_yaml
from pyctrl.apiserver._serializer.yaml_writer import write_yaml

TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=9)
SCALARS = st.none() | st.booleans() | st.integers(-(2**31), 2**31) | TEXTS
KEYS = st.text("aby1-._\n: ", max_size=5)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=8
)


@given(VALUES)
def test_what_is_written_is_read_again(value: object) -> None:
    """Every JSON value keeps its content."""
    assert read_yaml(write_yaml(value), []) == value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"v": "1"}, 'v: "1"\n'),
        ({"v": "true"}, 'v: "true"\n'),
        ({"v": "n"}, 'v: "n"\n'),
        ({"v": "2026-01-01T00:00:00Z"}, 'v: "2026-01-01T00:00:00Z"\n'),
        ({"v": ""}, 'v: ""\n'),
        ({"v": "a: b"}, "v: 'a: b'\n"),
        ({"v": "a\nb\n"}, "v: |\n  a\n  b\n"),
        ({"v": "word " * 16 + "end"}, f"v: {'word ' * 15}word\n  end\n"),
        ({"v": {}, "w": [], "x": None}, "v: {}\nw: []\nx: null\n"),
        ({"a10": 1, "a2": 2, "Z": 3, ".": 4}, ".: 4\nZ: 3\na2: 2\na10: 1\n"),
        ({"l": [{"y": 1}]}, 'l:\n- "y": 1\n'),
    ],
)
def test_it_is_written_as_go_yaml_does(value: object, text: str) -> None:
    """Quotes, lines and the order of keys are those of kube-apiserver's YAML."""
    assert write_yaml(value).decode() == text
