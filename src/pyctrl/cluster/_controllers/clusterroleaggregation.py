"""Aggregated ClusterRoles: their rules are those of the roles that their selectors find.

The rules are those of kube-controller-manager's clusterrole-aggregation-controller. They are applied here and not by
the API server, so that a server without controllers leaves `admin`, `edit` and `view` empty, as a real one does.
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
EVERY_ROLE = Request("", "every-role")  # each may be a part of each: they are few, and looked at together


Rules: TypeAlias = list[dict[str, Any]]


def add_clusterrole_aggregation(host: ManagedCluster) -> Controller:
    """Run the aggregation in a manager."""
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
    """Applies to aggregated roles the rules that they should have; of seventy roles it decodes the ten it needs."""

    async def reconcile(self, request: Request) -> Result | None:
        roles = await self.client.list(ClusterRole, index=(AGGREGATED, AGGREGATED))
        parts = {role.metadata.name: await self._parts(role) for role in sorted(roles, key=_name)}
        settled = _aggregated_rules(parts)
        for role in roles:
            rules = settled[role.metadata.name]
            if rules != _wire(role):
                await self._apply(role.metadata.name, rules)
        return None

    async def _parts(self, role: ClusterRole) -> list[ClusterRole]:
        """Find the parts of a role, selector by selector."""
        found: list[ClusterRole] = []
        for selector in role.aggregation_rule.cluster_role_selectors if role.aggregation_rule else ():
            chosen = await self.client.list(ClusterRole, labels=LabelSelector.from_wire(selector))
            found += sorted((other for other in chosen if _name(other) != _name(role)), key=_name)
        return found

    async def _apply(self, name: str, rules: Rules) -> None:
        """Apply the rules; to have none, they are not applied any more."""
        role: dict[str, Any] = {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": {"name": name},
        }
        if rules:
            role["rules"] = rules
        await self.client.apply(role, field_owner=NAME, force=True)


def _aggregated_rules(parts: Mapping[str, Sequence[ClusterRole]]) -> dict[str, Rules]:
    """Give every aggregated role the rules that it has in the end: parts of `admin` are parts of `edit` first."""
    rules = {_name(part): _wire(part) for each in parts.values() for part in each}
    for _ in parts:  # no part is further away than through all of them
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
