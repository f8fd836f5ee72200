"""The privilege escalation check of writes to roles and bindings."""

from __future__ import annotations

from tests.unit.apiserver.authz._rbac import BINDINGS, GRANT, READ, ROLES, Guarded


def test_nobody_grants_what_they_do_not_have(ask: Guarded) -> None:
    """A user can write a role with rules that the user has; the error lists the missing rules in order."""
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
    """The verb `bind` allows binding a stronger role. A missing role cannot be bound."""
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
    """A user with the verb `escalate` can write any role."""
    ask.grant("writer", {**GRANT, "verbs": ["create", "escalate"]})
    everything = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}
    assert ask("POST", ROLES, {"metadata": {"name": "r"}, "rules": [everything]}, headers=ask.as_("jane"))[0] == 201


def test_the_garbage_collector_may_release_a_strong_role(ask: Guarded) -> None:
    """A change of owners and finalizers only is not checked, so that the garbage collector can make it."""
    ask("POST", ROLES, {"metadata": {"name": "strong", "finalizers": ["a/b"]}, "rules": [READ]})
    ask.grant("writer", GRANT)
    merge = {"Content-Type": "application/merge-patch+json", **ask.as_("jane")}
    assert ask("PATCH", f"{ROLES}/strong", {"metadata": {"labels": {"a": "b"}}}, headers=merge)[0] == 403
    assert ask("PATCH", f"{ROLES}/strong", {"metadata": {"finalizers": None}}, headers=merge)[0] == 200
