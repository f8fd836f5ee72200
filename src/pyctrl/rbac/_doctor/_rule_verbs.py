"""The verbs of rules: whether there are such, and those that an informer needs together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pyctrl.api import AccessRule
from pyctrl.rbac._doctor._cures import rule_added, rule_instead
from pyctrl.rbac._doctor._facts import Facts, Role
from pyctrl.rbac._doctor._finding import Finding, listed
from pyctrl.rbac._doctor._spelling import mended, right_verbs, wrong_verbs

__all__ = ["check_names", "check_pairs", "check_verbs"]


def check_verbs(facts: Facts, role: Role) -> Iterator[Finding]:
    """Find verbs that nobody asks about."""
    for rule in role.rules:
        for verb in wrong_verbs(rule):
            right = right_verbs(rule, verb)
            meant = f" Probably meant: {listed(map(repr, right))}." if right else ""
            yield Finding(
                severity="error",
                code="unknown-verb",
                object=role.named,
                message=f"There is no verb {verb!r}, so it grants nothing; the server takes any.{meant}",
                cure=rule_instead(role, rule, *mended(facts.served, rule)) if right else "",
            )


def check_names(role: Role) -> Iterator[Finding]:
    """Find rules for single objects with verbs that know no names."""
    for rule in role.rules:
        objects = tuple(each for each in rule.resources if "/" not in each)
        nameless = [verb for verb in ("create", "deletecollection") if verb in rule.verbs]
        if not rule.names or not objects:
            continue
        if nameless:
            why = (
                f"{listed(nameless)} of {listed(objects)} is never allowed for single names: there is none to compare."
            )
            rest = replace(rule, verbs=tuple(verb for verb in rule.verbs if verb not in nameless))
            free = AccessRule(verbs=tuple(nameless), groups=rule.groups, resources=objects)
            cure = rule_instead(role, rule, *([rest] if rest.verbs else []), free)
            yield Finding(severity="error", code="names-never-match", object=role.named, message=why, cure=cure)
        elif listing := [verb for verb in ("list", "watch") if verb in rule.verbs]:
            field = f"--field-selector=metadata.name={rule.names[0]}"
            why = f"{listed(listing)} of {listed(objects)} is allowed by name only to who asks for that name: {field}."
            yield Finding(severity="hint", code="names-need-selector", object=role.named, message=why)


def check_pairs(facts: Facts, role: Role) -> Iterator[Finding]:
    """Find what may be listed and not watched, or the other way round."""
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
    names = listed(f"{resource}.{group}" if group else resource for group, resource in alone)
    groups = tuple(dict.fromkeys(group for group, _ in alone))
    added = [
        AccessRule(verbs=(lacks,), groups=(group,), resources=tuple(each for of, each in alone if of == group))
        for group in groups
    ]
    return Finding(
        severity="warning",
        code=f"{has}-without-{lacks}",
        object=role.named,
        message=f"It allows to {has} {names}, and not to {lacks}. An informer, which caches read with, does both.",
        cure=rule_added(role.named, *added),
    )
