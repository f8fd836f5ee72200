"""Type checks of the expressions of ValidatingAdmissionPolicies against the schemas of the kinds that they match.

The rules are those of the TypeChecker of k8s.io/apiserver (pkg/admission/plugin/policy/validating/typechecking.go).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pyctrl import _clock
from pyctrl.api import GroupVersionKind
from pyctrl.cel import DYN, CompileFailed, Environment, Type, schema_decl_type, type_checking_variables
from pyctrl.client import Client, ResourceMapping
from pyctrl.cluster._controllers.validatingadmissionpolicystatus.schema_resolver import resolve_schema

__all__ = ["check_types"]

_MAX_TYPES = 10  # of one policy


class _CheckedKind(NamedTuple):
    """A kind that a policy matches, and the environment in which `object` has its type."""

    gvk: GroupVersionKind
    environment: Environment


async def check_types(live: Client, policy: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the warnings about the expressions of a policy's validations, in order."""
    kinds = await _checked_kinds(live, policy["spec"])
    warnings = []
    for index, validation in enumerate(policy["spec"].get("validations") or ()):
        for name in ("expression", "messageExpression"):
            text = validation.get(name) or ""
            if text and (warning := "\n".join(_problems(kinds, text))):
                warnings.append({"fieldRef": f"spec.validations[{index}].{name}", "warning": warning})
    return warnings


def _problems(kinds: Sequence[_CheckedKind], text: str) -> Iterator[str]:
    for kind in kinds:
        try:
            kind.environment.check(text)
        except CompileFailed as failed:
            issues = str(failed).removeprefix("compilation failed: ")
            yield f"{kind.gvk.group}/{kind.gvk.version}, Kind={kind.gvk.kind}: {issues}\n"


async def _checked_kinds(live: Client, spec: Mapping[str, Any]) -> list[_CheckedKind]:
    """Return the kinds whose schemas are known, each with its environment."""
    param_kind = spec.get("paramKind")
    params: Type | None = None
    if param_kind is not None:
        group, _, version = (param_kind.get("apiVersion") or "").rpartition("/")
        params = await _type_of(live, GroupVersionKind(group, version, param_kind.get("kind") or "")) or DYN
    found = []
    for gvk in await _types_to_check(live, spec):
        kind = await _type_of(live, gvk)
        if kind is not None:
            found.append(_CheckedKind(gvk, _environment(kind, params, spec.get("variables") or ())))
    return found


def _environment(kind: Type, params: Type | None, variables: Sequence[Mapping[str, Any]]) -> Environment:
    """Return the environment with the variables of a policy; one that does not compile has any type."""
    types: dict[str, Type] = {}
    for variable in variables:
        try:
            found = Environment(type_checking_variables(kind, params, types)).check(variable["expression"])
        except CompileFailed:
            found = DYN
        types[variable["name"]] = found
    return Environment(type_checking_variables(kind, params, types))


async def _type_of(live: Client, gvk: GroupVersionKind) -> Type | None:
    """Return the type of the objects of a kind; None without a schema. Its name is unique, as upstream."""
    schema = await resolve_schema(live, gvk)
    if schema is None:
        return None
    name = f"{gvk.kind}{_clock.now().microsecond * 1000}"
    declared = schema_decl_type(schema, name, is_resource=True)
    return DYN if declared is None else declared.type


async def _types_to_check(live: Client, spec: Mapping[str, Any]) -> list[GroupVersionKind]:
    """Return the kinds of the rules of a policy without wildcards, sorted, about ten at most."""
    finder = _KindFinder(live)
    found: set[GroupVersionKind] = set()
    for rule in (spec.get("matchConstraints") or {}).get("resourceRules") or ():
        count = 0
        for group, version, resource in _resources_of(rule):
            for gvk in await finder.kinds_for(group, version, resource):
                found.add(gvk)
                count += 1
                if count == _MAX_TYPES:
                    return sorted(found)
    return sorted(found)


def _resources_of(rule: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield group, version and resource of a rule. Wildcards are not expanded, and subresources have other kinds."""
    groups, versions = sorted(rule.get("apiGroups") or ()), sorted(rule.get("apiVersions") or ())
    if any("*" in each for each in (*groups, *versions)):
        return
    resources = sorted(each for each in rule.get("resources") or () if "*" not in each and "/" not in each)
    for group in groups:
        for version in versions:
            for resource in resources:
                yield group, version, resource


class _KindFinder:
    """Finds the kinds of resources for one policy. Discovery is refreshed at most once for it."""

    def __init__(self, live: Client) -> None:
        self._live, self._is_refreshed = live, False

    async def kinds_for(self, group: str, version: str, resource: str) -> list[GroupVersionKind]:
        """Return the kinds of a resource. As client-go's mapper, the empty group means any group."""
        found = _matching(await self._live.discovery.mappings(), group, version, resource)
        if not found and not self._is_refreshed:
            self._is_refreshed = True
            found = _matching(await self._live.discovery.mappings(refresh=True), group, version, resource)
        return found


def _matching(mappings: Sequence[ResourceMapping], group: str, version: str, resource: str) -> list[GroupVersionKind]:
    wanted = resource.lower()
    return [
        each.gvk
        for each in mappings
        if each.gvk.version == version and wanted in (each.plural, each.singular) and group in ("", each.gvk.group)
    ]
