"""Which YAML is refused before it is parsed: too much text, too deep, too many values, or an endless one."""

from __future__ import annotations

import pytest
import yaml

from pyctrl.client._login.yaml_limits import LimitExceeded, check_limits


def test_ordinary_yaml_passes() -> None:
    """A document with an anchor and its alias is within the limits."""
    check_limits("base: &base {server: https://kind}\nclusters: [*base, *base]\n", yaml.SafeLoader)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("#" * (4 * 1024 * 1024 + 1), "it has 4194305 characters; the limit is 4194304"),
        ("[" * 101 + "]" * 101, "it is nested more than 100 levels deep"),
        ("a: &a [*a]", "the anchor a contains itself"),
    ],
    ids=["long", "deep", "endless"],
)
def test_a_document_beyond_a_limit_is_refused(text: str, problem: str) -> None:
    """Text that is too long, too deep or endless is refused with the limit that it exceeds."""
    with pytest.raises(LimitExceeded) as caught:
        check_limits(text, yaml.SafeLoader)
    assert str(caught.value) == problem


def test_aliases_count_as_much_as_what_they_stand_for() -> None:
    """A short text whose aliases expand to more than 100,000 values is refused."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 5)]
    check_limits("\n".join(lines[:4]), yaml.SafeLoader)
    with pytest.raises(LimitExceeded, match="more than 100000 values"):
        check_limits("\n".join(lines), yaml.SafeLoader)
