"""Reads of lists: which of them a change affects."""

from __future__ import annotations

import pytest

from pyctrl.api import FieldSelector, LabelSelector
from pyctrl.cache import ListQuery
from pyctrl.controller._reads.list_reads import ListReads
from pyctrl.controller._reads.reader import ReaderCounts
from pyctrl.kinds.core.v1 import Secret
from tests.unit.controller.reads._informers import readers, record, running_informer


def query(labels: str = "", fields: str = "", namespace: str | None = None) -> ListQuery:
    return ListQuery(namespace=namespace, labels=LabelSelector.parse(labels), fields=FieldSelector.parse(fields))


@pytest.mark.parametrize(
    "selects",
    [
        query(),
        query(namespace="default"),
        query("app=web"),
        query("app in (web)"),
        query("app in (web, shop)"),
        query("app"),
        query("app!=shop"),
        query("!other"),
        query("app=web,tier=front"),
        query("tier in (front),app in (web, shop)"),
        query(fields="type=Opaque"),
        query(fields="type!=other"),
        query(fields="metadata.name=db"),
        query(fields="immutable="),
        query("app=web", "type=Opaque", "default"),
    ],
    ids=str,
)
async def test_a_list_is_affected_when_an_object_enters_changes_in_it_or_leaves(selects: ListQuery) -> None:
    """Whatever a list selects by, an object that it contains before or after a change finds it, and no other does."""
    async with running_informer(Secret) as informer:
        lists = ListReads(informer, ReaderCounts())
        read = lists.get(selects, None)
        inside = record("db", labels={"app": "web", "tier": "front"}, type="Opaque")
        outside = record(
            "no", namespace="kube-public", labels={"app": "shop", "other": "x"}, type="other", immutable="x"
        )
        for before, after in ((inside, inside), (None, inside), (inside, None), (outside, inside), (inside, outside)):
            assert [*lists.affected(before, after)] == [read]
        is_everything = selects == query()
        contains = is_everything or selects.matches(outside)
        assert bool([*lists.affected(outside, outside)]) == contains


async def test_equal_lists_are_one() -> None:
    """Requests that read the same list share it; another namespace or index is another list."""
    async with running_informer(Secret) as informer:
        informer.lister.add_index("type", lambda record: [record.field("type") or ""])
        lists = ListReads(informer, ReaderCounts())
        assert lists.get(query("a=b"), None) is lists.get(query("a=b"), None)
        lists.get(query("a=b", namespace="default"), None)
        lists.get(query("a=b"), ("type", "x"))
        assert len(lists) == 3


async def test_a_list_by_an_index_is_affected_by_the_values_of_the_object() -> None:
    """A list by an index value is found by an object that has, or had, the value; its labels count as well."""
    async with running_informer(Secret) as informer:
        informer.lister.add_index("type", lambda record: [record.field("type") or ""])
        lists = ListReads(informer, ReaderCounts())
        x, labelled = lists.get(query(), ("type", "x")), lists.get(query("a=b"), ("type", "x"))
        lists.get(query(), ("type", "y"))
        assert [*lists.affected(record("db", type="x"), record("db", type="z"))] == [x]
        assert [*lists.affected(None, record("db", type="x", labels={"a": "b"}))] == [x, labelled]


SELECTED = ["", "app=web", "app in (web)", "app!=web", "app=web,x!=y", "app=web,x=y", "x"]


async def test_lists_that_contain_an_object_are_those_that_select_it() -> None:
    """However a list is filed, it contains exactly the objects that it selects, in its namespace."""
    async with running_informer(Secret) as informer:
        informer.lister.add_index("type", lambda record: [record.field("type") or ""])
        lists = ListReads(informer, ReaderCounts())
        for labels in SELECTED:
            for namespace in (None, "default", "other"):
                for index in (None, ("type", "x")):
                    lists.get(query(labels, namespace=namespace), index)
        for worn in ({}, {"app": "web"}, {"app": "web", "x": "y"}, {"x": "y"}):
            for namespace in ("default", "other"):
                found = record("db", labels=worn, namespace=namespace, type="x")
                assert {*lists.containing(found)} == {read for read in lists if read.selects(found)}
                assert lists.containing(found)


async def test_lists_of_other_labels_are_not_compared() -> None:
    """A change is compared with the lists that share a trait with its object, however many others there are."""
    async with running_informer(Secret) as informer:
        lists = ListReads(informer, ReaderCounts())
        for number in range(100):
            lists.get(query(f"app=other-{number}"), None)
        mine = lists.get(query("app=web"), None)
        compared = [
            read
            for trait in lists._traits_of(record("db", labels={"app": "web"}))
            for read in lists._by_trait.get(trait, ())
        ]
        assert compared == [mine]


async def test_lists_of_other_index_values_are_not_compared() -> None:
    """A change is compared with the lists by the index values of its object, not with all lists of a namespace."""
    async with running_informer(Secret) as informer:
        informer.lister.add_index("type", lambda record: [record.field("type") or ""])
        lists = ListReads(informer, ReaderCounts())
        for number in range(100):
            lists.get(query(namespace="default"), ("type", f"other-{number}"))
        mine = lists.get(query(namespace="default"), ("type", "x"))
        traits = lists._traits_of(record("db", type="x"))
        assert [read for trait in traits for read in lists._by_trait.get(trait, ())] == [mine]


async def test_a_list_without_readers_is_forgotten() -> None:
    """Nothing is left of a list that no request has any more, and lists with the same trait stay."""
    async with running_informer(Secret) as informer:
        lists, (a, b) = ListReads(informer, ReaderCounts()), readers("a", "b")
        first, second = lists.get(query("app=web"), None), lists.get(query("app=web,x=y"), None)
        first.add(a)
        second.add(b)
        first.remove(a)
        web = record("db", labels={"app": "web", "x": "y"})
        assert [*lists.affected(None, web)] == [second]
        second.remove(b)
        assert len(lists) == 0
        assert [*lists.affected(None, web)] == []
        assert [*lists._traits_of(web)] == []


async def test_unread_lists_are_kept_on_demand() -> None:
    """While lists are kept, one without readers stays; then those that nothing reads are forgotten, and no others."""
    async with running_informer(Secret) as informer:
        lists, (a,) = ListReads(informer, ReaderCounts()), readers("a")
        lists.keeps_unread = True
        first, second = lists.get(query("app=web"), None), lists.get(query("app=web,x=y"), None)
        for read in (first, second):
            read.add(a)
        first.remove(a)
        assert lists.get(query("app=web"), None) is first
        lists.forget_unread()
        assert [*lists] == [second]
        second.remove(a)
        assert [*lists] == []


@pytest.mark.parametrize(
    ("selects", "text"),
    [
        (query(), "list of Secret in all namespaces"),
        (query("a=b", "type=x", "default"), "list of Secret in namespace default, labels a=b, fields type=x"),
    ],
    ids=["all", "selected"],
)
async def test_a_list_has_a_text(selects: ListQuery, text: str) -> None:
    """A list is shown with its namespace and selectors."""
    async with running_informer(Secret) as informer:
        assert str(ListReads(informer, ReaderCounts()).get(selects, None).view()) == text
