"""Fixes for findings: YAML for objects in files, kubectl commands for objects in a cluster."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from pyctrl.api import AccessRule, Key
from pyctrl.rbac._doctor.facts import RBAC, Binding, Role, Subject
from pyctrl.rbac._doctor.findings import ObjectRef
from pyctrl.rbac._manifests import dump

__all__ = [
    "account_subject",
    "add_rule",
    "as_cluster_role_binding",
    "create_account",
    "delete",
    "namespace_flag",
    "recreate_binding",
    "rename_role",
    "replace_rule",
    "replace_subject",
]


def account_subject(account: Key) -> Subject:
    """Return a service account as a subject."""
    return Subject("ServiceAccount", account.name, account.namespace, "")


def replace_subject(binding: Binding, wrong: Subject, right: Subject) -> Binding:
    """Return a binding with one subject replaced."""
    subjects = [right if each == wrong else each for each in binding.subjects]
    return replace(binding, subjects=tuple(dict.fromkeys(subjects)))


def recreate_binding(binding: Binding, *, is_other_role: bool = False) -> str:
    """Return how to replace a binding by a corrected one.

    Args:
        binding: the corrected binding.
        is_other_role: whether its roleRef differs, which cannot be changed in place.
    """
    if not binding.named.source:
        return f"{delete(binding.named)}\n{_create(binding)}"
    note = f"# a roleRef is immutable; if the binding was applied already: {delete(binding.named)}\n"
    return (note if is_other_role else "") + dump(_document(binding))


def as_cluster_role_binding(binding: Binding) -> str:
    """Return how to replace a RoleBinding by a ClusterRoleBinding."""
    named = ObjectRef("ClusterRoleBinding", "", binding.named.name, binding.named.source)
    if not named.source:
        return f"{delete(binding.named)}\n{_create(replace(binding, named=named))}"
    return dump(_document(replace(binding, named=named)))


def delete(named: ObjectRef) -> str:
    """Return the command that deletes an object."""
    return f"kubectl delete {named.kind.lower()} {shlex.quote(named.name)}{namespace_flag(named.namespace)}"


def create_account(account: Key) -> str:
    """Return the command that creates a service account."""
    return f"kubectl create serviceaccount {shlex.quote(account.name)}{namespace_flag(account.namespace)}"


def namespace_flag(namespace: str) -> str:
    """Return kubectl's namespace flag; "" for cluster-scoped objects."""
    return f" --namespace={shlex.quote(namespace)}" if namespace else ""


def replace_rule(role: Role, rule: AccessRule, *rules: AccessRule) -> str:
    """Return how to replace one rule of a role by others."""
    number = role.rules.index(rule)
    return f"{_where(role.named, f'rules[{number}] of')}{dump([each.to_wire() for each in rules])}"


def add_rule(named: ObjectRef, *rules: AccessRule) -> str:
    """Return how to add rules to a role."""
    return f"{_where(named, 'add to the rules of')}{dump([each.to_wire() for each in rules])}"


def rename_role(role: Role, name: str) -> str:
    """Return how to rename a role, which cannot be done in place."""
    rules = [rule.to_wire() for rule in role.rules]
    metadata = {"name": name, **({"namespace": role.named.namespace} if role.named.namespace else {})}
    obj = {"apiVersion": f"{RBAC}/v1", "kind": role.named.kind, "metadata": metadata, "rules": rules}
    if role.named.source:
        return f"# {role.named.source}\nmetadata:\n  name: {name}\n"
    return f"{delete(role.named)}\nkubectl create -f - <<'EOF'\n{dump(obj)}EOF\n"


def _where(named: ObjectRef, what: str) -> str:
    command = f" (kubectl edit {named.kind.lower()} {shlex.quote(named.name)}{namespace_flag(named.namespace)})"
    return f"# {what} {named}{f', {named.source}' if named.source else command}\n"


def _create(binding: Binding) -> str:
    kind, role = binding.named.kind.lower(), binding.role_kind.lower()
    subjects = "".join(_flag(each, binding.namespace) for each in binding.subjects)
    name, bound = shlex.quote(binding.named.name), shlex.quote(binding.role_name)
    return f"kubectl create {kind} {name}{namespace_flag(binding.namespace)} --{role}={bound}{subjects}"


def _flag(subject: Subject, namespace: str) -> str:
    if subject.kind == "ServiceAccount":
        return f" --serviceaccount={shlex.quote(f'{subject.namespace or namespace}:{subject.name}')}"
    return f" --{subject.kind.lower()}={shlex.quote(subject.name)}"


def _document(binding: Binding) -> dict[str, Any]:
    named = binding.named
    metadata = {"name": named.name, **({"namespace": named.namespace} if named.namespace else {})}
    return {
        "apiVersion": f"{RBAC}/v1",
        "kind": named.kind,
        "metadata": metadata,
        "roleRef": {"apiGroup": RBAC, "kind": binding.role_kind, "name": binding.role_name},
        "subjects": list(_subjects(binding.subjects, named.namespace)),
    }


def _subjects(subjects: Iterable[Subject], namespace: str) -> Iterable[dict[str, str]]:
    for each in subjects:
        if each.kind == "ServiceAccount":
            yield {"kind": each.kind, "name": each.name, "namespace": each.namespace or namespace}
        else:
            yield {"apiGroup": RBAC, "kind": each.kind, "name": each.name}
