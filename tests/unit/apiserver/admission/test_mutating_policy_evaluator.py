"""The expressions of one MutatingAdmissionPolicy."""

from __future__ import annotations

from tests.unit.apiserver._kit import CONFIGMAPS, Asker
from tests.unit.apiserver.admission._policies import apply_configuration, bind_mutating, json_patch


def test_each_mutation_sees_the_object_after_those_before_it(ask: Asker) -> None:
    """Variables are evaluated again for each mutation."""
    bind_mutating(
        ask,
        apply_configuration('Object{data: {"n": string(variables.n + 1)}}'),
        json_patch('[JSONPatch{op: "add", path: "/data/m", value: string(variables.n + 1)}]'),
        variables=[{"name": "n", "expression": "int(object.data.n)"}],
    )
    body = {"metadata": {"name": "a"}, "data": {"n": "5"}}
    assert ask("POST", CONFIGMAPS, body)[1]["data"] == {"n": "6", "m": "7"}


def test_a_variable_that_fails_is_named(ask: Asker) -> None:
    """The error names the variable and what failed in it."""
    bind_mutating(
        ask,
        apply_configuration('Object{data: {"n": variables.n}}'),
        variables=[{"name": "n", "expression": "object.data.nix"}],
    )
    why = 'resulted in error: composited variable "n" fails to evaluate: no such key: nix'
    assert ask("POST", CONFIGMAPS, {"metadata": {"name": "a"}, "data": {"k": "v"}})[1]["message"].endswith(why)
