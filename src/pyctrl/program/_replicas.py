"""What the replicas of a program do, by the options of `pyctrl run`: one is active, or they divide the work."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pyctrl.errors import CommandFailed

if TYPE_CHECKING:
    from pyctrl.controller import ShardKey
    from pyctrl.manager import LeaderElection, Sharding
    from pyctrl.program._run_options import RunOptions

__all__ = ["leader_election", "sharding"]


def leader_election(options: RunOptions, name: str) -> LeaderElection | None:
    """Return how a leader is elected, by default with a Lease that has the name of the program; None: without.

    With shards the manager elects one in any case, with a Lease of the same name.
    """
    if not options.leader_elect or options.shards != "off":
        return None
    from pyctrl.manager import LeaderElection  # here and below: off by default

    return LeaderElection(**_lease(options, name))


def sharding(options: RunOptions, name: str) -> Sharding | None:
    """Return how the replicas divide requests, by default with Leases named after the program; None: they do not.

    Raises:
        CommandFailed: the options contradict each other.
        ManagerError: the name or the times are not valid.
    """
    given = _given(options)
    if options.shards == "off":
        if given:
            raise CommandFailed(f"{_flag(next(iter(given)))} needs --shards=auto, without which no work is divided")
        return None
    if options.fingerprints_file is not None or options.fingerprints_config_map is not None:
        raise CommandFailed("--shards=auto and fingerprints contradict each other: one replica keeps fingerprints")
    if given.get("shard_canary", 1) < 1 and not options.shard_version:
        raise CommandFailed("--shard-canary needs --shard-version, which tells its replicas from the others")
    if options.shard_promote_after is not None and given.get("shard_canary", 1) == 1:
        raise CommandFailed("--shard-promote-after needs --shard-canary, a share below 1")
    if given.get("shard_memory", "off") != "off" and given.get("shard_by", "uid") != "uid":
        raise CommandFailed("--shard-memory needs --shard-by=uid, because servers select objects by their uid")
    from pyctrl.manager import Sharding

    chosen = {_FIELDS[option]: value for option, value in given.items()}
    if "key" in chosen:
        chosen["key"] = _key(chosen["key"])
    if "memory" in chosen:
        chosen["memory"] = {"auto": True, "label": "label", "off": False}[chosen["memory"]]
    return Sharding(**_lease(options, name), **chosen)


#: The fields of `Sharding` by their options.
_FIELDS = {
    "shard_by": "key",
    "shard_memory": "memory",
    "shard_weight": "weight",
    "shard_version": "version",
    "shard_canary": "canary",
    "shard_promote_after": "promote_after",
    "shard_handover_timeout": "handover_timeout",
}


def _given(options: RunOptions) -> Mapping[str, Any]:
    return {option: value for option in _FIELDS if (value := getattr(options, option)) is not None}


def _flag(option: str) -> str:
    return f"--{option.replace('_', '-')}"


def _key(text: str) -> ShardKey:
    """Return what divides requests, from the value of ``--shard-by``."""
    from pyctrl.controller import ShardBy, by_label

    return by_label(text.removeprefix("label=")) if text.startswith("label=") else ShardBy(text)


def _lease(options: RunOptions, name: str) -> dict[str, Any]:
    """Return the fields that `LeaderElection` and `Sharding` have in common."""
    return {
        "name": options.leader_election_id or name,
        "namespace": options.leader_election_namespace,
        "lease_duration": options.leader_elect_lease_duration,
        "renew_deadline": options.leader_elect_renew_deadline,
        "retry_period": options.leader_elect_retry_period,
    }
