"""Rules as controller-gen writes them: merged as far as they go, sorted, each thing said once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import replace

from pyctrl.api import AccessRule

__all__ = ["normalise"]

_ALL = "*"


def normalise(rules: Iterable[AccessRule]) -> tuple[AccessRule, ...]:
    """Return rules that allow the same, in the one form that controller-gen gives them.

    Taken apart by resource, merged by verbs, then by resources, groups and paths as far as the rest is the same;
    ``*`` among verbs, groups, resources or paths makes the others superfluous; all of it sorted. The order of steps is
    that of sigs.k8s.io/controller-tools/pkg/rbac; dropping what another rule of the result says already is ours.
    """
    merged = [_tidy(part) for rule in rules for part in _simple_rules(rule)]
    for key, fields in _STEPS:
        merged = _merge(merged, key, fields)
    return tuple(sorted(_without_echoes(merged), key=_order))


def _simple_rules(rule: AccessRule) -> Iterable[AccessRule]:
    """Take a rule apart by resource; its paths are a rule of their own."""
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
    """Join the rules that differ in one field only."""
    found: dict[Hashable, AccessRule] = {}
    for rule in rules:
        known = found.setdefault(key(rule), rule)
        joined = (*getattr(known, field), *getattr(rule, field))
        found[key(rule)] = _tidy(replace(known, **{field: joined}))
    return list(found.values())


def _tidy(rule: AccessRule) -> AccessRule:
    """Sort what a rule lists, each thing once."""
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
    """Leave out the rules of which another one allows everything."""
    kept: list[AccessRule] = []
    for rule in sorted(rules, key=lambda rule: (bool(rule.names), _order(rule))):
        if not all(any(other.covers(atom) for other in kept) for atom in rule.atoms()):
            kept.append(rule)
    return kept


def _order(rule: AccessRule) -> tuple[tuple[str, ...], ...]:
    return (rule.groups, rule.resources, rule.names, rule.paths, rule.verbs)
