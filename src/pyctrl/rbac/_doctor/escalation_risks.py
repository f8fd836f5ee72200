"""Roles that allow much: wildcards, and rights that can be turned into others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pyctrl.api import AccessRule
from pyctrl.rbac._doctor.facts import Facts, Role
from pyctrl.rbac._doctor.findings import Finding, join_words

__all__ = ["check_escalation", "check_wildcards"]

RBAC = "rbac.authorization.k8s.io"
_CERTIFICATES, _HOOKS = "certificates.k8s.io", "admissionregistration.k8s.io"
_DANGERS = (  # verb, group, resource, and what comes of it; the list is Kubernetes' "RBAC good practices"
    ("list", "", "secrets", "read every Secret, tokens of service accounts among them"),
    ("get", "", "secrets", "read every Secret whose name is known"),
    ("create", "", "pods", "run pods as any service account of the namespace"),
    ("create", "", "pods/exec", "run commands in pods"),
    ("update", "", "pods/ephemeralcontainers", "run containers in pods that are there"),
    ("create", "", "serviceaccounts/token", "log in as any service account"),
    ("impersonate", "", "users", "act as any user"),
    ("impersonate", "", "serviceaccounts", "act as any service account"),
    ("get", "", "nodes/proxy", "speak to kubelets past the API server"),
    ("escalate", RBAC, "roles", "write roles with rights of others"),
    ("escalate", RBAC, "clusterroles", "write cluster roles with rights of others"),
    ("bind", RBAC, "roles", "bind any role to anybody"),
    ("bind", RBAC, "clusterroles", "bind any cluster role to anybody"),
    ("update", _CERTIFICATES, "certificatesigningrequests/approval", "approve certificates that log in as anybody"),
    ("create", _HOOKS, "mutatingwebhookconfigurations", "change every write by a webhook"),
    ("create", _HOOKS, "validatingwebhookconfigurations", "see and refuse every write by a webhook"),
)


def check_wildcards(facts: Facts, role: Role) -> Iterator[Finding]:
    """Find rules with ``*``, and say what they grant."""
    wide = [rule for rule in role.rules if "*" in (*rule.verbs, *rule.groups, *rule.resources, *rule.paths)]
    if not wide:
        return
    told = "; ".join(_already_reported(facts, rule) for rule in wide)
    dangers = _dangers(facts, role, role.rules)
    consequence = f" With that one may {'; '.join(dangers)}." if dangers else ""
    where = f"in namespace {role.named.namespace}" if role.named.namespace else "wherever it is bound"
    yield Finding(
        severity="warning",
        code="wildcard",
        object=role.named,
        message=f"It allows, {where}, {told}; and what is added to that later.{consequence}",
        cure="# the rights that your program derives: pyctrl rbac generate MODULE:FUNCTION",
    )


def check_escalation(facts: Facts, role: Role) -> Iterator[Finding]:
    """Find rights that can be turned into others, unless a wildcard was told with them."""
    rules = [rule for rule in role.rules if "*" not in (*rule.verbs, *rule.groups, *rule.resources, *rule.paths)]
    dangers = _dangers(facts, role, rules)
    if dangers and len(rules) == len(role.rules):
        message = f"Who has it may {'; '.join(dangers)}."
        yield Finding(severity="hint", code="escalation", object=role.named, message=message)


def _dangers(facts: Facts, role: Role, rules: Sequence[AccessRule]) -> list[str]:
    found = []
    for verb, group, resource, what in _DANGERS:
        wanted = AccessRule(verbs=(verb,), groups=(group,), resources=(resource,))
        known = facts.served.find(group, resource.partition("/")[0])
        is_reached = role.named.kind == "ClusterRole" or (known is not None and known.namespaced)
        if is_reached and any(rule.covers(wanted) for rule in rules):
            found.append(what)
    if _DANGERS[0][3] in found and _DANGERS[1][3] in found:
        found.remove(_DANGERS[1][3])
    return found


def _already_reported(facts: Facts, rule: AccessRule) -> str:
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
