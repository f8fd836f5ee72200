"""Comparison of granted permissions with recorded requests."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pyctrl.api import AccessRule
from pyctrl.cli._output import access_to_wire, print_json
from pyctrl.cli._packaging_flags import packaged_program
from pyctrl.cli._rbac.generate import read_recordings
from pyctrl.errors import CommandFailed
from pyctrl.program import offline_manager, read_manifests
from pyctrl.rbac import Grants, PermissionComparison
from pyctrl.rbac import compare as compare_with

__all__ = ["compare"]


def compare(
    named: Sequence[str], *, roles: Collection[Path], namespaces: Collection[str], strict: bool, output: str = "text"
) -> int:
    """Print the differences; return the exit code. Without roles, the first name is the target."""
    target, files = _parted(named, has_roles=bool(roles))
    if not files:
        raise CommandFailed("name what to compare: PROGRAM RECORDING..., files that pytest --rbac-record wrote")
    asked = read_recordings(map(Path, files))
    granted = _read_roles(roles) if roles else asyncio.run(_derived(*packaged_program(target, tuple(namespaces))))
    found = compare_with(granted, asked)
    if output == "json":
        print_json(_to_wire(found))
    else:
        print("\n".join(found.lines()) or "nothing is missing, and nothing is unused")
    return 1 if found.missing or (strict and found.lines()) else 0


def _parted(named: Sequence[str], *, has_roles: bool) -> tuple[str | None, Sequence[str]]:
    """Split the arguments into the program, by default that of pyproject.toml, and recordings."""
    is_named = bool(named) and not has_roles and not named[0].endswith(".json")
    return (named[0], named[1:]) if is_named else (None, named)


def _to_wire(found: PermissionComparison) -> dict[str, object]:
    return {
        "missing": [
            {**access_to_wire(each.access), "names": sorted(filter(None, each.names)), "firstBy": each.first_by}
            for each in found.missing
        ],
        "unused": [access_to_wire(each) for each in found.unused],
        "wildcards": [
            {**access_to_wire(each.access), "used": [access_to_wire(used) for used in each.used]}
            for each in found.wildcards
        ],
    }


async def _derived(target: str, namespaces: Collection[str]) -> Grants:
    async with offline_manager(target, namespaces=namespaces) as manager:
        return manager.grants()


def _read_roles(files: Iterable[Path]) -> Grants:
    """Return what the roles in files grant where they are bound. A ClusterRole without a binding counts as bound."""
    objects = [manifest.obj for file in files for manifest in read_manifests(file)]
    rules: dict[str, tuple[AccessRule, ...]] = {}
    for role in objects:
        if role["kind"] in ("Role", "ClusterRole"):
            for namespace in _places(role, objects):
                own = tuple(map(AccessRule.read, role.get("rules") or ()))
                rules[namespace] = (*rules.get(namespace, ()), *own)
    if not rules:
        raise CommandFailed("no Role or ClusterRole in the files of --role")
    return Grants(rules)


def _places(role: Mapping[str, Any], objects: Iterable[Mapping[str, Any]]) -> Collection[str]:
    if role["kind"] == "Role":
        return [role["metadata"].get("namespace") or "default"]
    name = role["metadata"]["name"]
    bound = {
        (each["metadata"].get("namespace") or "default") if each["kind"] == "RoleBinding" else ""
        for each in objects
        if each["kind"] in ("RoleBinding", "ClusterRoleBinding")
        and (each.get("roleRef") or {}).get("kind") == "ClusterRole"
        and each["roleRef"].get("name") == name
    }
    return bound or {""}
