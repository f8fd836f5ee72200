"""Aggregated ClusterRoles: their rules are the union of the rules of the selected ClusterRoles.

The rules are those of kube-controller-manager's clusterrole-aggregation-controller. A controller applies them, not the
API server, so a server without controllers leaves `admin`, `edit` and `view` empty, as a real one does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from pyctrl.api import LabelSelector
from pyctrl.controller import Builder, Controller, ManagedCluster, Reconciler, Request, Result, mapped
from pyctrl.kinds.rbac.v1 import ClusterRole

__all__ = ["add_clusterrole_aggregation"]

NAME = "clusterrole-aggregation-controller"
AGGREGATED = "aggregated"
EVERY_ROLE = Request("", "every-role")  # all roles are reconciled together: each may aggregate each


Rules: TypeAlias = list[dict[str, Any]]


def add_clusterrole_aggregation(host: ManagedCluster) -> Controller:
    """Run the aggregation of ClusterRoles in a manager."""
    host.cache.add_index(ClusterRole, AGGREGATED, lambda role: [AGGREGATED] if role.aggregation_rule else [])
    return (
        Builder(host)
        .watches(ClusterRole, mapped(_every_role))
        .options(name=NAME)
        .build(ClusterRoleAggregationReconciler())
    )


def _every_role(_: ClusterRole) -> list[Request]:
    return [EVERY_ROLE]


class ClusterRoleAggregationReconciler(Reconciler[ClusterRole]):
    """Applies their rules to the aggregated roles; an index avoids decoding all roles."""

    async def reconcile(self, request: Request) -> Result | None:
        roles = await self.client.list(ClusterRole, index=(AGGREGATED, AGGREGATED))
        parts = {role.metadata.name: await self._parts(role) for role in sorted(roles, key=_name)}
        aggregated = _aggregated_rules(parts)
        for role in roles:
            rules = aggregated[role.metadata.name]
            if rules != _wire(role):
                await self._apply(role.metadata.name, rules)
        return None

    async def _parts(self, role: ClusterRole) -> list[ClusterRole]:
        """Return the roles that a role's selectors match, selector by selector."""
        found: list[ClusterRole] = []
        for selector in role.aggregation_rule.cluster_role_selectors if role.aggregation_rule else ():
            chosen = await self.client.list(ClusterRole, labels=LabelSelector.from_wire(selector))
            found += sorted((other for other in chosen if _name(other) != _name(role)), key=_name)
        return found

    async def _apply(self, name: str, rules: Rules) -> None:
        """Apply the rules. For no rules, the field is left out so that server-side apply removes it."""
        role: dict[str, Any] = {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": {"name": name},
        }
        if rules:
            role["rules"] = rules
        await self.client.apply(role, field_owner=NAME, force=True)


def _aggregated_rules(parts: Mapping[str, Sequence[ClusterRole]]) -> dict[str, Rules]:
    """Return the rules of every aggregated role, through several levels: `admin` aggregates `edit`."""
    rules = {_name(part): _wire(part) for each in parts.values() for part in each}
    for _ in parts:  # no chain of aggregation is longer than the number of roles
        for name, each in parts.items():
            collected: Rules = []
            for part in each:
                collected += [rule for rule in rules[_name(part)] if rule not in collected]
            rules[name] = collected
    return rules


def _name(role: ClusterRole) -> str:
    return role.metadata.name


def _wire(role: ClusterRole) -> Rules:
    return [rule.to_wire() for rule in role.rules]
