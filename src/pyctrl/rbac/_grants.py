"""The permissions of a program, resolved to the rules that it needs in each namespace."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from pyctrl.api import Access, AccessRule, missing_rules
from pyctrl.errors import RbacError
from pyctrl.rbac._normalization import normalise
from pyctrl.rbac._permission import Permission, PermissionScope

__all__ = ["CLUSTER", "Grants", "grants"]

CLUSTER = ""  # the "namespace" of cluster-wide rules


@dataclass(frozen=True, slots=True)
class Grants:
    """Normalised rules by namespace; ``""`` has the cluster-wide rules, which hold in every namespace.

    Attributes:
        rules: all rules.
        optional: the rules that no essential permission needs. Empty for rules read from roles, because a role does not
            say which of its rules are essential.
    """

    rules: Mapping[str, tuple[AccessRule, ...]]
    optional: Mapping[str, tuple[AccessRule, ...]] = field(default_factory=dict)

    def accesses(self) -> list[Access]:
        """Return every granted access, each one verb on one resource, sorted."""
        found = [
            access for namespace, rules in self.rules.items() for rule in rules for access in rule.accesses(namespace)
        ]
        return sorted(found)

    def allow(self, access: Access) -> bool:
        """Return whether these rules allow an access."""
        places = {CLUSTER, access.namespace}
        return any(rule.allows(access) for place in places for rule in self.rules.get(place, ()))

    def without(self, *withheld: Access) -> Grants:
        """Return these grants without some of `accesses`, to test a program that lacks them.

        Raises:
            RbacError: one of the accesses is not granted.
        """
        known = set(self.accesses())
        if unknown := sorted(set(withheld) - known):
            raise RbacError(f"cannot remove {unknown[0]}: it is not granted")
        return Grants(_without(self.rules, withheld), _without(self.optional, withheld))


def grants(permissions: Iterable[Permission], *, namespaces: Collection[str] | None, own_namespace: str) -> Grants:
    """Resolve permissions to namespaces.

    Args:
        permissions: in any order, duplicates allowed.
        namespaces: the namespaces that the manager watches; None is all namespaces.
        own_namespace: the namespace that the operator runs in and that holds its Lease.
    """
    needed = list(permissions)
    all_rules = _by_namespace(needed, namespaces, own_namespace)
    essential = _by_namespace((each for each in needed if each.is_essential), namespaces, own_namespace)
    everywhere = normalise(all_rules.pop(CLUSTER, ()))
    resolved = {CLUSTER: everywhere} if everywhere else {}
    for namespace, rules in sorted(all_rules.items()):
        if more := normalise(missing_rules(everywhere, rules)):
            resolved[namespace] = more
    optional = {
        namespace: tuple(rest)
        for namespace, rules in resolved.items()
        if (rest := missing_rules([*essential.get(CLUSTER, ()), *essential.get(namespace, ())], rules))
    }
    return Grants(resolved, optional)


def _by_namespace(
    permissions: Iterable[Permission], namespaces: Collection[str] | None, own_namespace: str
) -> dict[str, list[AccessRule]]:
    found: dict[str, list[AccessRule]] = {}
    for permission in permissions:
        for namespace in _places(permission.where, namespaces, own_namespace):
            found.setdefault(namespace, []).append(permission.rule)
    return found


def _without(
    rules: Mapping[str, tuple[AccessRule, ...]], withheld: Collection[Access]
) -> dict[str, tuple[AccessRule, ...]]:
    kept: dict[str, list[AccessRule]] = {}
    for namespace, held in rules.items():
        for atom in (atom for rule in held for atom in rule.atoms()):
            if next(atom.accesses(namespace)) not in withheld:
                kept.setdefault(namespace, []).append(atom)
    return {namespace: normalise(atoms) for namespace, atoms in kept.items()}


def _places(
    where: PermissionScope | frozenset[str], namespaces: Collection[str] | None, own_namespace: str
) -> Collection[str]:
    match where:
        case PermissionScope.CLUSTER:
            return (CLUSTER,)
        case PermissionScope.OWN:
            return (own_namespace,)
        case PermissionScope.WATCHED:
            return (CLUSTER,) if namespaces is None else namespaces
        case _:
            return where
