"""Roles as a whole: what does not hold in a namespace, what is filled by controllers, what lives in no namespace."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from pyctrl.api import AccessRule
from pyctrl.rbac._doctor.facts import ACCOUNT_USER, Binding, Facts, Role, Wire
from pyctrl.rbac._doctor.findings import Finding, ObjectRef
from pyctrl.rbac._doctor.fixes import rule_added
from pyctrl.rbac._doctor.role_refs import is_idle_in_namespace
from pyctrl.rbac._manifests import dump

__all__ = ["check_aggregation", "check_definitions", "check_idle_rules", "check_namespaces", "check_status"]

_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def check_idle_rules(facts: Facts, role: Role) -> Iterator[Finding]:
    """Find rules of a Role about what is in no namespace."""
    if role.named.kind != "Role":
        return
    for rule in role.rules:
        if is_idle_in_namespace(facts, rule):
            what = ", ".join(rule.paths or rule.resources)
            cure = {
                "apiVersion": "rbac.authorization.k8s.io/v1",
                "kind": "ClusterRole",
                "metadata": {"name": role.named.name},
                "rules": [rule.to_wire()],
            }
            yield Finding(
                severity="error",
                code="cluster-rule-in-role",
                object=role.named,
                message=f"{what}: that is in no namespace, and a Role grants in its own only. "
                f"{'The server refuses it. ' if rule.paths else ''}It takes a ClusterRole and a ClusterRoleBinding.",
                cure=dump(cure),
            )


def check_aggregation(facts: Facts, role: Role) -> Iterator[Finding]:
    """Find aggregated roles that nothing is aggregated into, or that have rules of their own in a file."""
    if not role.is_aggregated:
        return
    if not facts.parts_of(role) and facts.knows_all("ClusterRole"):
        why = "Its rules are those of the ClusterRoles that its aggregationRule selects, and there are none."
        yield Finding(severity="warning", code="nothing-aggregated", object=role.named, message=why)
    if role.rules and role.named.source:
        why = "It has an aggregationRule, so its rules are overwritten by those of the ClusterRoles that are selected."
        cure = "# put the rules into a ClusterRole with the labels that the aggregationRule selects"
        yield Finding(severity="warning", code="rules-overwritten", object=role.named, message=why, cure=cure)


def check_namespaces(named: ObjectRef, obj: Wire) -> Iterator[Finding]:
    """Find a namespace on what lives in none; also where the server has dropped it and kubectl remembers it."""
    namespace = _written_namespace(obj)
    if named.namespace or not namespace:
        return
    why = f"metadata.namespace is {namespace!r}, and a {named.kind} is in no namespace: the server drops it silently."
    if named.kind == "ClusterRole":
        why += " For rights in that namespace only it takes a Role, or a RoleBinding to this."
    cure = f"# take it out\nmetadata:\n  name: {named.name}\n"
    yield Finding(severity="warning", code="namespace-on-cluster-object", object=named, message=why, cure=cure)


def _written_namespace(obj: Wire) -> str:
    metadata = obj.get("metadata") or {}
    applied = (metadata.get("annotations") or {}).get(_LAST_APPLIED)
    if applied and not metadata.get("namespace"):
        try:
            written: Any = json.loads(applied)
            return str(written["metadata"].get("namespace") or "")
        except (ValueError, TypeError, KeyError, AttributeError):
            return ""  # somebody else's annotation
    return str(metadata.get("namespace") or "")


# --- definitions ---


def check_definitions(facts: Facts) -> Iterator[Finding]:
    """Find definitions whose objects no bound role may list and watch, so that nobody can work on them."""
    own = [binding for binding in facts.bindings if binding.is_own and _is_for_program(binding)]
    for named, obj in facts.objects:
        if obj.get("apiVersion") != "apiextensions.k8s.io/v1" or named.kind != "CustomResourceDefinition" or not own:
            continue
        spec = obj.get("spec") or {}
        group, plural = str(spec.get("group", "")), str((spec.get("names") or {}).get("plural", ""))
        wanted = AccessRule(verbs=("list", "watch"), groups=(group,), resources=(plural,))
        rules = [rule for binding in own for rule in facts.rules_of(binding.role_key) or ()]
        if all(any(rule.covers(atom) for rule in rules) for atom in wanted.atoms()):
            continue
        is_named = any(group in rule.groups for rule in rules)
        lack = f"their rules for {group} lack list or watch of {plural}" if is_named else f"no rule is for {group!r}"
        yield Finding(
            severity="warning",
            code="definition-without-reader",
            object=named,
            message=f"No program can work on its objects: of the roles that are bound to service accounts, {lack}.",
            cure=_rule_for_reader(facts, own, wanted),
        )


def _is_for_program(binding: Binding) -> bool:
    return any(each.kind == "ServiceAccount" or each.name.startswith(ACCOUNT_USER) for each in binding.subjects)


def _rule_for_reader(facts: Facts, own: list[Binding], rule: AccessRule) -> str:
    """Add the rule to the role that is bound, if there is one only: then it is that of the program."""
    keys = {binding.role_key for binding in own}
    role = facts.roles.get(keys.pop()) if len(keys) == 1 else None
    if role is not None:
        return rule_added(role.named, rule)
    return f"# one more rule for the role of the program that works on them\n{dump([rule.to_wire()])}"


def check_status(facts: Facts, role: Role) -> Iterator[Finding]:
    """Find who writes objects with a status of its own, and may not write that."""
    lacking = []
    for each in facts.served:
        if not each.is_custom or "status" not in each.subresources:
            continue
        writes = AccessRule(verbs=("update",), groups=(each.group,), resources=(each.plural,))
        status = [
            AccessRule(verbs=(verb,), groups=(each.group,), resources=(f"{each.plural}/status",))
            for verb in ("update", "patch")
        ]
        is_named = any(each.group in rule.groups and each.plural in rule.resources for rule in role.rules)
        held = [any(rule.covers(atom) for rule in role.rules) for atom in (writes, *status)]
        if is_named and held[0] and not any(held[1:]):
            lacking.append(each)
    for each in lacking:
        rule = AccessRule(verbs=("get", "patch", "update"), groups=(each.group,), resources=(f"{each.plural}/status",))
        yield Finding(
            severity="warning",
            code="status-not-writable",
            object=role.named,
            message=f"It allows to update {each}, and not {each.plural}/status: the status is a resource of its own, "
            "and writes to the object leave it as it is.",
            cure=rule_added(role.named, rule),
        )
