"""Tests of leader election and sharding as the flags of `pyctrl run` set them."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest

from pyctrl.cache import Record
from pyctrl.cli._run.flags import RunFlags
from pyctrl.controller import ShardBy
from pyctrl.errors import CommandFailed, ManagerError
from pyctrl.program._replicas import leader_election, sharding


def test_a_lease_is_named_after_the_program() -> None:
    """The Lease has the program's name by default, and client-go's durations; inconsistent ones are refused."""
    election = leader_election(RunFlags(leader_elect=True), "op")
    assert election is not None
    assert (election.name, election.lease_duration, election.renew_deadline, election.retry_period) == (
        "op",
        *(timedelta(seconds=seconds) for seconds in (15, 10, 2)),
    )
    assert leader_election(RunFlags(), "op") is None
    with pytest.raises(ManagerError):
        leader_election(RunFlags(leader_elect=True, leader_elect_lease_duration=timedelta(seconds=5)), "op")


def test_leases_of_shards_follow_the_flags_for_leader_election() -> None:
    """Shards have the name, namespace and times of the Lease flags; ``--leader-elect`` beside them changes nothing."""
    flags = RunFlags(
        shards="auto",
        leader_elect=True,
        leader_election_id="podset",
        leader_election_namespace="ops",
        leader_elect_lease_duration=timedelta(seconds=30),
        leader_elect_renew_deadline=timedelta(seconds=20),
        leader_elect_retry_period=timedelta(seconds=4),
    )
    found = sharding(flags, "op")
    assert found is not None
    assert (found.name, found.namespace) == ("podset", "ops")
    times = (found.lease_duration, found.renew_deadline, found.retry_period)
    assert times == tuple(timedelta(seconds=seconds) for seconds in (30, 20, 4))
    assert leader_election(flags, "op") is None  # the manager makes it from the shards
    unnamed = sharding(RunFlags(shards="auto"), "op")
    assert unnamed is not None
    assert (unnamed.name, unnamed.namespace, unnamed.key) == ("op", None, ShardBy.UID)


def test_shards_follow_their_own_flags() -> None:
    """Weight, version, canary and hand-over of a replica are those of its flags."""
    found = sharding(
        RunFlags(
            shards="auto",
            shard_by="namespace",
            shard_weight=2,
            shard_version="2.0",
            shard_canary=0.1,
            shard_promote_after=timedelta(minutes=10),
            shard_handover_timeout=timedelta(0),
        ),
        "op",
    )
    assert found is not None
    assert (found.key, found.weight, found.version, found.canary) == (ShardBy.NAMESPACE, 2, "2.0", 0.1)
    assert (found.promote_after, found.handover_timeout) == (timedelta(minutes=10), timedelta(0))
    assert not found.memory
    idle = sharding(RunFlags(shards="auto", shard_version="2.0", shard_canary=0.0), "op")
    assert idle is not None
    assert idle.canary == 0
    for mode, memory in (("auto", True), ("label", "label"), ("off", False)):
        small = sharding(RunFlags(shards="auto", shard_by="uid", shard_memory=cast(Any, mode)), "op")
        assert small is not None
        assert small.memory == memory


def test_objects_can_be_divided_by_a_label() -> None:
    """``--shard-by label=tenant`` divides objects by the value of this label."""
    found = sharding(RunFlags(shards="auto", shard_by="label=tenant"), "op")
    assert found is not None
    assert not isinstance(found.key, ShardBy)
    assert found.key(_record({"tenant": "shop"})) == "shop"
    assert found.key(_record({})) == ""


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        ({"shard_by": "namespace"}, "--shard-by needs --shards=auto"),
        ({"shard_handover_timeout": timedelta(0)}, "--shard-handover-timeout needs --shards=auto"),
        ({"shards": "auto", "shard_canary": 0.1}, "--shard-canary needs --shard-version"),
        ({"shards": "auto", "shard_promote_after": timedelta(1)}, "--shard-promote-after needs --shard-canary"),
        ({"shards": "auto", "shard_memory": "label", "shard_by": "cluster"}, "--shard-memory needs --shard-by=uid"),
        ({"shard_memory": "auto"}, "--shard-memory needs --shards=auto"),
        ({"shards": "auto", "fingerprints_file": Path("x")}, "contradict each other"),
        ({"shards": "auto", "fingerprints_config_map": "x"}, "contradict each other"),
    ],
)
def test_contradicting_flags_are_refused(flags: dict[str, Any], told: str) -> None:
    """A flag of shards that would have no effect is refused, as replicas would all do the same work."""
    with pytest.raises(CommandFailed, match=told):
        sharding(RunFlags(**flags), "op")


@pytest.mark.parametrize("flags", [{"leader_election_id": "No"}, {"leader_elect_lease_duration": timedelta(seconds=5)}])
def test_leases_that_cannot_work_are_refused(flags: dict[str, Any]) -> None:
    """A name or times that no Lease can have are refused as for leader election."""
    with pytest.raises(ManagerError):
        sharding(RunFlags(shards="auto", **flags), "op")


def _record(labels: dict[str, str]) -> Record:
    kept = msgspec.json.encode({"metadata": {"name": "a", "namespace": "b", "labels": labels}})
    return Record(kept=kept, name="a", namespace="b", uid="u", version=1)
