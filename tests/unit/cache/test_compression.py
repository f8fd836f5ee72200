"""Compressed kinds use less memory and otherwise behave like other kinds."""

from __future__ import annotations

import sys
from random import Random

import pytest

from pyctrl.api import Key
from pyctrl.cache import Cache, KindOptions
from pyctrl.cache._compression import MIN_BYTES, MIN_OBJECTS, Compressor, Decompress, compressor_for
from pyctrl.cache._record import RecordReader
from pyctrl.cache._transform import strip_managed_fields
from pyctrl.client import MergePatch
from pyctrl.cluster import Cluster
from pyctrl.errors import CacheError
from pyctrl.kinds.core.v1 import ConfigMap
from tests.unit.cache._kit import CONFIGMAP, body, lab, until

COUNT = 600
DATA = {f"setting-{number}": f"the value of setting {number}" for number in range(40)}


async def test_many_objects_take_a_tenth_of_their_json() -> None:
    """Compression keeps reads, selectors, indexes, own writes and events unchanged and stores a tenth of the bytes."""
    async with lab(options=KindOptions(compress=True)) as it:
        for number in range(COUNT):
            await it.create(f"object-{number:04}", **DATA, number=str(number))
        it.cache.add_index(ConfigMap, "number", lambda found: [found.data.get("number", "")])
        await it.cache.wait_for_sync()
        last = Key("default", f"object-{COUNT - 1:04}")
        await until(lambda: it.cache.informer(CONFIGMAP).find(last) is not None)

        for number in (0, COUNT // 2, COUNT - 1):
            (found,) = await it.cache.list(ConfigMap, index=("number", str(number)))
            assert found.data == {**DATA, "number": str(number)}
        await it.client.patch(ConfigMap, last, MergePatch({"metadata": {"labels": {"mine": "yes"}}}))
        assert [each.key for each in await it.cache.list(ConfigMap, labels="mine=yes")] == [last]

        store = it.cache.informer(CONFIGMAP).lister.store
        packed = [record for record in store if record.unpack is not None]
        as_they_came = [record for record in store if record.unpack is None]
        size = len(packed[0].data)
        assert MIN_BYTES - size <= sum(len(record.kept) for record in as_they_came) <= MIN_BYTES + size
        assert len(packed) > COUNT / 3
        assert sum(len(record.kept) for record in packed) * 10 < sum(len(record.data) for record in packed)
        (statistics,) = it.cache.statistics()
        assert statistics.size_bytes == sum(len(record.kept) for record in store)


ALIKE = [b"1" * (MIN_BYTES // MIN_OBJECTS)] * MIN_OBJECTS
UNLIKE = [Random(number).randbytes(MIN_BYTES // MIN_OBJECTS) for number in range(MIN_OBJECTS)]


@pytest.mark.parametrize("samples", [ALIKE, UNLIKE], ids=["alike", "unlike"])
def test_objects_of_which_nothing_can_be_learnt_are_kept_all_the_same(samples: list[bytes]) -> None:
    """If dictionary training fails, the objects themselves become the dictionary."""
    pack = Compressor()
    for number, sample in enumerate(samples):
        assert pack(sample, f"{number}") == (sample, None)
    kept, unpack = pack(b'{"a":1}', "more")
    assert unpack is not None
    assert unpack(kept) == b'{"a":1}'


def test_few_objects_stay_as_they_are_however_often_they_change() -> None:
    """A kind with few objects stays uncompressed, because a dictionary only pays off for many objects."""
    pack = Compressor()
    for number in range(3 * MIN_OBJECTS):
        assert pack(b"%d" % number * (MIN_BYTES // MIN_OBJECTS), f"{number % (MIN_OBJECTS - 1)}")[1] is None


def test_objects_are_unpacked_whole_in_any_order_and_again() -> None:
    """Repeated reads in any order return the right object, although the last one is remembered."""
    pack = Compressor()
    for number in range(MIN_OBJECTS):
        pack(b"%d" % number * (MIN_BYTES // MIN_OBJECTS), f"{number}")
    objects = [b'{"number":%d}' % number for number in range(4)]
    packed = [pack(data, "more") for data in objects]
    for number in (0, 0, 1, 0, 1, 2, 1, 0, 3, 3, 2, 0):
        kept, unpack = packed[number]
        assert unpack is not None
        assert unpack(kept) == objects[number]


def test_what_is_kept_has_memory_of_its_own() -> None:
    """Stored bytes use no more memory than their length; encoders return bytes in larger buffers."""
    made: list[bytes] = []

    def noted(data: bytes) -> bytes:
        made.append(data)
        return data

    class Noting(Compressor):
        def __call__(self, data: bytes, uid: str) -> tuple[bytes, Decompress | None]:
            kept, unpack = super().__call__(data, uid)
            return noted(kept), unpack

    pack = Noting()
    for number in range(MIN_OBJECTS):
        pack(b"%d" % number * (MIN_BYTES // MIN_OBJECTS), f"{number}")
    data = body("a", 1, metadata={"managedFields": [{"manager": "me"}]}, data={"b": "c" * 1000})
    for read in (RecordReader(lambda data: noted(strip_managed_fields(data))), RecordReader(None, pack)):
        kept = read(data).kept
        assert kept == made[-1]
        assert kept is not made[-1]


async def test_without_the_package_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Caching a compressed kind without the extra raises an error that names the package to install."""
    monkeypatch.setitem(sys.modules, "zstandard", None)
    async with Cluster() as cluster, cluster.client() as client:
        cache = Cache(client, options={ConfigMap: KindOptions(compress=True)})
        with pytest.raises(CacheError, match=r"pip install 'pyctrl-runtime\[compression\]'"):
            cache.informer(ConfigMap)


async def test_without_a_wish_it_is_done_where_it_can_be(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the option None, compression is on only if the package is installed."""
    assert isinstance(compressor_for(None), Compressor)
    monkeypatch.setitem(sys.modules, "zstandard", None)
    assert compressor_for(None) is None
    assert compressor_for(False) is None
