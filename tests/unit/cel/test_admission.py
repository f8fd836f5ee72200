"""CEL variables of admission."""

from __future__ import annotations

import pytest

from pyctrl.cel import (
    BOOL,
    STRING,
    CompileFailed,
    Environment,
    list_of,
    policy_variables,
)


def test_a_policy_is_typed_by_what_its_variables_are() -> None:
    """The variables of a policy have the types of their expressions; other variables do not exist."""
    declared = policy_variables({"names": list_of(STRING)}, has_params=False)
    program = Environment(declared).compile("variables.names.exists(n, n == object.name)")

    assert program.type == BOOL
    assert program.evaluate({"variables": {"names": ["a"]}, "object": {"name": "a"}}) is True
    with pytest.raises(CompileFailed, match="undefined field 'other'"):
        Environment(declared).compile("variables.other == 1")
    with pytest.raises(CompileFailed, match="undeclared reference to 'params'"):
        Environment(declared).compile("params.x == 1")
