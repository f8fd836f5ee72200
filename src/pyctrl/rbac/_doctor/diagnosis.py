"""All checks of the doctor, optionally limited to one service account."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

from pyctrl.api import Key
from pyctrl.rbac._doctor import escalation_risks, role_refs, service_accounts, subjects
from pyctrl.rbac._doctor import roles as _roles
from pyctrl.rbac._doctor import rules as _rules
from pyctrl.rbac._doctor.bound_roles import bound_roles, check_required_rules, required_rules
from pyctrl.rbac._doctor.facts import Facts, Role, Wire
from pyctrl.rbac._doctor.findings import BoundRole, Diagnosis, Finding, ObjectRef, Severity
from pyctrl.rbac._doctor.plaintext_tokens import check_tokens
from pyctrl.rbac._doctor.served_resources import Served, ServedResource
from pyctrl.rbac._grants import Grants

__all__ = ["examine"]

_ORDER: tuple[Severity, ...] = ("error", "warning", "hint")
_DEFINITION = ("apiextensions.k8s.io/v1", "CustomResourceDefinition")
_ACCESS = frozenset(("Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"))


def examine(
    objects: Iterable[tuple[Wire, str]],
    *,
    account: Key | None,
    namespace: str,
    complete: Mapping[str, frozenset[str]] | None,
    served: Iterable[ServedResource] | None,
    granted: Grants | None,
) -> Diagnosis:
    """Run all checks; see `diagnose`."""
    known = list(objects)
    definitions = [obj for obj, _ in known if (obj.get("apiVersion"), obj.get("kind")) == _DEFINITION]
    table = Served(served or (), definitions=definitions, is_complete=served is not None)
    facts = Facts(known, served=table, complete=complete or {}, namespace=namespace)
    wanted = () if granted is None or account is None else tuple(required_rules(bound_roles(facts, account), granted))
    findings = list(_examine(facts))
    if account is not None:
        concerned = _related_objects(facts, account)
        findings = [each for each in findings if each.object in concerned]
        is_certain = all(facts.knows_all(kind) for kind in _ACCESS) or complete is None
        findings += check_required_rules(facts, account, wanted, is_certain=is_certain)
    return Diagnosis(findings=_sorted(findings), accounts=_accounts_of(facts, account), needs=wanted)


def _examine(facts: Facts) -> Iterator[Finding]:
    for binding in facts.bindings:
        if binding.is_own:
            yield from role_refs.check_role_ref(facts, binding)
            yield from subjects.check_subjects(facts, binding)
            yield from role_refs.check_scope(facts, binding)
    for role in facts.roles.values():
        if role.is_own:
            yield from _examine_role(facts, role)
    yield from service_accounts.check_workloads(facts)
    for secret, account in facts.token_secrets:
        yield from service_accounts.check_token_secret(facts, secret, account)
    for named, obj in facts.objects:
        yield from _roles.check_namespaces(named, obj)
        yield from check_tokens(named, obj)
    yield from _roles.check_definitions(facts)


def _examine_role(facts: Facts, role: Role) -> Iterator[Finding]:
    yield from chain(
        role_refs.check_role_name(facts, role),
        _rules.check_resources(facts, role),
        _rules.check_verbs(facts, role),
        _rules.check_names(role),
        _rules.check_pairs(facts, role),
        _roles.check_idle_rules(facts, role),
        _roles.check_aggregation(facts, role),
        escalation_risks.check_wildcards(facts, role),
        escalation_risks.check_escalation(facts, role),
    )
    if facts.bindings_of((role.named.kind, Key(role.named.namespace, role.named.name))):
        yield from _roles.check_status(facts, role)


def _related_objects(facts: Facts, account: Key) -> set[ObjectRef]:
    """Return the objects related to an account: its bindings, their roles, its workloads and token Secrets.

    Bindings that were probably meant for it, and workloads that run as ``default`` in its namespace, are included.
    """
    found: set[ObjectRef] = set()
    for binding in facts.bindings:
        if not any(subjects.meant_account(facts, binding, each) == account for each in binding.subjects):
            continue
        found.add(binding.named)
        role = facts.roles.get(binding.role_key)
        found.update((role.named,) if role is not None else role_refs.meant_roles(facts, binding))
    for workload in facts.workloads:
        if workload.named.namespace == account.namespace and workload.account.name in (account.name, "default"):
            found.add(workload.named)
    found.update(secret for secret, owner in facts.token_secrets if owner == account)
    found.update(_definitions(facts, account))
    return found


def _definitions(facts: Facts, account: Key) -> Iterator[ObjectRef]:
    """Yield the CustomResourceDefinitions in files, and those of groups that the account has permissions in."""
    rules = [rule for held in bound_roles(facts, account) if held.is_own for rule in held.rules or ()]
    groups = {group for rule in rules for group in rule.groups}
    for named, obj in facts.objects:
        if named.kind == "CustomResourceDefinition" and (
            named.source or (obj.get("spec") or {}).get("group") in groups
        ):
            yield named


def _accounts_of(facts: Facts, account: Key | None) -> dict[Key, tuple[BoundRole, ...]]:
    used = {workload.account for workload in facts.workloads}
    wanted = sorted({*facts.referenced_accounts, *used}) if account is None else [account]
    held = {each: tuple(bound_role for bound_role in bound_roles(facts, each) if bound_role.is_own) for each in wanted}
    return {each: found for each, found in held.items() if found or account is not None}


def _sorted(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Sort findings by object, and objects by their most severe finding."""
    unique = list(dict.fromkeys(findings))
    worst: dict[ObjectRef, int] = {}
    for each in unique:
        rank = _ORDER.index(each.severity)
        worst[each.object] = min(rank, worst.get(each.object, rank))
    return tuple(sorted(unique, key=lambda each: (worst[each.object], each.object, _ORDER.index(each.severity))))
