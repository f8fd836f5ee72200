"""Run-time budgets of the expressions of policies and conditions, as of a kube-apiserver 1.36."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.apiserver._kit import CONFIGMAPS, Asker
from tests.unit.apiserver.admission._policies import apply_configuration, bind_mutating, bind_validating

CHECK = "authorizer.group('').resource('pods').check('get').allowed()"  # costs 350,003
TWO = f"{CHECK} && {CHECK}"
OUT_OF_BUDGET = "validation failed due to running out of cost budget, no further validation rules will be run"
CANCELLED = "operation cancelled: actual cost limit exceeded"


def _written(ask: Asker) -> tuple[int, str]:
    code, made = ask("POST", CONFIGMAPS, {"metadata": {"name": "a"}})
    return code, made.get("message", "")


@pytest.mark.parametrize(
    ("spec", "error"),
    [
        ({"validations": [{"expression": f"{TWO} && {CHECK}"}]}, CANCELLED),
        ({"validations": [{"expression": TWO}] * 15}, OUT_OF_BUDGET),
        ({"matchConditions": [{"name": f"c{index}", "expression": TWO} for index in range(4)]}, OUT_OF_BUDGET),
        (
            {
                "variables": [{"name": f"v{index}", "expression": TWO} for index in range(15)],
                "validations": [{"expression": " && ".join(f"variables.v{index}" for index in range(15))}],
            },
            OUT_OF_BUDGET,
        ),
    ],
)
def test_a_validating_policy_that_costs_too_much_fails(ask: Asker, spec: dict[str, Any], error: str) -> None:
    """An expression may cost a million, those of a policy ten, and its match conditions two and a half."""
    bind_validating(ask, **{"validations": [{"expression": "true"}], **spec})
    code, message = _written(ask)
    assert code == 422
    assert message.endswith(error)


def test_a_policy_within_the_budget_passes(ask: Asker) -> None:
    """A variable costs once, however often it is used."""
    spec = {"variables": [{"name": "v", "expression": TWO}], "validations": [{"expression": "variables.v"}] * 20}
    bind_validating(ask, **spec, matchConditions=[{"name": f"c{index}", "expression": TWO} for index in range(3)])
    assert _written(ask) == (201, "")


def test_failure_policy_ignore_ignores_the_costs(ask: Asker) -> None:
    """A policy that ran out of its budget does not deny the write."""
    bind_validating(ask, validations=[{"expression": TWO}] * 15, failurePolicy="Ignore")
    assert _written(ask) == (201, "")


def test_each_mutation_has_a_budget_of_its_own(ask: Asker) -> None:
    """Twenty mutations may cost more together than one."""
    mutation = apply_configuration(f"Object{{data: {{'a': string({TWO})}}}}")
    bind_mutating(ask, *[mutation] * 20)
    assert _written(ask) == (201, "")
    variables = [{"name": f"v{index}", "expression": TWO} for index in range(15)]
    text = " && ".join(f"variables.v{index}" for index in range(15))
    bind_mutating(ask, apply_configuration(f"Object{{data: {{'a': string({text})}}}}"), name="b", variables=variables)
    code, message = ask("POST", CONFIGMAPS, {"metadata": {"name": "b"}})
    assert (code, message["message"]) == (403, f"policy 'b' with binding 'b' denied request: {OUT_OF_BUDGET}")
