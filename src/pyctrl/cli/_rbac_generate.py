"""Print the roles of a program."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Collection
from typing import Any

from pyctrl.api import Key
from pyctrl.errors import CommandFailed
from pyctrl.rbac import manifests, to_yaml

from ._target import wired

__all__ = ["account_key", "generate"]


def generate(target: str, *, name: str | None, account: str | None, namespaces: Collection[str]) -> None:
    """Print the roles that a target needs, and with an account what binds them to it."""
    key = account_key(account) if account is not None else None
    documents = asyncio.run(_roles(target, name, key, namespaces))
    sys.stdout.write(to_yaml(documents))


def account_key(text: str) -> Key:
    """Read ``NAMESPACE:NAME``, as kubectl takes service accounts. Raises CommandFailed."""
    namespace, _, name = text.partition(":")
    if not namespace or not name or ":" in name:
        raise CommandFailed(f"a service account is named NAMESPACE:NAME, such as default:jenkins; got {text!r}")
    return Key(namespace, name)


async def _roles(
    target: str, name: str | None, account: Key | None, namespaces: Collection[str]
) -> list[dict[str, Any]]:
    async with wired(target, namespaces=namespaces) as manager:
        granted = manager.grants(own_namespace=account.namespace if account is not None else None)
        role = name or _name(manager.controller_names)
    roles = manifests(granted, name=role, account=account)
    return roles if account is None else [_account(account), *roles]


def _name(controllers: Collection[str]) -> str:
    """Name the roles after the controller; several have controller-gen's name."""
    return f"{next(iter(controllers))}-operator" if len(controllers) == 1 else "manager-role"


def _account(account: Key) -> dict[str, Any]:
    metadata = {"name": account.name, "namespace": account.namespace}
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata}
