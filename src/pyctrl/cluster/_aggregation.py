"""Aggregated ClusterRoles: their rules are those of the roles that their selectors find.

The rules are those of kube-controller-manager's clusterrole-aggregation-controller. They are applied here and not by
the API server, so that a server without controllers leaves `admin`, `edit` and `view` empty, as a real one does.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from pyctrl.api import LabelSelector
from pyctrl.controller import Builder, Controller, Host, Reconciler, Request, Result, mapped
from pyctrl.kinds.rbac.v1 import ClusterRole

__all__ = ["add_clusterrole_aggregation"]

NAME = "clusterrole-aggregation-controller"
EVERY_ROLE = Request("", "every-role")  # each may be a part of each: they are few, and looked at together


Rules: TypeAlias = list[dict[str, Any]]


def add_clusterrole_aggregation(host: Host) -> Controller:
    """Run the aggregation in a manager."""
    return Builder(host).watches(ClusterRole, mapped(_every_role)).options(name=NAME).build(ClusterRoleAggregation())


def _every_role(_: ClusterRole) -> list[Request]:
    return [EVERY_ROLE]


class ClusterRoleAggregation(Reconciler[ClusterRole]):
    """Applies to aggregated roles the rules that they should have."""

    async def reconcile(self, request: Request) -> Result | None:
        roles = sorted(await self.client.list(ClusterRole), key=lambda role: role.metadata.name)
        settled = _settled(roles)
        for role in roles:
            rules = settled[role.metadata.name]
            if rules != _wire(role):
                await self._apply(role.metadata.name, rules)
        return None

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


def _settled(roles: list[ClusterRole]) -> dict[str, Rules]:
    """Give every role the rules that it has in the end: parts of `admin` are parts of `edit` first."""
    rules = {role.metadata.name: _wire(role) for role in roles}
    aggregated = [role for role in roles if role.aggregation_rule is not None]
    for _ in aggregated:  # no part is further away than through all of them
        for role in aggregated:
            rules[role.metadata.name] = _aggregated(role, roles, rules)
    return rules


def _aggregated(role: ClusterRole, roles: list[ClusterRole], known: dict[str, Rules]) -> Rules:
    """Collect the rules of a role, selector by selector, each rule once."""
    rules: Rules = []
    selectors = role.aggregation_rule.cluster_role_selectors if role.aggregation_rule else ()
    for selector in map(LabelSelector.from_wire, selectors):
        for other in roles:
            if other.metadata.name != role.metadata.name and selector.matches(other.metadata.labels):
                rules += [rule for rule in known[other.metadata.name] if rule not in rules]
    return rules


def _wire(role: ClusterRole) -> Rules:
    return [rule.to_wire() for rule in role.rules]
