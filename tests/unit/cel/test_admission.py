"""CEL variables of admission."""

from __future__ import annotations

import pytest

from pyctrl.cel import (
    BOOL,
    DYN,
    REQUEST,
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


def test_variables_of_objects_have_any_type() -> None:
    """As in a cluster, variables keep the types of scalars, lists and maps; an unknown field is found at run time."""
    types = {"user": REQUEST.fields["userInfo"].type, "users": list_of(REQUEST.fields["userInfo"].type)}
    environment = Environment(policy_variables(types, has_params=False))

    assert environment.compile("variables.user.nope").type == DYN
    assert environment.compile("variables.users[0].nope").type == DYN
    with pytest.raises(CompileFailed, match=r"applied to '\(list\(dyn\), int\)'"):
        environment.compile("variables.users == 1")
