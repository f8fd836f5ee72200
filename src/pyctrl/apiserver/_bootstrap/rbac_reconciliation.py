"""Reconciliation of stored roles and bindings with the bootstrap policy, as in k8s.io/component-helpers."""

from __future__ import annotations

from typing import Any

from pyctrl.api import AccessRule, missing_rules

__all__ = ["AUTO_UPDATE", "is_protected", "is_recreated", "reconcile"]

AUTO_UPDATE = "rbac.authorization.kubernetes.io/autoupdate"


def is_protected(existing: dict[str, Any]) -> bool:
    """Return whether a user turned the updates of an object off."""
    return (existing["metadata"].get("annotations") or {}).get(AUTO_UPDATE) == "false"


def is_recreated(existing: dict[str, Any], expected: dict[str, Any]) -> bool:
    """Return whether a binding binds another role, which no update can change."""
    return bool(existing.get("roleRef") != expected.get("roleRef"))


def reconcile(existing: dict[str, Any], expected: dict[str, Any]) -> bool:
    """Add what a stored role or binding lacks; return whether that changed it. What it has in addition stays."""
    changed = False
    for part in ("annotations", "labels"):
        held = existing["metadata"].get(part) or {}
        merged = {**expected["metadata"].get(part, {}), **held}
        if merged != held:
            existing["metadata"][part] = merged
            changed = True
    if "subjects" in expected:
        return _add(existing, "subjects", expected["subjects"]) or changed
    return _reconcile_rules(existing, expected) or changed


def _reconcile_rules(existing: dict[str, Any], expected: dict[str, Any]) -> bool:
    changed = False
    held, wanted = existing.get("rules") or [], expected.get("rules") or []
    if held != wanted and (missing := missing_rules(map(AccessRule.read, held), map(AccessRule.read, wanted))):
        existing["rules"] = [*held, *(rule.to_wire() for rule in missing)]
        changed = True
    if "aggregationRule" in expected:
        rule = existing.setdefault("aggregationRule", {})
        changed |= _add(rule, "clusterRoleSelectors", expected["aggregationRule"]["clusterRoleSelectors"])
    elif existing.pop("aggregationRule", None) is not None:
        changed = True  # no default role without aggregation has any
    return changed


def _add(obj: dict[str, Any], field: str, expected: list[dict[str, Any]]) -> bool:
    """Append the items that a list lacks."""
    held = obj.get(field) or []
    lacking = [each for each in expected if each not in held]
    if lacking:
        obj[field] = [*held, *lacking]
    return bool(lacking)
