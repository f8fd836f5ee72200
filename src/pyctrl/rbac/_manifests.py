"""Role and binding manifests, and YAML output."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pyctrl.api import AccessRule, Key
from pyctrl.rbac._grants import CLUSTER, Grants

__all__ = ["manifests", "to_yaml"]

_GROUP = "rbac.authorization.k8s.io"


def manifests(granted: Grants, *, name: str, account: Key | None = None) -> list[dict[str, Any]]:
    """Return the ClusterRole and Roles that grant the rules, and with an ``account`` the bindings to it.

    Args:
        granted: the rules to grant.
        name: the name of every role and binding.
        account: namespace and name of the service account; without it, roles only.
    """
    found: list[dict[str, Any]] = []
    for namespace, rules in granted.rules.items():
        found.append(_role(name, namespace, rules))
        if account is not None:
            found.append(_binding(name, namespace, account))
    return found


def to_yaml(documents: Iterable[Mapping[str, Any]]) -> str:
    """Return objects as one YAML text in controller-gen's format: a line of dashes before each object."""
    return "".join(f"---\n{dump(document)}" for document in documents)


def dump(data: object) -> str:
    """Return data as YAML, keys in their given order."""
    import yaml  # lazy: a program that only declares permissions does not need YAML

    class Dumper(yaml.SafeDumper):
        """Dumper that writes multi-line strings as literal blocks, so that descriptions stay readable."""

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
