"""Sharding, as a user's program sees its types."""

from __future__ import annotations

from datetime import timedelta
from typing import assert_type

from pyctrl.cache import Record
from pyctrl.client import Config
from pyctrl.controller import ShardBy, by_label
from pyctrl.manager import Manager, Sharding, ShardingStatistics, ShardMember


def tenant(record: Record) -> str:
    """Return the text that divides objects."""
    return record.labels.get("tenant", "")


async def program(config: Config) -> None:
    """Divide requests in each way."""
    for key in (ShardBy.UID, ShardBy.NAMESPACE, by_label("tenant"), tenant):
        manager = Manager(config, sharding=Sharding(name="op", key=key, handover_timeout=timedelta(seconds=5)))
        assert_type(manager.shard_member, ShardMember | None)
        if manager.shard_member is not None:
            assert_type(manager.shard_member.statistics(), ShardingStatistics)

    Sharding(name="op", key="uid")  # type: ignore[arg-type]
    Sharding("op")  # type: ignore[call-arg]
