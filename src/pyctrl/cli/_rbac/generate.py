"""Roles of a program, as YAML."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any, Literal, TypeAlias

from pyctrl.api import Key
from pyctrl.cli._packaging_flags import NameFlags, packaged_program
from pyctrl.errors import CommandFailed
from pyctrl.manager import LeaderElection, Sharding
from pyctrl.program import offline_manager
from pyctrl.rbac import Grants, RecordedAccess, grants, is_default_access, manifests, read_recording, to_yaml

__all__ = ["account_key", "generate", "read_recordings"]

#: `Sharding.memory`.
Memory: TypeAlias = bool | Literal["label"]

_RING = "ring"  # permissions for the Leases of shards do not name them


def generate(
    target: str | None,
    *,
    recorded: Collection[Path],
    name: str | None,
    account: str | None,
    namespaces: Collection[str],
    lease: str | None = None,
    memory: Memory | None = None,
    cluster: str = "",
) -> None:
    """Print the roles of a target or a recording, and with an account the bindings."""
    is_said = target is not None or bool(NameFlags().settings(None).program)
    if (not recorded and not is_said) or (recorded and target is not None):
        raise CommandFailed("name a program, such as MODULE:FUNCTION, or a recording with --recorded FILE")
    key = account_key(account) if account is not None else None
    if not recorded:
        target, namespaces = packaged_program(target, tuple(namespaces))
        granted, role = asyncio.run(_derived(target, key, namespaces, lease, cluster, memory=memory))
    else:
        granted, role = _recorded(recorded, key, namespaces), "manager-role"
    roles = manifests(granted, name=name or role, account=key)
    sys.stdout.write(to_yaml(roles if key is None else [_account(key), *roles]))


def account_key(text: str) -> Key:
    """Parse ``NAMESPACE:NAME``, kubectl's format of service accounts. Raises CommandFailed."""
    namespace, _, name = text.partition(":")
    if not namespace or not name or ":" in name:
        raise CommandFailed(f"expected a service account, NAMESPACE:NAME, such as default:jenkins; got {text!r}")
    return Key(namespace, name)


async def _derived(
    target: str,
    account: Key | None,
    namespaces: Collection[str],
    lease: str | None,
    cluster: str,
    *,
    memory: Memory | None,
) -> tuple[Grants, str]:
    """Return the permissions of a target, and a name for its roles."""
    election = LeaderElection(name=lease) if lease is not None else None
    sharding = None if memory is None else Sharding(name=lease or _RING, memory=memory)
    async with offline_manager(
        target, namespaces=namespaces, leader_election=None if sharding else election, sharding=sharding
    ) as manager:
        own = account.namespace if account is not None else None
        granted = manager.grants(own_namespace=own, cluster=cluster)
        where = manager.fleets[cluster] if cluster in manager.fleets else manager.clusters[cluster]
        return granted, _name(where.controller_names)


def _recorded(files: Collection[Path], account: Key | None, namespaces: Collection[str]) -> Grants:
    """Return the least permissions for the recorded requests, restricted to namespaces if there are any."""
    needed = [asked.permission for asked in read_recordings(files) if not is_default_access(asked.access)]
    own = account.namespace if account is not None else "default"
    return grants(needed, namespaces=namespaces or None, own_namespace=own)


def _name(controllers: Collection[str]) -> str:
    """Return the name of the roles: after the only controller, or controller-gen's default."""
    return f"{next(iter(controllers))}-operator" if len(controllers) == 1 else "manager-role"


def _account(account: Key) -> dict[str, Any]:
    metadata = {"name": account.name, "namespace": account.namespace}
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata}


def read_recordings(files: Iterable[Path]) -> list[RecordedAccess]:
    """Return the requests of recordings. Raises CommandFailed, or RbacError if a file is not a recording."""
    found = []
    for file in files:
        try:
            found += read_recording(file.read_text(), str(file))
        except OSError as error:
            raise CommandFailed(f"{file}: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise CommandFailed(f"{file} is not text: {error.reason}") from error
    return found
