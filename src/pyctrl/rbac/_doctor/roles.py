"""Checks for whole roles and definitions: scope, aggregation, status and custom resources."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from pyctrl.api import AccessRule
from pyctrl.rbac._doctor.facts import ACCOUNT_USER, Binding, Facts, Role, Wire
from pyctrl.rbac._doctor.findings import Finding, ObjectRef
from pyctrl.rbac._doctor.fixes import add_rule
from pyctrl.rbac._doctor.role_refs import has_no_effect_in_namespace
from pyctrl.rbac._manifests import dump

__all__ = ["check_aggregation", "check_definitions", "check_idle_rules", "check_namespaces", "check_status"]

_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def check_idle_rules(facts: Facts, role: Role) -> Iterator[Finding]:
    """Report rules of a Role for cluster-scoped resources."""
    if role.named.kind != "Role":
        return
    for rule in role.rules:
        if has_no_effect_in_namespace(facts, rule):
            what = ", ".join(rule.paths or rule.resources)
            fix = {
                "apiVersion": "rbac.authorization.k8s.io/v1",
                "kind": "ClusterRole",
                "metadata": {"name": role.named.name},
                "rules": [rule.to_wire()],
            }
            yield Finding(
                severity="error",
                code="cluster-rule-in-role",
                object=role.named,
                message=f"{what}: not namespaced, and a Role grants permissions in its own namespace only. "
                f"{'The server rejects it. ' if rule.paths else ''}Use a ClusterRole and a ClusterRoleBinding.",
                fix=dump(fix),
            )


def check_aggregation(facts: Facts, role: Role) -> Iterator[Finding]:
    """Report aggregated roles that select no role, or that have their own rules in a file."""
    if not role.is_aggregated:
        return
    if not facts.parts_of(role) and facts.knows_all("ClusterRole"):
        why = "It has an aggregationRule, which selects no ClusterRole, so it has no rules."
        yield Finding(severity="warning", code="nothing-aggregated", object=role.named, message=why)
    if role.rules and role.named.source:
        why = "It has an aggregationRule, so the rules of the selected ClusterRoles overwrite its own rules."
        fix = "# move the rules into a ClusterRole with the labels that the aggregationRule selects"
        yield Finding(severity="warning", code="rules-overwritten", object=role.named, message=why, fix=fix)


def check_namespaces(named: ObjectRef, obj: Wire) -> Iterator[Finding]:
    """Report cluster-scoped objects with a namespace, also one that only kubectl's annotation still has."""
    namespace = _written_namespace(obj)
    if named.namespace or not namespace:
        return
    why = f"metadata.namespace is {namespace!r}, but a {named.kind} is not namespaced: the server ignores it silently."
    if named.kind == "ClusterRole":
        why += " For permissions in that namespace only, use a Role, or a RoleBinding to this ClusterRole."
    fix = f"# remove it\nmetadata:\n  name: {named.name}\n"
    yield Finding(severity="warning", code="namespace-on-cluster-object", object=named, message=why, fix=fix)


def _written_namespace(obj: Wire) -> str:
    metadata = obj.get("metadata") or {}
    applied = (metadata.get("annotations") or {}).get(_LAST_APPLIED)
    if applied and not metadata.get("namespace"):
        try:
            written: Any = json.loads(applied)
            return str(written["metadata"].get("namespace") or "")
        except (ValueError, TypeError, KeyError, AttributeError):
            return ""  # not written by kubectl
    return str(metadata.get("namespace") or "")


# --- definitions ---


def check_definitions(facts: Facts) -> Iterator[Finding]:
    """Report CustomResourceDefinitions whose objects no service account may list and watch."""
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
        lack = f"lack list or watch of {plural} in {group}" if is_named else f"have no rule for {group!r}"
        yield Finding(
            severity="warning",
            code="definition-without-reader",
            object=named,
            message=f"No program can read its objects: the roles bound to service accounts {lack}.",
            fix=_rule_for_reader(facts, own, wanted),
        )


def _is_for_program(binding: Binding) -> bool:
    return any(each.kind == "ServiceAccount" or each.name.startswith(ACCOUNT_USER) for each in binding.subjects)


def _rule_for_reader(facts: Facts, own: list[Binding], rule: AccessRule) -> str:
    """Return how to add the rule to the bound role if there is only one, which is then the program's role."""
    keys = {binding.role_key for binding in own}
    role = facts.roles.get(keys.pop()) if len(keys) == 1 else None
    if role is not None:
        return add_rule(role.named, rule)
    return f"# add this rule to the role of the program that manages these objects\n{dump([rule.to_wire()])}"


def check_status(facts: Facts, role: Role) -> Iterator[Finding]:
    """Report roles that may update objects with a status sub-resource, but not their status."""
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
            message=f"It allows to update {each}, but not {each.plural}/status: the status is a sub-resource, and "
            "writes to the object do not change it.",
            fix=add_rule(role.named, rule),
        )
