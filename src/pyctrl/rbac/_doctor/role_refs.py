"""Checks for role references: whether the role exists, and which of its rules apply in the binding's namespace."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import replace

from pyctrl.api import AccessRule, Key
from pyctrl.rbac._doctor.facts import Binding, Facts, Role
from pyctrl.rbac._doctor.findings import Finding, ObjectRef, join_words
from pyctrl.rbac._doctor.fixes import as_cluster_role_binding, namespace_flag, recreate_binding, rename_role
from pyctrl.rbac._doctor.similar_names import SimilarName, similar_name, unusual_characters

__all__ = ["check_role_name", "check_role_ref", "check_scope", "has_no_effect_in_namespace", "meant_roles"]

_ACCEPTED = "The server accepts bindings to roles that do not exist; they grant nothing."


def check_role_ref(facts: Facts, binding: Binding) -> Iterator[Finding]:
    """Report a binding to a role that does not exist."""
    kind, name = binding.role_kind, binding.role_name
    if kind == "Role" and not binding.namespace:
        role = next((key.name for kind, key in facts.roles if kind == "ClusterRole" and key.name == name), "")
        yield _not_found(
            binding,
            "The server rejects a ClusterRoleBinding to a Role. A Role needs a RoleBinding in its namespace.",
            recreate_binding(replace(binding, role_kind="ClusterRole"), is_other_role=True) if role else "",
        )
    elif binding.role_key not in facts.roles:
        yield _missing_role(facts, binding)


def _missing_role(facts: Facts, binding: Binding) -> Finding:
    """Return the finding about a missing role, with the role that was probably meant."""
    kind, key = binding.role_key
    missing = f"There is no {kind} {key}"
    for found_kind, found in facts.roles:
        if found.name != binding.role_name:
            continue
        if found_kind == "ClusterRole":  # a binding may name that instead
            why = f"{missing}, but there is a ClusterRole of this name. {_ACCEPTED}"
            return _not_found(
                binding, why, recreate_binding(replace(binding, role_kind="ClusterRole"), is_other_role=True)
            )
        if kind == "Role":
            why = (
                f"{missing}, but there is one in namespace {found.namespace}. A RoleBinding can only reference a Role "
                f"in its own namespace. {_ACCEPTED}"
            )
            return _not_found(binding, why, "")
        if binding.namespace == found.namespace:
            why = f"{missing}, but there is a Role of this name in namespace {found.namespace}. {_ACCEPTED}"
            return _not_found(binding, why, recreate_binding(replace(binding, role_kind="Role"), is_other_role=True))
    similar = _similar_role(facts, binding)
    if similar is not None:
        why = f"{missing}. {similar.name!r} was probably meant: {similar.difference}. {_ACCEPTED}"
        return _not_found(binding, why, _fixed(facts, binding, similar.name))
    if facts.knows_all(kind, binding.namespace):
        made = f"kubectl create {kind.lower()} {shlex.quote(key.name)}{namespace_flag(key.namespace)}"
        return _not_found(binding, f"{missing}. {_ACCEPTED}", f"{made} --verb=get,list,watch --resource=RESOURCE")
    finding = _not_found(binding, f"There is no {kind} {key} among the objects that were read. {_ACCEPTED}", "")
    return replace(finding, severity="warning")


def _similar_role(facts: Facts, binding: Binding) -> SimilarName | None:
    namespace = binding.role_key[1].namespace
    names = {key.name for kind, key in facts.roles if kind == binding.role_kind and key.namespace == namespace}
    return similar_name(binding.role_name, names)


def _fixed(facts: Facts, binding: Binding, name: str) -> str:
    """Rename the role if only its name has unusual characters; otherwise correct the binding."""
    role = facts.roles[binding.role_kind, Key(binding.role_key[1].namespace, name)]
    if unusual_characters(name) and not unusual_characters(binding.role_name):
        return rename_role(role, binding.role_name)
    return recreate_binding(replace(binding, role_name=name), is_other_role=True)


def _not_found(binding: Binding, message: str, fix: str) -> Finding:
    return Finding(severity="error", code="role-not-found", object=binding.named, message=message, fix=fix)


def check_role_name(facts: Facts, role: Role) -> Iterator[Finding]:
    """Report a role with unusual characters in its name, unless the finding of a binding covers it."""
    strange = unusual_characters(role.named.name)
    if strange and not any(role.named in meant_roles(facts, each) for each in facts.bindings):
        message = f"Its name contains {', '.join(strange)}. The server accepts it, and bindings have to use it, too."
        clean = "".join(each for each in role.named.name if "!" <= each <= "~")
        fix = rename_role(role, clean) if clean else ""
        yield Finding(severity="warning", code="strange-name", object=role.named, message=message, fix=fix)


# --- a cluster role in one namespace ---


def check_scope(facts: Facts, binding: Binding) -> Iterator[Finding]:
    """Report a RoleBinding to a ClusterRole whose rules need a ClusterRoleBinding."""
    role = facts.roles.get(binding.role_key)
    if not binding.namespace or role is None:
        return
    rules = facts.rules_of(binding.role_key) or ()
    idle = [rule for rule in rules if role.is_own and has_no_effect_in_namespace(facts, rule)]
    if role.named.kind == "Role":
        return  # check_idle_rules reports the role
    watched = any(verb in rule.verbs for rule in rules for verb in ("list", "watch", "*"))
    if not role.is_own or not (idle or watched) or _is_bound_everywhere(facts, binding):
        return
    namespace, others = binding.namespace, _other_namespaces(facts, binding)
    parts = [f"A RoleBinding grants permissions in its own namespace only, {namespace}, even with a ClusterRole."]
    if idle:
        parts.append(f"It does not grant {join_words(_shown(rule) for rule in idle)}, which are not namespaced.")
    if watched:
        parts.append("Cluster-wide list and watch, which a manager does by default, need a ClusterRoleBinding.")
    yield Finding(
        severity="error" if idle else "hint" if others else "warning",
        code="role-binding-of-cluster-role",
        object=binding.named,
        message=" ".join(parts),
        fix=as_cluster_role_binding(binding),
    )


def has_no_effect_in_namespace(facts: Facts, rule: AccessRule) -> bool:
    """Return whether a rule grants nothing in a namespace, because all of its resources are cluster-scoped."""
    if rule.paths:
        return True
    found = [each for group in rule.groups for resource in rule.resources for each in _reached(facts, group, resource)]
    return bool(found) and None not in found and not any(each for each in found if each)


def _reached(facts: Facts, group: str, resource: str) -> list[bool | None]:
    """Return whether each resource that a name stands for is namespaced; None if unknown."""
    plural = resource.partition("/")[0]
    if group == "*":
        return [None]
    if plural == "*":
        return [each.namespaced for each in facts.served.of_group(group)] or [None]
    known = facts.served.find(group, plural)
    if known is None:
        return [None] if not facts.served.knows_all_of(group) else []
    return [known.namespaced or (group, plural) == ("", "namespaces")]  # a Namespace counts as in itself


def _shown(rule: AccessRule) -> str:
    return ", ".join(rule.paths or rule.qualified_resources)


def _is_bound_everywhere(facts: Facts, binding: Binding) -> bool:
    return any(
        not each.namespace and set(binding.subjects) <= set(each.subjects)
        for each in facts.bindings_of(binding.role_key)
    )


def _other_namespaces(facts: Facts, binding: Binding) -> set[str]:
    """Return the other namespaces with a binding of the same role and subject: several are deliberate."""
    same = facts.bindings_of(binding.role_key)
    return {each.namespace for each in same if set(each.subjects) & set(binding.subjects)} - {binding.namespace}


def meant_roles(facts: Facts, binding: Binding) -> set[ObjectRef]:
    """Return the role that a binding to a missing role probably meant, as a set of none or one."""
    similar = _similar_role(facts, binding) if binding.role_key not in facts.roles else None
    if similar is None:
        return set()
    return {facts.roles[binding.role_kind, Key(binding.role_key[1].namespace, similar.name)].named}
