"""YAML that expands to much more than its length is refused."""

from __future__ import annotations

import pytest

from pyctrl.apiserver import read_documents


@pytest.mark.parametrize("width", [2, 9])
def test_a_bomb_does_not_go_off(width: int) -> None:
    """Aliases of aliases that expand to millions of values are refused."""
    lines = ["a0: &a0 [x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * width)}]" for n in range(1, 60)]
    with pytest.raises(ValueError, match="document contains excessive aliasing"):
        list(read_documents("\n".join(lines).encode()))


@pytest.mark.parametrize("text", ["[" * 20_000 + "]" * 20_000, "- " * 5_000 + "a", "{a: " * 10_000 + "}" * 10_000])
def test_an_abyss_is_refused(text: str) -> None:
    """Deeply nested YAML is refused without a crash."""
    with pytest.raises(ValueError, match="yaml: "):
        list(read_documents(text.encode()))


def test_an_anchor_in_itself_is_refused() -> None:
    """A recursive alias is refused."""
    with pytest.raises(ValueError, match="contains itself"):
        list(read_documents(b"a: &a [*a]"))


def test_an_alias_is_an_object_of_its_own() -> None:
    """A change of one alias does not change the other."""
    (value,) = read_documents(b"{a: &x [1], b: *x}")
    value["a"].append(2)
    assert value["b"] == [1]


def test_documents_come_one_after_another() -> None:
    """A text can have several documents, including empty ones."""
    assert list(read_documents(b"a: 1\n---\n---\nb: 2\n")) == [{"a": 1}, None, {"b": 2}]
    assert list(read_documents(b"")) == []


def test_keys_of_several_kinds() -> None:
    """Keys that become the same string, such as `true` and "true", do not cause an internal error."""
    (value,) = read_documents(b"{true: a, 'true': b, 1: c, '1': d, x: e}")
    assert set(value) == {"true", "1", "x"}
