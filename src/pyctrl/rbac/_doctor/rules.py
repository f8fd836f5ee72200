"""Checks for single rules: groups, resources, verbs and resource names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pyctrl.api import AccessRule
from pyctrl.rbac._doctor.facts import Facts, Role
from pyctrl.rbac._doctor.findings import Finding, Severity, join_words
from pyctrl.rbac._doctor.fixes import add_rule, replace_rule
from pyctrl.rbac._doctor.served_resources import ServedResource
from pyctrl.rbac._doctor.spelling import (
    VIRTUAL,
    Correction,
    corrected_group,
    corrected_resource,
    corrected_rule,
    corrected_verbs,
    subresources_of,
    unknown_verbs,
)

__all__ = ["check_names", "check_pairs", "check_resources", "check_verbs"]


def check_resources(facts: Facts, role: Role) -> Iterator[Finding]:
    """Report misspelt groups and resources, and resources in the wrong group."""
    for rule in role.rules:
        if rule.resources:
            groups = list(_check_groups(facts, role, rule))
            yield from groups or _check_resources(facts, role, rule)


def _check_groups(facts: Facts, role: Role, rule: AccessRule) -> Iterator[Finding]:
    if not rule.groups:
        why = f'The server rejects a rule for {join_words(rule.resources)} without apiGroups: the core group is "".'
        yield _finding(role, "wrong-api-group", why, _fix(facts, role, rule))
    for group in rule.groups:
        right = corrected_group(facts.served, group)
        if right is not None:
            yield _finding(role, right.code, right.why, _fix(facts, role, rule))
        elif not facts.served.has_group(group) and facts.served.knows_all_of(group) and group != "*":
            why = f"The cluster serves no resource in the API group {group!r}. Is its definition installed?"
            yield _finding(role, "unknown-api-group", why, "", severity="warning")


def _check_resources(facts: Facts, role: Role, rule: AccessRule) -> Iterator[Finding]:
    rights = {resource: corrected_resource(facts.served, rule, resource) for resource in rule.resources}
    yield from _check_places(facts, role, rule, rights)
    for resource, right in rights.items():
        if right is None:
            yield from _check_unknown(facts, role, rule, resource)
        elif right.code != "missing-api-group":
            yield _finding(role, right.code, f"{right.why} The server accepts any name.", _fix(facts, role, rule))


def _check_places(
    facts: Facts, role: Role, rule: AccessRule, rights: dict[str, Correction | None]
) -> Iterator[Finding]:
    """Report resources that are not in the groups of the rule, one finding for each actual group."""
    misplaced: dict[str, list[str]] = {}
    for resource, right in rights.items():
        if right is not None and right.code == "missing-api-group":
            misplaced.setdefault(right.why, []).append(resource)
    is_certain = all(facts.served.has_group(each) or facts.served.knows_all_of(each) for each in rule.groups)
    severity: Severity = "error" if is_certain else "warning"
    for why, resources in misplaced.items():
        message = f"{join_words(resources)}: {why}. The server accepts any combination, but this one grants nothing."
        yield _finding(role, "missing-api-group", message, _fix(facts, role, rule), severity=severity)


def _check_unknown(facts: Facts, role: Role, rule: AccessRule, resource: str) -> Iterator[Finding]:
    """Report resources that do not exist and for which there is no correction."""
    plural, slash, part = resource.partition("/")
    found = [each for group in rule.groups if (each := facts.served.find(group, plural)) is not None]
    if found and slash:
        yield from _check_part(role, found, part)
    is_known = bool(found) or plural == "*" or "*" in rule.groups or bool(VIRTUAL & {(g, plural) for g in rule.groups})
    if not is_known and all(facts.served.knows_all_of(group) for group in rule.groups):
        groups = ", ".join(map(repr, rule.groups))
        why = f"There is no resource {resource!r} in the API group {groups} or any other. The server accepts any name."
        yield _finding(role, "unknown-resource", why, "")


def _check_part(role: Role, found: list[ServedResource], part: str) -> Iterator[Finding]:
    first, known = found[0], subresources_of(found)
    if part in known or part in ("*", "finalizers"):
        return
    if first.is_custom and part in ("status", "scale"):
        effect = "the status is written with the object" if part == "status" else "it cannot be scaled"
        why = f"The CustomResourceDefinition of {first} has no {part} sub-resource: {effect}."
        yield _finding(role, "unknown-subresource", why, "", severity="warning")
    else:
        why = f"{first.plural} have no sub-resource {part!r}; they have {', '.join(sorted(known)) or 'none'}."
        yield _finding(role, "unknown-subresource", why, "")


def _fix(facts: Facts, role: Role, rule: AccessRule) -> str:
    """Return the rule with all of its mistakes corrected: all findings about a rule have the same fix."""
    return replace_rule(role, rule, *corrected_rule(facts.served, rule))


def _finding(role: Role, code: str, message: str, fix: str, *, severity: Severity = "error") -> Finding:
    return Finding(severity=severity, code=code, object=role.named, message=message, fix=fix)


def check_verbs(facts: Facts, role: Role) -> Iterator[Finding]:
    """Report verbs that do not exist."""
    for rule in role.rules:
        for verb in unknown_verbs(rule):
            right = corrected_verbs(rule, verb)
            meant = f" Probably meant: {join_words(map(repr, right))}." if right else ""
            yield Finding(
                severity="error",
                code="unknown-verb",
                object=role.named,
                message=f"There is no verb {verb!r}, so it grants nothing; the server accepts any verb.{meant}",
                fix=replace_rule(role, rule, *corrected_rule(facts.served, rule)) if right else "",
            )


def check_names(role: Role) -> Iterator[Finding]:
    """Report rules with resourceNames and verbs whose requests have no name."""
    for rule in role.rules:
        objects = tuple(each for each in rule.resources if "/" not in each)
        nameless = [verb for verb in ("create", "deletecollection") if verb in rule.verbs]
        if not rule.names or not objects:
            continue
        if nameless:
            why = (
                f"{join_words(nameless)} of {join_words(objects)} is never allowed by a rule with resourceNames: the "
                "request has no name."
            )
            rest = replace(rule, verbs=tuple(verb for verb in rule.verbs if verb not in nameless))
            free = AccessRule(verbs=tuple(nameless), groups=rule.groups, resources=objects)
            fix = replace_rule(role, rule, *([rest] if rest.verbs else []), free)
            yield Finding(severity="error", code="names-never-match", object=role.named, message=why, fix=fix)
        elif listing := [verb for verb in ("list", "watch") if verb in rule.verbs]:
            field = f"--field-selector=metadata.name={rule.names[0]}"
            why = (
                f"{join_words(listing)} of {join_words(objects)} is allowed only with a field selector for that name: "
                f"{field}."
            )
            yield Finding(severity="hint", code="names-need-selector", object=role.named, message=why)


def check_pairs(facts: Facts, role: Role) -> Iterator[Finding]:
    """Report resources with list but not watch, or watch but not list."""
    for has, lacks in (("list", "watch"), ("watch", "list")):
        alone: dict[tuple[str, str], None] = {}
        for rule in role.rules:
            if has in rule.verbs and not rule.names:
                alone |= dict.fromkeys(
                    (group, resource)
                    for group in rule.groups
                    for resource in rule.resources
                    if "/" not in resource and _is_lacking(facts, role, group, resource, lacks)
                )
        if alone:
            yield _pair(role, has, lacks, list(alone))


def _is_lacking(facts: Facts, role: Role, group: str, resource: str, verb: str) -> bool:
    known = facts.served.find(group, resource)
    is_real = resource == "*" or known is not None or not facts.served.knows_all_of(group)
    wanted = AccessRule(verbs=(verb,), groups=(group,), resources=(resource,))
    return is_real and (known is None or known.is_watchable) and not any(rule.covers(wanted) for rule in role.rules)


def _pair(role: Role, has: str, lacks: str, alone: list[tuple[str, str]]) -> Finding:
    names = join_words(f"{resource}.{group}" if group else resource for group, resource in alone)
    groups = tuple(dict.fromkeys(group for group, _ in alone))
    added = [
        AccessRule(verbs=(lacks,), groups=(group,), resources=tuple(each for of, each in alone if of == group))
        for group in groups
    ]
    return Finding(
        severity="warning",
        code=f"{has}-without-{lacks}",
        object=role.named,
        message=f"It allows to {has} {names}, but not to {lacks}. The informers of a cache need both.",
        fix=add_rule(role.named, *added),
    )
