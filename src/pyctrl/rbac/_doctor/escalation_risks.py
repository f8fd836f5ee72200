"""Checks for broad roles: wildcards, and permissions that allow privilege escalation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pyctrl.api import AccessRule, Key
from pyctrl.rbac._doctor.facts import Facts, Role
from pyctrl.rbac._doctor.findings import Finding, join_words

__all__ = ["check_escalation", "check_wildcards"]

RBAC = "rbac.authorization.k8s.io"
_CERTIFICATES, _HOOKS = "certificates.k8s.io", "admissionregistration.k8s.io"
_RISKS = (  # verb, group, resource, effect; from Kubernetes' "Role Based Access Control Good Practices"
    ("list", "", "secrets", "read every Secret, including service account tokens"),
    ("get", "", "secrets", "read every Secret whose name is known"),
    ("create", "", "pods", "run pods as any service account of the namespace"),
    ("create", "", "pods/exec", "run commands in pods"),
    ("update", "", "pods/ephemeralcontainers", "run containers in existing pods"),
    ("create", "", "serviceaccounts/token", "log in as any service account"),
    ("impersonate", "", "users", "act as any user"),
    ("impersonate", "", "serviceaccounts", "act as any service account"),
    ("get", "", "nodes/proxy", "call kubelets directly, bypassing the API server"),
    ("escalate", RBAC, "roles", "write roles with permissions that its user does not have"),
    ("escalate", RBAC, "clusterroles", "write cluster roles with permissions that its user does not have"),
    ("bind", RBAC, "roles", "bind any role to any user"),
    ("bind", RBAC, "clusterroles", "bind any cluster role to any user"),
    ("update", _CERTIFICATES, "certificatesigningrequests/approval", "approve client certificates of any user"),
    ("create", _HOOKS, "mutatingwebhookconfigurations", "modify every write with a webhook"),
    ("create", _HOOKS, "validatingwebhookconfigurations", "read and reject every write with a webhook"),
)


def check_wildcards(facts: Facts, role: Role) -> Iterator[Finding]:
    """Report rules with ``*``, and what they grant."""
    wide = [rule for rule in role.rules if "*" in (*rule.verbs, *rule.groups, *rule.resources, *rule.paths)]
    if not wide or (_is_for_people(facts, role) and all(_is_of_custom_kinds(rule) for rule in wide)):
        return
    message = "; ".join(_describe_rule(facts, rule) for rule in wide)
    risks = _risks(facts, role, role.rules)
    consequence = f" This allows to {'; '.join(risks)}." if risks else ""
    where = f"in namespace {role.named.namespace}" if role.named.namespace else "wherever it is bound"
    yield Finding(
        severity="warning",
        code="wildcard",
        object=role.named,
        message=f"It allows, {where}, {message}, including what is added later.{consequence}",
        fix="# the permissions derived from your program: pyctrl rbac generate MODULE:FUNCTION",
    )


def _is_for_people(facts: Facts, role: Role) -> bool:
    """Return whether no service account has a role: it is for people, as kubebuilder's admin role of a kind."""
    key = (role.named.kind, Key(role.named.namespace, role.named.name))
    return not any(each.kind == "ServiceAccount" for binding in facts.bindings_of(key) for each in binding.subjects)


def _is_of_custom_kinds(rule: AccessRule) -> bool:
    """Return whether a rule has all verbs of named resources of custom groups, which have a domain."""
    is_named = "*" not in (*rule.groups, *rule.resources) and not rule.paths
    return is_named and all("." in group and not group.endswith("k8s.io") for group in rule.groups)


def check_escalation(facts: Facts, role: Role) -> Iterator[Finding]:
    """Report permissions that allow privilege escalation, unless a wildcard finding covers them."""
    rules = [rule for rule in role.rules if "*" not in (*rule.verbs, *rule.groups, *rule.resources, *rule.paths)]
    risks = _risks(facts, role, rules)
    if risks and len(rules) == len(role.rules):
        message = f"It allows to {'; '.join(risks)}."
        yield Finding(severity="hint", code="escalation", object=role.named, message=message)


def _risks(facts: Facts, role: Role, rules: Sequence[AccessRule]) -> list[str]:
    found = []
    for verb, group, resource, what in _RISKS:
        wanted = AccessRule(verbs=(verb,), groups=(group,), resources=(resource,))
        known = facts.served.find(group, resource.partition("/")[0])
        is_reached = role.named.kind == "ClusterRole" or (known is not None and known.namespaced)
        if is_reached and any(rule.covers(wanted) for rule in rules):
            found.append(what)
    if _RISKS[0][3] in found and _RISKS[1][3] in found:
        found.remove(_RISKS[1][3])
    return found


def _describe_rule(facts: Facts, rule: AccessRule) -> str:
    verbs = "everything" if "*" in rule.verbs else join_words(rule.verbs)
    if rule.paths:
        return f"{verbs} on the paths {', '.join(rule.paths)}"
    if "*" in rule.groups:
        where = "of every API group"
    else:
        groups = " and ".join(group or "core" for group in rule.groups)
        known = sum(len(facts.served.of_group(group)) for group in rule.groups)
        where = f"of the API group {groups}" + (f" ({known} now)" if known and "*" in rule.resources else "")
    what = "every resource" if "*" in rule.resources else join_words(rule.resources)
    return f"{verbs} on {what} {where}"
