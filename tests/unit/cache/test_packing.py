"""A kind that is kept compressed: smaller, and otherwise as any other."""

from __future__ import annotations

import sys

import pytest

from pyctrl.api import Key
from pyctrl.cache import Cache, KindOptions
from pyctrl.cache._packing import SAMPLES, Packing
from pyctrl.client import MergePatch
from pyctrl.cluster import Cluster
from pyctrl.errors import CacheError
from pyctrl.kinds.core.v1 import ConfigMap
from tests.unit.cache._kit import CONFIGMAP, lab, until

MORE = 200
DATA = {f"setting-{number}": f"the value of setting {number}" for number in range(40)}


async def test_many_objects_take_a_tenth_of_their_json() -> None:
    """Reads, selectors, indexes, own writes and events are as ever; the bytes that are kept are few."""
    async with lab(options=KindOptions(compress=True)) as it:
        for number in range(SAMPLES + MORE):
            await it.create(f"object-{number:04}", **DATA, number=str(number))
        it.cache.add_index(ConfigMap, "number", lambda found: [found.data.get("number", "")])
        await it.cache.wait_for_sync()
        last = Key("default", f"object-{SAMPLES + MORE - 1:04}")
        await until(lambda: it.cache.informer(CONFIGMAP).find(last) is not None)

        for number in (0, SAMPLES, SAMPLES + MORE - 1):
            (found,) = await it.cache.list(ConfigMap, index=("number", str(number)))
            assert found.data == {**DATA, "number": str(number)}
        await it.client.patch(ConfigMap, last, MergePatch({"metadata": {"labels": {"mine": "yes"}}}))
        assert [each.key for each in await it.cache.list(ConfigMap, labels="mine=yes")] == [last]

        store = it.cache.informer(CONFIGMAP).view.store
        packed = [record for record in store if record.unpack is not None]
        assert MORE <= len(packed) <= MORE + 10
        assert sum(len(record.kept) for record in packed) * 10 < sum(len(record.data) for record in packed)
        (statistics,) = it.cache.statistics()
        assert statistics.size_bytes == sum(len(record.kept) for record in store)


@pytest.mark.parametrize("samples", [[b"{}"] * SAMPLES, [b"%d" % number for number in range(SAMPLES)]])
def test_objects_of_which_nothing_can_be_learnt_are_kept_all_the_same(samples: list[bytes]) -> None:
    """Where no dictionary can be trained, one is made of the objects as they are."""
    packing = Packing()
    for sample in samples:
        assert packing(sample) == (sample, None)
    kept, unpack = packing(b'{"a":1}')
    assert unpack is not None
    assert unpack(kept) == b'{"a":1}'


async def test_without_the_package_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """The extra is asked for when the kind is cached, not when objects come."""
    monkeypatch.setitem(sys.modules, "zstandard", None)
    async with Cluster() as cluster, cluster.client() as client:
        cache = Cache(client, options={ConfigMap: KindOptions(compress=True)})
        with pytest.raises(CacheError, match=r"pip install 'pyctrl\[compression\]'"):
            cache.informer(ConfigMap)
