"""The roles bound to a service account, and the permissions of a program that they lack."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pyctrl.api import AccessRule, Key
from pyctrl.rbac._doctor.facts import Facts, user_of
from pyctrl.rbac._doctor.findings import BoundRole, Finding, ObjectRef, RequiredRule
from pyctrl.rbac._doctor.fixes import as_cluster_role_binding
from pyctrl.rbac._grants import Grants
from pyctrl.rbac._normalization import normalise
from pyctrl.rbac._remedy import remedy

__all__ = ["bound_roles", "check_required_rules", "required_rules"]


def bound_roles(facts: Facts, account: Key) -> list[BoundRole]:
    """Return the roles bound to an account, to its user name, or to its groups."""
    found = [
        BoundRole(
            binding=binding.named,
            role=ObjectRef(binding.role_kind, *binding.role_key[1]),
            rules=facts.rules_of(binding.role_key),
            is_own=binding.is_own,
        )
        for binding in facts.bindings_for(account)
    ]
    return sorted(found, key=lambda bound_role: (not bound_role.is_own, bound_role.namespace, bound_role.binding))


def required_rules(held: Iterable[BoundRole], granted: Grants) -> list[RequiredRule]:
    """Return each rule that a program needs, with the binding that grants it."""
    known = list(held)
    return [
        RequiredRule(rule=atom, namespace=namespace, granted_by=_granting_binding(known, atom, namespace))
        for namespace, rules in granted.rules.items()
        for rule in rules
        for atom in rule.atoms()
    ]


def _granting_binding(held: list[BoundRole], atom: AccessRule, namespace: str) -> ObjectRef | None:
    for bound_role in held:
        if bound_role.namespace in ("", namespace) and any(rule.covers(atom) for rule in bound_role.rules or ()):
            return bound_role.binding
    return None


def check_required_rules(
    facts: Facts, account: Key, wanted: Iterable[RequiredRule], *, is_certain: bool
) -> Iterator[Finding]:
    """Report missing permissions, one finding for each resource.

    Args:
        is_certain: whether all roles and bindings that could grant them were read.
    """
    missing: dict[str, list[AccessRule]] = {}
    for need in wanted:
        if need.granted_by is None:
            missing.setdefault(need.namespace, []).append(need.rule)
    for namespace, rules in missing.items():
        for rule in normalise(rules):
            yield from _missing(facts, account, namespace, rule, is_certain=is_certain)


def _missing(facts: Facts, account: Key, namespace: str, rule: AccessRule, *, is_certain: bool) -> Iterator[Finding]:
    subject = ObjectRef("ServiceAccount", account.namespace, account.name)
    for part in _by_resource(rule):
        missing_rule = remedy(part, namespace, user=user_of(account), name=account.name)
        partial = None if namespace else _bound_in_one_namespace(bound_roles(facts, account), part)
        if partial is None:
            message = f"It may not {missing_rule.what}, which the program needs."
            added = "".join(f"#   {line}\n" for line in missing_rule.rule.splitlines())
            fix = "\n".join(missing_rule.commands) + f"\n# or add this rule to a role that is bound to it:\n{added}"
        else:
            message = (
                f"It may not {missing_rule.what}, which the program needs: {partial.binding} grants it in namespace "
                f"{partial.namespace} only. A RoleBinding never grants anything cluster-wide, even with a ClusterRole."
            )
            binding = next(each for each in facts.bindings if each.named == partial.binding)
            is_cluster_role = binding.role_kind == "ClusterRole"
            fix = as_cluster_role_binding(binding) if is_cluster_role else "\n".join(missing_rule.commands)
        yield Finding(
            severity="error" if is_certain else "warning",
            code="missing-right",
            object=subject,
            message=message,
            fix=fix,
        )


def _bound_in_one_namespace(held: list[BoundRole], rule: AccessRule) -> BoundRole | None:
    """Return the bound role that grants a cluster-wide rule in one namespace only; None if there is none."""
    for bound_role in held:
        if bound_role.namespace and all(
            any(each.covers(atom) for each in bound_role.rules or ()) for atom in rule.atoms()
        ):
            return bound_role
    return None


def _by_resource(rule: AccessRule) -> Iterator[AccessRule]:
    """Split a rule by group: kubectl commands name resources of one group."""
    if rule.paths:
        yield rule
    for group in rule.groups:
        yield AccessRule(verbs=rule.verbs, groups=(group,), resources=rule.resources, names=rule.names)
