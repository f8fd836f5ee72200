"""Evaluation of match conditions."""

from __future__ import annotations

from random import Random

from pyctrl.apiserver import ApiServer, User
from tests.unit.apiserver._hooks import World
from tests.unit.apiserver._kit import CONFIGMAPS, Asker


async def test_a_condition_without_a_value_is_what_the_failure_policy_says(world: World) -> None:
    """If a match condition fails, failurePolicy Fail rejects the write, and Ignore skips the webhook."""
    condition = {"name": "c", "expression": "object.metadata.labels.x == 'y'"}
    await world.hook("v", {"matchConditions": [condition]})
    code, status = await world.create()
    assert code == 403
    why = "expression 'object.metadata.labels.x == 'y'' resulted in error: no such key: labels"
    assert status["message"] == f'configmaps "a" is forbidden: {why}'
    assert world.calls == []


async def test_a_false_condition_wins_over_one_that_fails(world: World) -> None:
    """A webhook is not called if one condition is false, even if another cannot be evaluated."""
    texts = ("object.metadata.labels.x == 'y'", "false")
    conditions = [{"name": f"c{index}", "expression": text} for index, text in enumerate(texts)]
    await world.hook("v", {"matchConditions": conditions})
    assert (await world.create())[0] == 201
    assert world.calls == []


def test_an_access_of_a_service_account_is_its_own() -> None:
    """`authorizer.serviceAccount` checks the account, not the user of the write, who may do everything here."""
    tokens = {"admin": User(name="admin", groups=("system:masters", "system:authenticated"))}
    ask = Asker(ApiServer(random=Random(7), tokens=tokens, authorization="RBAC"))
    admin = {"Authorization": "Bearer admin"}
    check = "serviceAccount('default', 'robot').group('').resource('pods').check('get').allowed()"
    rules = [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["CREATE"]}]
    spec = {
        "matchConstraints": {"resourceRules": rules},
        "matchConditions": [{"name": "c", "expression": f"!authorizer.{check}"}],
        "validations": [{"expression": "false", "message": "the account may not"}],
    }
    policies = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolic"
    assert ask("POST", f"{policies}ies", {"metadata": {"name": "p"}, "spec": spec}, headers=admin)[0] == 201
    binding = {"policyName": "p", "validationActions": ["Deny"]}
    assert ask("POST", f"{policies}ybindings", {"metadata": {"name": "p"}, "spec": binding}, headers=admin)[0] == 201
    code, refused = ask("POST", CONFIGMAPS, {"metadata": {"name": "a"}}, headers=admin)
    assert (code, refused["message"].endswith("the account may not")) == (422, True)
