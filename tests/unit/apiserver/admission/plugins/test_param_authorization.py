"""Who configures a policy with parameters must be able to read them, as in a kube-apiserver 1.36."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from pyctrl.apiserver import ApiServer, User
from tests.unit.apiserver._kit import MERGE, Asker
from tests.unit.apiserver.admission._policies import ADMISSION, RULE

RBAC = "/apis/rbac.authorization.k8s.io/v1"
ADMIN, JANE = {"Authorization": "Bearer admin"}, {"Authorization": "Bearer jane"}
TOKENS = {"admin": User(name="admin", groups=("system:masters",)), "jane": User(name="jane", uid="1", groups=("a",))}
POLICIES, BINDINGS = f"{ADMISSION}/validatingadmissionpolicies", f"{ADMISSION}/validatingadmissionpolicybindings"
WHO = "user &{jane 1 [a system:authenticated] map[]}"


def _policy(name: str, kind: str = "ConfigMap") -> dict[str, Any]:
    spec = {"matchConstraints": {"resourceRules": [RULE]}, "validations": [{"expression": "true"}]}
    return {"metadata": {"name": name}, "spec": {**spec, "paramKind": {"apiVersion": "v1", "kind": kind}}}


def _binding(policy: str, **reference: Any) -> dict[str, Any]:
    spec = {"policyName": policy, "validationActions": ["Deny"]}
    return {"metadata": {"name": "b"}, "spec": {**spec, "paramRef": {"parameterNotFoundAction": "Deny", **reference}}}


@pytest.fixture
def asker() -> Asker:
    """Return a client of a server in which jane may configure policies and get ConfigMaps, but not list them."""
    ask = Asker(ApiServer(random=Random(7), tokens=TOKENS, authorization="RBAC"))
    rules = [
        {"apiGroups": ["admissionregistration.k8s.io"], "resources": ["*"], "verbs": ["*"]},
        {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]},
    ]
    ask("POST", f"{RBAC}/clusterroles", {"metadata": {"name": "r"}, "rules": rules}, headers=ADMIN)
    role, subjects = {"kind": "ClusterRole", "name": "r"}, [{"kind": "User", "name": "jane"}]
    body = {"metadata": {"name": "r"}, "roleRef": role, "subjects": subjects}
    assert ask("POST", f"{RBAC}/clusterrolebindings", body, headers=ADMIN)[0] == 201
    return ask


def test_a_policy_needs_the_permission_to_get_its_parameters(asker: Asker) -> None:
    """The kind may stay as it is, and administrators may name any kind."""
    assert asker("POST", POLICIES, _policy("a"), headers=JANE)[0] == 201
    code, status = asker("POST", POLICIES, _policy("b", "Secret"), headers=JANE)
    assert code == 422
    why = 'must have "get" permission on all objects of the referenced paramKind (kind=Secret, apiVersion=v1)'
    assert status["message"].endswith(f"spec.paramKind: Forbidden: {WHO} {why}")
    assert asker("POST", POLICIES, _policy("b", "Secret"), headers=ADMIN)[0] == 201
    change = {"spec": {"failurePolicy": "Ignore"}}
    assert asker("PATCH", f"{POLICIES}/b", change, headers={**JANE, **MERGE})[0] == 200


def test_a_binding_needs_the_permission_to_read_its_parameters(asker: Asker) -> None:
    """It gets an object by name, or lists those that a selector selects."""
    asker("POST", POLICIES, _policy("a"), headers=ADMIN)
    code, status = asker("POST", BINDINGS, _binding("a", selector={}), headers=JANE)
    assert code == 422
    assert f'{WHO} does not have "list" permission on the object referenced by paramRef' in status["message"]
    assert asker("POST", BINDINGS, _binding("a", name="n"), headers=JANE)[0] == 201


@pytest.mark.parametrize(
    ("policy", "why"),
    [
        ("nix", "unable to get policy nix to determine"),
        ("unserved", "unable to resolve paramKind &{v1 Nix} to determine"),
    ],
)
def test_an_unknown_kind_needs_the_permission_for_everything(asker: Asker, policy: str, why: str) -> None:
    """The policy or its kind may not exist yet."""
    asker("POST", POLICIES, _policy("unserved", "Nix"), headers=ADMIN)
    code, status = asker("POST", BINDINGS, _binding(policy, name="n"), headers=JANE)
    assert code == 422
    assert f"spec.paramRef: Forbidden: {why}" in status["message"]
    assert f'{WHO} does not have "get" permission for all groups, versions and resources' in status["message"]
