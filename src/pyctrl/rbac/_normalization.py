"""Normalisation of rules as controller-gen does it: merged, sorted, without duplicates."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import replace

from pyctrl.api import AccessRule

__all__ = ["normalise"]

_ALL = "*"


def normalise(rules: Iterable[AccessRule]) -> tuple[AccessRule, ...]:
    """Return equivalent rules in controller-gen's canonical form.

    Rules are split by resource, then merged by verbs, resources, groups and paths where the other fields are equal.
    ``*`` replaces the other verbs or groups. Everything is sorted. The order of steps is that of
    sigs.k8s.io/controller-tools/pkg/rbac. In addition, pyctrl drops a rule that another rule of the result covers, and
    merges the names of rules that differ in nothing else.
    """
    merged = [_tidy(part) for rule in rules for part in _simple_rules(rule)]
    for key, fields in _STEPS:
        merged = _merge(merged, key, fields)
    kept = _without_echoes(merged)
    named = _merge(
        [rule for rule in kept if rule.names], lambda rule: (rule.groups, rule.resources, rule.verbs), "names"
    )
    return tuple(sorted([*(rule for rule in kept if not rule.names), *named], key=_order))


def _simple_rules(rule: AccessRule) -> Iterable[AccessRule]:
    """Split a rule by resource; its paths become a separate rule."""
    for resource in rule.resources:
        yield replace(rule, resources=(resource,), paths=())
    if rule.paths:
        yield AccessRule(verbs=rule.verbs, paths=rule.paths)


_STEPS: tuple[tuple[Callable[[AccessRule], Hashable], str], ...] = (
    (lambda rule: (rule.groups, rule.resources, rule.names, rule.paths), "verbs"),
    (lambda rule: (rule.groups, rule.names, rule.paths, rule.verbs, not rule.resources), "resources"),
    (lambda rule: (rule.resources, rule.names, rule.paths, rule.verbs, not rule.resources), "groups"),
    (lambda rule: (rule.groups, rule.resources, rule.names, rule.verbs), "paths"),
)


def _merge(rules: list[AccessRule], key: Callable[[AccessRule], Hashable], field: str) -> list[AccessRule]:
    """Merge the rules that differ in one field only."""
    found: dict[Hashable, AccessRule] = {}
    for rule in rules:
        known = found.setdefault(key(rule), rule)
        joined = (*getattr(known, field), *getattr(rule, field))
        found[key(rule)] = _tidy(replace(known, **{field: joined}))
    return list(found.values())


def _tidy(rule: AccessRule) -> AccessRule:
    """Sort and deduplicate the lists of a rule."""
    return AccessRule(
        verbs=_listed(rule.verbs, collapses=True),
        groups=_listed(("" if group == "core" else group for group in rule.groups), collapses=True),
        resources=_listed(rule.resources),
        names=_listed(rule.names),
        paths=_listed(rule.paths),
    )


def _listed(values: Iterable[str], *, collapses: bool = False) -> tuple[str, ...]:
    unique = set(values)
    return (_ALL,) if collapses and _ALL in unique else tuple(sorted(unique))


def _without_echoes(rules: list[AccessRule]) -> list[AccessRule]:
    """Drop the rules that another rule covers."""
    kept: list[AccessRule] = []
    for rule in sorted(rules, key=lambda rule: (bool(rule.names), _order(rule))):
        if not all(any(other.covers(atom) for other in kept) for atom in rule.atoms()):
            kept.append(rule)
    return kept


def _order(rule: AccessRule) -> tuple[tuple[str, ...], ...]:
    return (rule.groups, rule.resources, rule.names, rule.paths, rule.verbs)
