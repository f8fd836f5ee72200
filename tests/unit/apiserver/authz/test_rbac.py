"""RBAC authorizer: roles, bindings, and the bootstrap policy."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.apiserver._kit import CONFIGMAPS
from tests.unit.apiserver.authz._rbac import BINDINGS, READ, ROLES, Guarded


def test_nobody_may_do_anything_by_default(ask: Guarded) -> None:
    """The error of a user without a role has the denied access; an administrator needs no role."""
    code, status = ask("GET", CONFIGMAPS, headers=ask.as_("jane"))
    assert code == 403
    assert status["message"] == (
        'configmaps is forbidden: User "jane" cannot list resource "configmaps" in API group "" '
        'in the namespace "default"'
    )
    assert ask("GET", CONFIGMAPS, headers=ask.as_("root", "system:masters"))[0] == 200


def test_a_role_counts_from_the_moment_it_is_bound_until_it_is_not(ask: Guarded) -> None:
    """Creates and deletes of bindings and roles are effective at once."""
    headers = ask.as_("jane")
    ask.grant("reader", READ)
    assert ask("GET", CONFIGMAPS, headers=headers)[0] == 200
    assert ask("DELETE", f"{CONFIGMAPS}/none", headers=headers)[0] == 403
    assert ask("GET", "/api/v1/namespaces/kube-system/configmaps", headers=headers)[0] == 403
    ask("PUT", f"{ROLES}/reader", {"metadata": {"name": "reader"}, "rules": []})
    assert ask("GET", CONFIGMAPS, headers=headers)[0] == 403
    ask("PUT", f"{ROLES}/reader", {"metadata": {"name": "reader"}, "rules": [READ]})
    assert ask("GET", CONFIGMAPS, headers=headers)[0] == 200
    ask("DELETE", f"{BINDINGS}/reader.jane")
    assert ask("GET", CONFIGMAPS, headers=headers)[0] == 403


def test_a_missing_role_is_named_in_the_refusal(ask: Guarded) -> None:
    """The error has the name of a bound role that does not exist."""
    ask.bind("ClusterRole", "nosuch", kind="Group", name="team")
    _, status = ask("GET", CONFIGMAPS, headers=ask.as_("jane", "team"))
    assert status["message"].endswith(': RBAC: clusterrole.rbac.authorization.k8s.io "nosuch" not found')


@pytest.mark.parametrize(
    ("rule", "method", "path", "code"),
    [
        ({"resources": ["pods"], "verbs": ["get"]}, "GET", "pods/a/status", 403),
        ({"resources": ["pods/status"], "verbs": ["get"]}, "GET", "pods/a/status", 404),
        ({"resources": ["*/status"], "verbs": ["get"]}, "GET", "pods/a/status", 404),
        ({"resources": ["*"], "verbs": ["*"]}, "GET", "pods/a/status", 404),
        ({"resources": ["pods"], "verbs": ["get"], "resourceNames": ["a"]}, "GET", "pods/a", 404),
        ({"resources": ["pods"], "verbs": ["get"], "resourceNames": ["a"]}, "GET", "pods/b", 403),
        ({"resources": ["pods"], "verbs": ["list"], "resourceNames": ["a"]}, "GET", "pods", 403),
        ({"resources": ["pods"], "verbs": ["delete"]}, "DELETE", "pods", 403),
        ({"resources": ["pods"], "verbs": ["deletecollection"]}, "DELETE", "pods", 200),
        ({"resources": ["pods/eviction"], "verbs": ["create"]}, "POST", "pods/a/eviction", 404),
    ],
)
def test_what_a_rule_reaches(ask: Guarded, rule: dict[str, Any], method: str, path: str, code: int) -> None:
    """Rules are matched by subresource, name and verb; an allowed request of a missing object is a 404."""
    ask.grant("some", {"apiGroups": [""], **rule})
    body = {"metadata": {"name": "a"}} if method == "POST" else None
    assert ask(method, f"/api/v1/namespaces/default/{path}", body, headers=ask.as_("jane"))[0] == code


def test_a_list_of_one_name_needs_only_that_name(ask: Guarded) -> None:
    """A list with a field selector on one name is allowed by a rule for this name."""
    ask.grant("one", {**READ, "resourceNames": ["a"]})
    headers = ask.as_("jane")
    assert ask("GET", CONFIGMAPS, headers=headers, fieldSelector="metadata.name=a")[0] == 200
    assert ask("GET", CONFIGMAPS, headers=headers, fieldSelector="metadata.name=b")[0] == 403


def test_service_accounts_are_subjects(ask: Guarded) -> None:
    """A service account is bound by namespace and name; the default is the binding's namespace."""
    ask("POST", "/api/v1/namespaces/default/serviceaccounts", {"metadata": {"name": "bot"}})
    ask.grant("reader", READ, kind="ServiceAccount", name="bot")
    headers = {"Authorization": f"Bearer {ask.server.issue_account_token('default', 'bot')}"}
    assert ask("GET", CONFIGMAPS, headers=headers)[0] == 200
    with pytest.raises(LookupError, match="create it first"):
        ask.server.issue_account_token("default", "nosuch")


def test_apply_to_a_free_name_needs_patch_and_create(ask: Guarded) -> None:
    """A server-side apply that creates requires both verbs; the error has the missing one."""
    ask.grant("patcher", {**READ, "verbs": ["patch"]})
    headers = {"Content-Type": "application/apply-patch+yaml", **ask.as_("jane")}
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
    code, status = ask("PATCH", f"{CONFIGMAPS}/a", body, headers=headers, fieldManager="m")
    assert code == 403
    assert 'configmaps "a" is forbidden: User "jane" cannot create resource "configmaps"' in status["message"]
    ask.grant("creator", {**READ, "verbs": ["create"]})
    assert ask("PATCH", f"{CONFIGMAPS}/a", body, headers=headers, fieldManager="m")[0] == 201


def test_a_service_account_of_another_namespace_can_be_bound(ask: Guarded) -> None:
    """The namespace of a subject is that of the service account; without one it is that of the binding."""
    ask.grant("reader", READ, kind="ServiceAccount", name="bot", namespace="kube-system")
    for namespace, code in (("kube-system", 200), ("default", 403)):
        headers = ask.as_(f"system:serviceaccount:{namespace}:bot")
        assert ask("GET", CONFIGMAPS, headers=headers)[0] == code


LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases"


def test_a_replacement_that_creates_needs_the_permission_to_create(ask: Guarded) -> None:
    """A PUT to a name that does not exist is refused to a user who may only update."""
    headers = ask.as_("jane")
    rule = {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"]}
    lease = {"metadata": {"name": "a"}, "spec": {"holderIdentity": "x"}}
    ask.grant("updater", {**rule, "verbs": ["update"]})
    code, status = ask("PUT", f"{LEASES}/a", lease, headers=headers)
    assert (code, "cannot create resource" in status["message"]) == (403, True)
    ask.grant("creator", {**rule, "verbs": ["create"]})
    assert ask("PUT", f"{LEASES}/a", lease, headers=headers)[0] == 201
