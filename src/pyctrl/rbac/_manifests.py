"""Roles and bindings as they are applied to a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pyctrl.api import AccessRule, Key
from pyctrl.rbac._grants import CLUSTER, Grants

__all__ = ["manifests", "to_yaml"]

_GROUP = "rbac.authorization.k8s.io"


def manifests(granted: Grants, *, name: str, account: Key | None = None) -> list[dict[str, Any]]:
    """Return the ClusterRole and the Roles that grant it, and with an ``account`` what binds them to it.

    Args:
        granted: what to grant.
        name: of every role and binding.
        account: namespace and name of the service account; without one there are roles and no bindings.
    """
    found: list[dict[str, Any]] = []
    for namespace, rules in granted.rules.items():
        found.append(_role(name, namespace, rules))
        if account is not None:
            found.append(_binding(name, namespace, account))
    return found


def to_yaml(documents: Iterable[Mapping[str, Any]]) -> str:
    """Return objects as one YAML text, in the form of controller-gen's files: a line of dashes before each."""
    return "".join(f"---\n{dump(document)}" for document in documents)


def dump(data: object) -> str:
    """Return data as YAML, in the order it has."""
    import yaml  # here: a program that declares its rights writes none down

    class Dumper(yaml.SafeDumper):
        """Writes texts of several lines as such: descriptions are for people."""

    def text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if "\n" in value else None)

    Dumper.add_representer(str, text)
    return yaml.dump(data, Dumper=Dumper, sort_keys=False, width=1000, allow_unicode=True)


def _role(name: str, namespace: str, rules: tuple[AccessRule, ...]) -> dict[str, Any]:
    return {
        "apiVersion": f"{_GROUP}/v1",
        "kind": _kind(namespace),
        "metadata": _metadata(name, namespace),
        "rules": [rule.to_wire() for rule in rules],
    }


def _binding(name: str, namespace: str, account: Key) -> dict[str, Any]:
    return {
        "apiVersion": f"{_GROUP}/v1",
        "kind": f"{_kind(namespace)}Binding",
        "metadata": _metadata(name, namespace),
        "roleRef": {"apiGroup": _GROUP, "kind": _kind(namespace), "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": account.name, "namespace": account.namespace}],
    }


def _kind(namespace: str) -> str:
    return "ClusterRole" if namespace == CLUSTER else "Role"


def _metadata(name: str, namespace: str) -> dict[str, str]:
    return {"name": name} if namespace == CLUSTER else {"name": name, "namespace": namespace}
