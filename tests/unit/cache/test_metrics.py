"""The series of informers."""

from __future__ import annotations

import pytest

from pyctrl.api import Key
from pyctrl.cache import KindOptions, Outside
from tests.unit.cache._kit import CONFIGMAP
from tests.unit.cache._sharded import LOWER, sharded


@pytest.mark.virtual_time
async def test_each_series_has_a_sample_for_each_kind() -> None:
    """Every series of the cache names group, version and kind; reads by request are one of them."""
    options = KindOptions(shard_ranges=[LOWER], outside=Outside.LIVE)
    async with sharded(None, options=options, before="ab") as shards:
        await shards.informer.wait_for_sync()
        await shards.cache.find(CONFIGMAP, Key("default", "missing"))
        values = {}
        for family in shards.cache.collect_metrics():
            ((labels, value),) = family.samples
            assert labels == {"group": "", "version": "v1", "kind": "ConfigMap"}
            values[family.name] = value
        assert values["pyctrl_cache_live_reads_total"] == 1
        assert values["pyctrl_cache_synced"] == 1
        assert values["pyctrl_cache_own_writes"] == 0
