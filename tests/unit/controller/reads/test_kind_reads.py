"""Reads of one kind: which requests a change of an object affects."""

from __future__ import annotations

from pyctrl.api import Key, LabelSelector
from pyctrl.cache import ListQuery
from pyctrl.controller._reads.kind_reads import KindReads
from pyctrl.kinds.core.v1 import Namespace, Secret
from tests.unit.controller.reads._informers import readers, record, running_informer
from tests.unit.controller.reads._readers import secret

DB = Key("default", "db")


async def test_a_change_affects_the_readers_of_its_object_only() -> None:
    """An update, a creation and a deletion affect each request that has read the object, once, and no other."""
    async with running_informer(Secret) as informer:
        reads, (a, b, c) = KindReads(informer), readers("a", "b", "c")
        for reader, name in ((a, "db"), (b, "db"), (a, "db"), (c, "other")):
            reads.object(Key("default", name)).add(reader)
        old, new = record("db"), record("db", version=2)
        for before, after in ((old, new), (None, new), (old, None)):
            assert [*reads.readers_of(before, after)] == [a, b]
        assert not reads.readers_of(None, record("db", namespace="kube-public"))


async def test_a_resync_is_no_change() -> None:
    """The same version again affects no request."""
    async with running_informer(Secret) as informer:
        reads, (a,) = KindReads(informer), readers("a")
        reads.object(DB).add(a)
        assert not reads.readers_of(record("db"), record("db"))


async def test_only_parts_count_if_there_are_some() -> None:
    """With parts an update counts only if it changes one of them; creation, deletion and another uid always count."""
    async with running_informer(Secret) as informer:
        reads, (a,) = KindReads(informer, ("data.key", "metadata.labels")), readers("a")
        reads.object(DB).add(a)
        old = record("db", data={"key": "1", "other": "1"})
        assert not reads.readers_of(old, record("db", version=2, data={"key": "1", "other": "2"}))
        assert reads.readers_of(old, record("db", version=2, data={"key": "2", "other": "1"}))
        assert reads.readers_of(old, record("db", version=2, data=None))
        assert reads.readers_of(old, record("db", version=2, data={"key": "1"}, labels={"a": "b"}))
        another = record("db", version=2, data={"key": "1", "other": "1"})
        another.uid = "another"
        assert reads.readers_of(old, another)
        assert reads.readers_of(old, None)
        assert reads.readers_of(None, old)


async def test_an_object_that_enters_a_list_counts_although_its_parts_are_the_same() -> None:
    """A change of labels counts for a list by labels if the object enters or leaves it, whatever the parts are."""
    async with running_informer(Secret) as informer:
        reads, (a,) = KindReads(informer, ("data",)), readers("a")
        reads.list(ListQuery(labels=LabelSelector.parse("app=web")), None).add(a)
        inside = record("db", version=2, labels={"app": "web"})
        assert [*reads.readers_of(record("db"), inside)] == [a]
        assert [*reads.readers_of(inside, record("db", version=3))] == [a]
        assert not reads.readers_of(inside, record("db", version=3, labels={"app": "web", "x": "y"}))


async def test_a_request_that_read_an_object_and_a_list_with_it_runs_once() -> None:
    """Readers of the object and of lists that contain it are named once each."""
    async with running_informer(Secret) as informer:
        reads, (a, b) = KindReads(informer), readers("a", "b")
        reads.object(DB).add(a)
        reads.list(ListQuery(namespace="default"), None).add(a)
        reads.list(ListQuery(), None).add(b)
        assert [*reads.readers_of(None, record("db"))] == [a, b]
        assert {*reads.readers()} == {a, b}
        assert [*reads.readers_of_object(DB, record("db"))] == [a, b]
        assert [*reads.readers_of_object(DB, None)] == [a]


async def test_the_namespace_in_the_key_of_a_cluster_scoped_object_does_not_matter() -> None:
    """Objects without a namespace are found, whatever namespace the read has named."""
    async with running_informer(Namespace) as informer:
        reads, (a,) = KindReads(informer), readers("a")
        reads.object(Key("ignored", "default")).add(a)
        assert [*reads.readers_of(None, record("default", namespace=""))] == [a]


async def test_a_read_without_readers_is_forgotten_and_counted_no_more() -> None:
    """Counts are those of the reads that are left, and nothing is left of reads without readers."""
    async with running_informer(Secret) as informer:
        reads, (a, b, c) = KindReads(informer), readers("a", "b", "c")
        made = [reads.object(DB), reads.list(ListQuery(), None), reads.unsynced()]
        for reader in (a, b, c):
            made[0].add(reader)
            made[0].add(reader)
        made[1].add(a)
        made[2].add(a)
        counts = reads.counts
        assert (counts.reads, counts.subscriptions, counts.largest) == (3, 5, 3)
        made[0].remove(b)
        made[0].remove(b)
        assert (counts.reads, counts.subscriptions, counts.largest) == (3, 4, 2)
        for each in made:
            for reader in (a, b, c):
                each.remove(reader)
        assert (counts.reads, counts.subscriptions, counts.largest) == (0, 0, 0)
        assert [*reads.reads()] == []
        assert not reads.readers_of(None, record("db"))


async def test_a_read_that_is_dropped_by_another_stays() -> None:
    """Removing a request that is not a reader changes nothing."""
    async with running_informer(Secret) as informer:
        reads, (a, b) = KindReads(informer), readers("a", "b")
        reads.object(DB).add(a)
        reads.object(DB).remove(b)
        assert [*reads.readers_of(None, record("db"))] == [a]


async def test_the_name_is_the_string_of_the_store() -> None:
    """A read of an object in the cache does not keep another string of the same name, also after an update."""
    async with running_informer(Secret, secret("a-long-name")) as informer:
        stored = informer.lister.store.get("default", "a-long-name")
        assert stored is not None
        read = KindReads(informer).object(Key("default", f"{stored.name[:6]}-name"))
        assert read.name is stored.name
        assert read.namespace is stored.namespace
        (writer,) = informer.lister.writers
        updated = record(f"{stored.name[:6]}-name", version=stored.version + 1)
        updated.uid = stored.uid
        writer.put(updated)
        assert informer.lister.store.get("default", "a-long-name") is updated
        assert read.name is updated.name
