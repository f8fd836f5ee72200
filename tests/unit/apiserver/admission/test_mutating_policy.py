"""MutatingAdmissionPolicies: order, rounds, bindings and errors, as of a kube-apiserver 1.36."""

from __future__ import annotations

from typing import Any

from tests.unit.apiserver._hooks import World, patching
from tests.unit.apiserver._kit import CONFIGMAPS, Asker
from tests.unit.apiserver.admission._policies import ADMISSION, RULE, apply_configuration, bind_mutating

COUNT = apply_configuration('Object{data: {"n": string(int(object.?data.?n.orValue("0")) + 1)}}')
OTHER = apply_configuration('Object{data: {"x": "1"}}')


def _created(ask: Asker, **data: str) -> dict[str, Any]:
    code, made = ask("POST", CONFIGMAPS, {"metadata": {"name": "a"}, "data": data})
    assert code == 201, made
    found: dict[str, Any] = made["data"]
    return found


def test_policies_run_in_the_order_of_their_names(ask: Asker) -> None:
    """Each policy sees what those before it have made of the object."""
    bind_mutating(ask, apply_configuration('Object{data: {"saw": object.data.x}}'), name="b")
    bind_mutating(ask, OTHER, name="a")
    assert _created(ask) == {"x": "1", "saw": "1"}


def test_a_policy_is_reinvoked_if_a_later_one_changes_the_object(ask: Asker) -> None:
    """With reinvocationPolicy IfNeeded a policy runs once more, with Never it does not."""
    other = apply_configuration('Object{data: {"m": string(int(object.?data.?m.orValue("0")) + 1)}}')
    bind_mutating(ask, COUNT, name="a", reinvocationPolicy="IfNeeded")
    bind_mutating(ask, other, name="b", reinvocationPolicy="Never")
    assert _created(ask) == {"n": "2", "m": "1"}


def test_a_policy_is_reinvoked_after_its_own_change(ask: Asker) -> None:
    """As upstream, a policy with IfNeeded runs twice if it is the one that changes the object."""
    bind_mutating(ask, COUNT, name="a", reinvocationPolicy="IfNeeded")
    assert _created(ask) == {"n": "2"}


async def test_a_policy_is_reinvoked_if_a_webhook_changes_the_object(world: World) -> None:
    """A policy that could not be evaluated before the webhook sees what the webhook has added."""
    world.replies["/m"] = patching({"op": "add", "path": "/data", "value": {"w": "1"}})
    await world.hook("m", mutating=True)
    policy = {
        "matchConstraints": {"resourceRules": [RULE]},
        "reinvocationPolicy": "IfNeeded",
        "failurePolicy": "Ignore",
        "mutations": [apply_configuration('Object{data: {"copy": object.data.w}}')],
    }
    for kind, spec in (("policies", policy), ("policybindings", {"policyName": "p"})):
        body = {"metadata": {"name": "p"}, "spec": spec}
        assert (await world.ask("POST", f"{ADMISSION}/mutatingadmission{kind}", body))[0] == 201
    _, made = await world.create()
    assert made["data"] == {"w": "1", "copy": "1"}


def test_all_errors_are_causes_of_one_denial(ask: Asker) -> None:
    """The first error is the message; the mutations after it are evaluated nevertheless."""
    bind_mutating(ask, apply_configuration("Object{data: object.x}"), apply_configuration("Object{data: object.y}"))
    code, status = ask("POST", CONFIGMAPS, {"metadata": {"name": "a"}})
    assert (code, status["reason"]) == (403, "Invalid")
    texts = [f"expression 'Object{{data: object.{each}}}' resulted in error: no such key: {each}" for each in "xy"]
    causes = [f"policy 'p' with binding 'p' denied request: {each}" for each in texts]
    assert status["message"] == causes[0]
    assert [each["message"] for each in status["details"]["causes"]] == causes


def test_errors_are_ignored_with_failure_policy_ignore(ask: Asker) -> None:
    """The other mutations of the policy apply."""
    bind_mutating(ask, apply_configuration("Object{data: object.x}"), OTHER, failurePolicy="Ignore")
    assert _created(ask) == {"x": "1"}


def test_match_conditions_do_not_see_the_namespace(ask: Asker) -> None:
    """A condition that reads `namespaceObject` fails, as upstream."""
    condition = {"name": "c", "expression": "namespaceObject.metadata.name == 'default'"}
    bind_mutating(ask, OTHER, matchConditions=[condition])
    code, status = ask("POST", CONFIGMAPS, {"metadata": {"name": "a"}})
    assert code == 403
    assert status["message"].endswith("resulted in error: no such key: metadata")


def test_a_paramkind_that_is_not_served_is_a_configuration_error(ask: Asker) -> None:
    """The reason is Forbidden, and the message does not name a binding."""
    bind_mutating(ask, OTHER, paramKind={"apiVersion": "e.x/v1", "kind": "Nix"})
    code, status = ask("POST", CONFIGMAPS, {"metadata": {"name": "a"}})
    assert (code, status["reason"]) == (403, "Forbidden")
    why = "failed to configure policy: failed to find resource referenced by paramKind: 'e.x/v1, Kind=Nix'"
    assert status["message"] == f'policy "p" denied request: {why}'


def test_a_delete_is_not_mutated(ask: Asker) -> None:
    """A rule for all operations does not apply to deletes, for which the conditions cannot be evaluated."""
    rule = {"apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"], "operations": ["*"]}
    condition = {"name": "named", "expression": "object.metadata.name == 'a'"}
    ask.make("a")
    bind_mutating(ask, apply_configuration("Object{data: object.x}"), rule=rule, matchConditions=[condition])
    assert ask("DELETE", f"{CONFIGMAPS}/a")[0] == 200


def test_policies_are_exempt_from_policies(ask: Asker) -> None:
    """A policy that denies everything can be deleted and replaced."""
    rule = {"apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"], "operations": ["*"]}
    bind_mutating(ask, apply_configuration("Object{data: object.x}"), rule=rule)
    bind_mutating(ask, OTHER, name="other")


def test_a_reinvocation_is_of_one_object_of_parameters(ask: Asker) -> None:
    """A policy runs again only with those of its parameters that matched in the first round."""
    for name in ("first", "second"):
        ask.make(name, labels={"params": "yes"})
    mutation = apply_configuration("Object{data: {params.metadata.name: 'x', dyn('seen'): 'x'}}")
    condition = {"name": "c", "expression": "params.metadata.name == 'second' || has(object.data.seen)"}
    reference = {"selector": {"matchLabels": {"params": "yes"}}, "parameterNotFoundAction": "Deny"}
    bind_mutating(
        ask,
        mutation,
        paramKind={"apiVersion": "v1", "kind": "ConfigMap"},
        matchConditions=[condition],
        reinvocationPolicy="IfNeeded",
        binding={"paramRef": reference},
    )
    assert _created(ask, a="1") == {"a": "1", "second": "x", "seen": "x"}


def test_parameters_of_built_in_kinds_have_no_kind(ask: Asker) -> None:
    """As in a cluster, `params.kind` is a missing key for a ConfigMap."""
    ask.make("limits")
    reference = {"name": "limits", "parameterNotFoundAction": "Deny"}
    kind = {"apiVersion": "v1", "kind": "ConfigMap"}
    bind_mutating(
        ask, apply_configuration("Object{data: {'k': params.kind}}"), paramKind=kind, binding={"paramRef": reference}
    )
    code, refused = ask("POST", CONFIGMAPS, {"metadata": {"name": "a"}})
    assert (code, refused["message"].endswith("resulted in error: no such key: kind")) == (403, True)


def test_a_test_for_a_variable_that_fails_is_an_error(ask: Asker) -> None:
    """`has(variables.x)` evaluates the variable, and its failure is that of the expression."""
    variables = [{"name": "x", "expression": "object.data.absent"}, {"name": "y", "expression": "'1'"}]
    bind_mutating(ask, apply_configuration("Object{data: {'k': has(variables.x) ? 'a' : 'b'}}"), variables=variables)
    code, refused = ask("POST", CONFIGMAPS, {"metadata": {"name": "a"}, "data": {"b": "1"}})
    assert (code, refused["message"].endswith('"x" fails to evaluate: no such key: absent')) == (403, True)


def test_a_variable_that_is_not_tested_may_fail(ask: Asker) -> None:
    """Only the variables that an expression reads are evaluated."""
    variables = [{"name": "x", "expression": "object.data.absent"}, {"name": "y", "expression": "'1'"}]
    bind_mutating(ask, apply_configuration("Object{data: {'k': has(variables.y) ? 'a' : 'b'}}"), variables=variables)
    assert _created(ask, b="1") == {"b": "1", "k": "a"}
