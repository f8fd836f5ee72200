"""The resources of rules: whether they are called so, and in the group that the rule names."""

from __future__ import annotations

from collections.abc import Iterator

from pyctrl.api import AccessRule
from pyctrl.rbac._doctor._cures import rule_instead
from pyctrl.rbac._doctor._facts import Facts, Role
from pyctrl.rbac._doctor._finding import Finding, Severity, listed
from pyctrl.rbac._doctor._served import ServedResource
from pyctrl.rbac._doctor._spelling import VIRTUAL, Right, mended, parts_of, right_group, right_resource

__all__ = ["check_resources"]


def check_resources(facts: Facts, role: Role) -> Iterator[Finding]:
    """Find groups and resources that are called otherwise."""
    for rule in role.rules:
        if rule.resources:
            groups = list(_check_groups(facts, role, rule))
            yield from groups or _check_resources(facts, role, rule)


def _check_groups(facts: Facts, role: Role, rule: AccessRule) -> Iterator[Finding]:
    if not rule.groups:
        why = f'The server refuses a rule for {listed(rule.resources)} without apiGroups: the core group is "".'
        yield _finding(role, "wrong-api-group", why, _cure(facts, role, rule))
    for group in rule.groups:
        right = right_group(facts.served, group)
        if right is not None:
            yield _finding(role, right.code, right.why, _cure(facts, role, rule))
        elif not facts.served.has_group(group) and facts.served.knows_all_of(group) and group != "*":
            why = f"The cluster serves nothing in the API group {group!r}. Is its definition installed?"
            yield _finding(role, "unknown-api-group", why, "", severity="warning")


def _check_resources(facts: Facts, role: Role, rule: AccessRule) -> Iterator[Finding]:
    rights = {resource: right_resource(facts.served, rule, resource) for resource in rule.resources}
    yield from _check_places(facts, role, rule, rights)
    for resource, right in rights.items():
        if right is None:
            yield from _check_unknown(facts, role, rule, resource)
        elif right.code != "missing-api-group":
            yield _finding(role, right.code, f"{right.why} The server takes any name.", _cure(facts, role, rule))


def _check_places(facts: Facts, role: Role, rule: AccessRule, rights: dict[str, Right | None]) -> Iterator[Finding]:
    """Find the resources that are in another group than those of the rule; those of one group together."""
    misplaced: dict[str, list[str]] = {}
    for resource, right in rights.items():
        if right is not None and right.code == "missing-api-group":
            misplaced.setdefault(right.why, []).append(resource)
    is_certain = all(facts.served.has_group(each) or facts.served.knows_all_of(each) for each in rule.groups)
    severity: Severity = "error" if is_certain else "warning"
    for why, resources in misplaced.items():
        told = f"{listed(resources)}: {why}. The server takes any combination, and this one grants nothing."
        yield _finding(role, "missing-api-group", told, _cure(facts, role, rule), severity=severity)


def _check_unknown(facts: Facts, role: Role, rule: AccessRule, resource: str) -> Iterator[Finding]:
    """Find what is not there, where nobody knows what was meant."""
    plural, slash, part = resource.partition("/")
    found = [each for group in rule.groups if (each := facts.served.find(group, plural)) is not None]
    if found and slash:
        yield from _check_part(role, found, part)
    is_known = bool(found) or plural == "*" or "*" in rule.groups or bool(VIRTUAL & {(g, plural) for g in rule.groups})
    if not is_known and all(facts.served.knows_all_of(group) for group in rule.groups):
        groups = ", ".join(map(repr, rule.groups))
        why = f"There is no resource {resource!r} in the API group {groups}, nor in another. The server takes any name."
        yield _finding(role, "unknown-resource", why, "")


def _check_part(role: Role, found: list[ServedResource], part: str) -> Iterator[Finding]:
    first, known = found[0], parts_of(found)
    if part in known or part in ("*", "finalizers"):
        return
    if first.is_custom and part in ("status", "scale"):
        effect = "who writes the status writes the object" if part == "status" else "it cannot be scaled"
        why = (
            f"The definition of {first} has no {part} sub-resource, so nobody asks for {first.plural}/{part}: {effect}."
        )
        yield _finding(role, "unknown-subresource", why, "", severity="warning")
    else:
        why = f"{first.plural} have no sub-resource {part!r}; they have {', '.join(sorted(known)) or 'none'}."
        yield _finding(role, "unknown-subresource", why, "")


def _cure(facts: Facts, role: Role, rule: AccessRule) -> str:
    """Write the rule with all that is wrong in it mended: its findings have one cure."""
    return rule_instead(role, rule, *mended(facts.served, rule))


def _finding(role: Role, code: str, message: str, cure: str, *, severity: Severity = "error") -> Finding:
    return Finding(severity=severity, code=code, object=role.named, message=message, cure=cure)
