"""Who may do what: roles and bindings, the policy from the start, and no granting of what one has not."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from pyctrl.apiserver import ApiServer, User
from tests.unit.apiserver._kit import CONFIGMAPS, Asker

RBAC = "/apis/rbac.authorization.k8s.io/v1"
ROLES, BINDINGS = f"{RBAC}/namespaces/default/roles", f"{RBAC}/namespaces/default/rolebindings"
READ = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list"]}
GRANT = {"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["*"], "verbs": ["create", "update", "patch"]}


class Guarded(Asker):
    """A server with RBAC: what is asked without a name is asked by its administrator."""

    def __init__(self) -> None:
        super().__init__(ApiServer(random=Random(1), authorization="RBAC"))

    def answer(self, method: str, path: str, body: Any = None, *, headers: Any = None, **query: str) -> Any:
        own = {"Authorization": f"Bearer {self.server.loopback_token}"}
        return super().answer(method, path, body, headers={**own, **(headers or {})}, **query)

    def grant(self, role: str, *rules: dict[str, Any], **subject: str) -> None:
        """Make a role in `default` and bind it, to the user `jane` by default."""
        assert self("POST", ROLES, {"metadata": {"name": role}, "rules": list(rules)})[0] == 201
        self.bind("Role", role, **(subject or {"kind": "User", "name": "jane"}))

    def bind(self, role_kind: str, role: str, **subject: str) -> None:
        """Bind a role in `default`."""
        body: dict[str, Any] = {
            "metadata": {"name": f"{role}.{subject['name']}"},
            "roleRef": {"kind": role_kind, "name": role},
        }
        assert self("POST", BINDINGS, {**body, "subjects": [subject]})[0] == 201

    def as_(self, name: str, *groups: str) -> dict[str, str]:
        """Give the headers of a user."""
        return {"Authorization": f"Bearer {self.server.issue_token(User(name=name, groups=groups))}"}


@pytest.fixture
def ask() -> Guarded:
    return Guarded()


def test_nobody_may_do_anything_by_default(ask: Guarded) -> None:
    """A user without a role is told what they lack; an administrator needs none."""
    code, status = ask("GET", CONFIGMAPS, headers=ask.as_("jane"))
    assert code == 403
    assert status["message"] == (
        'configmaps is forbidden: User "jane" cannot list resource "configmaps" in API group "" '
        'in the namespace "default"'
    )
    assert ask("GET", CONFIGMAPS, headers=ask.as_("root", "system:masters"))[0] == 200


def test_a_role_counts_from_the_moment_it_is_bound_until_it_is_not(ask: Guarded) -> None:
    """Bindings, roles and their ends take effect with the write that makes them."""
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
    """Who is bound to a role that is not there learns why nothing came of it."""
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
    """Sub-resources, names and verbs are each asked for; whoever may ask is told that nothing is there."""
    ask.grant("some", {"apiGroups": [""], **rule})
    body: dict[str, Any] | None = {} if method == "POST" else None
    assert ask(method, f"/api/v1/namespaces/default/{path}", body, headers=ask.as_("jane"))[0] == code


def test_a_list_of_one_name_needs_only_that_name(ask: Guarded) -> None:
    """A field selector for one object lets a rule with its name through."""
    ask.grant("one", {**READ, "resourceNames": ["a"]})
    headers = ask.as_("jane")
    assert ask("GET", CONFIGMAPS, headers=headers, fieldSelector="metadata.name=a")[0] == 200
    assert ask("GET", CONFIGMAPS, headers=headers, fieldSelector="metadata.name=b")[0] == 403


def test_service_accounts_are_subjects(ask: Guarded) -> None:
    """A service account is bound by namespace and name; without a namespace the binding's is meant."""
    ask("POST", "/api/v1/namespaces/default/serviceaccounts", {"metadata": {"name": "bot"}})
    ask.grant("reader", READ, kind="ServiceAccount", name="bot")
    headers = {"Authorization": f"Bearer {ask.server.issue_account_token('default', 'bot')}"}
    assert ask("GET", CONFIGMAPS, headers=headers)[0] == 200
    with pytest.raises(LookupError, match="create it first"):
        ask.server.issue_account_token("default", "nosuch")


def test_everybody_who_is_known_may_look_around(ask: Guarded) -> None:
    """The policy from the start opens discovery to users and the version to everybody."""
    anybody = {"Authorization": ""}
    assert ask("GET", "/version", headers=anybody)[0] == 200
    assert ask("GET", "/apis", headers=anybody)[0] == 403
    assert ask("GET", "/apis", headers=ask.as_("jane"))[0] == 200
    assert ask("GET", "/metrics", headers=ask.as_("jane"))[1]["message"] == (
        'forbidden: User "jane" cannot get path "/metrics"'
    )


def test_the_policy_is_listed_as_a_real_server_lists_it(ask: Guarded) -> None:
    """All roles and bindings of kube-apiserver 1.36 are there, with its labels; without RBAC there are none."""
    counts = {}
    for resource in ("clusterroles", "clusterrolebindings", "roles", "rolebindings"):
        _, found = ask("GET", f"{RBAC}/{resource}", labelSelector="kubernetes.io/bootstrapping=rbac-defaults")
        counts[resource] = len(found["items"])
    assert counts == {"clusterroles": 69, "clusterrolebindings": 50, "roles": 7, "rolebindings": 7}
    _, role = ask("GET", f"{RBAC}/clusterroles/cluster-admin")
    assert role["metadata"]["annotations"] == {"rbac.authorization.kubernetes.io/autoupdate": "true"}
    assert role["metadata"]["managedFields"][0]["manager"] == "kube-apiserver"
    assert Asker()("GET", f"{RBAC}/clusterroles")[1]["items"] == []


def test_nobody_grants_what_they_do_not_have(ask: Guarded) -> None:
    """A role may be written with rules that its writer has; what is lacking is told, compactly and in order."""
    ask.grant("writer", GRANT, READ)
    headers = ask.as_("jane")
    assert ask("POST", ROLES, {"metadata": {"name": "ok"}, "rules": [READ]}, headers=headers)[0] == 201
    more = {"apiGroups": ["", "apps"], "resources": ["configmaps"], "verbs": ["list", "watch"]}
    code, status = ask("POST", ROLES, {"metadata": {"name": "more"}, "rules": [more]}, headers=headers)
    assert code == 403
    assert status["message"] == (
        'roles.rbac.authorization.k8s.io "more" is forbidden: user "jane" (groups=["system:authenticated"]) is '
        "attempting to grant RBAC permissions not currently held:\n"
        '{APIGroups:[""], Resources:["configmaps"], Verbs:["watch"]}\n'
        '{APIGroups:["apps"], Resources:["configmaps"], Verbs:["list" "watch"]}'
    )


def test_binding_takes_the_rules_or_the_right_to_bind(ask: Guarded) -> None:
    """A stronger role is bound by nobody but who may `bind` it; a role that is not there by nobody."""
    ask.grant("writer", GRANT)
    body = {"metadata": {"name": "b"}, "roleRef": {"kind": "ClusterRole", "name": "cluster-admin"}}
    headers = ask.as_("jane")
    assert ask("POST", BINDINGS, body, headers=headers)[0] == 403
    absent = {"metadata": {"name": "b"}, "roleRef": {"kind": "Role", "name": "nosuch"}}
    assert ask("POST", BINDINGS, absent, headers=headers)[0] == 404
    named = {"resources": ["clusterroles"], "resourceNames": ["cluster-admin"], "verbs": ["bind"]}
    ask.grant("binder", {"apiGroups": ["rbac.authorization.k8s.io"], **named})
    assert ask("POST", BINDINGS, body, headers=headers)[0] == 201


def test_escalate_lifts_the_check_of_roles(ask: Guarded) -> None:
    """Who has the verb `escalate` writes any role."""
    ask.grant("writer", {**GRANT, "verbs": ["create", "escalate"]})
    everything = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}
    assert ask("POST", ROLES, {"metadata": {"name": "r"}, "rules": [everything]}, headers=ask.as_("jane"))[0] == 201


def test_the_garbage_collector_may_release_a_strong_role(ask: Guarded) -> None:
    """Changing nothing but owners and finalizers needs no rules, so that a collector without them can do its work."""
    ask("POST", ROLES, {"metadata": {"name": "strong", "finalizers": ["a/b"]}, "rules": [READ]})
    ask.grant("writer", GRANT)
    merge = {"Content-Type": "application/merge-patch+json", **ask.as_("jane")}
    assert ask("PATCH", f"{ROLES}/strong", {"metadata": {"labels": {"a": "b"}}}, headers=merge)[0] == 403
    assert ask("PATCH", f"{ROLES}/strong", {"metadata": {"finalizers": None}}, headers=merge)[0] == 200


def test_apply_to_a_free_name_needs_patch_and_create(ask: Guarded) -> None:
    """Server-side apply that creates asks for both verbs, and says which is lacking."""
    ask.grant("patcher", {**READ, "verbs": ["patch"]})
    headers = {"Content-Type": "application/apply-patch+yaml", **ask.as_("jane")}
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
    code, status = ask("PATCH", f"{CONFIGMAPS}/a", body, headers=headers, fieldManager="m")
    assert code == 403
    assert 'configmaps "a" is forbidden: User "jane" cannot create resource "configmaps"' in status["message"]
    ask.grant("creator", {**READ, "verbs": ["create"]})
    assert ask("PATCH", f"{CONFIGMAPS}/a", body, headers=headers, fieldManager="m")[0] == 201
