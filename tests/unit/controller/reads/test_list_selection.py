"""What lists select, in their plain form."""

from __future__ import annotations

import pytest

from pyctrl.api import FieldSelector, LabelSelector
from pyctrl.cache import ListQuery, Record
from pyctrl.controller._reads.list_selection import ListSelection, Trait
from pyctrl.kinds.core.v1 import Secret
from tests.unit.controller.reads._informers import record, running_informer

LABELS = ["", "app=web", "app!=web", "app in (web,shop)", "app notin (web)", "app", "!app", "n>5", "a=b,n<9"]
FIELDS = ["", "metadata.name=db", "type!=Opaque", "immutable="]
RECORDS = [
    record("db"),
    record("db", labels={"app": "web", "n": "7", "a": "b"}, type="Opaque"),
    record("no", namespace="other", labels={"app": "shop", "n": "3", "a": "c"}, immutable="x"),
]


def selection(labels: str = "", fields: str = "", namespace: str | None = None) -> ListSelection:
    query = ListQuery(namespace=namespace, labels=LabelSelector.parse(labels), fields=FieldSelector.parse(fields))
    return ListSelection.of(query, None)


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("fields", FIELDS)
@pytest.mark.parametrize("namespace", [None, "default"])
async def test_it_selects_what_the_query_matches(labels: str, fields: str, namespace: str | None) -> None:
    """The plain form selects the same objects as the query that it was made of, and gives that query back."""
    query = ListQuery(namespace=namespace, labels=LabelSelector.parse(labels), fields=FieldSelector.parse(fields))
    plain = ListSelection.of(query, None)
    async with running_informer(Secret) as informer:
        assert [plain.selects(each, informer) for each in RECORDS] == [query.matches(each) for each in RECORDS]
    assert plain.query == query
    assert hash(plain) == hash(ListSelection.of(plain.query, None))


async def test_the_index_counts_besides_the_query() -> None:
    """A list by an index selects objects with that value in the index, if the query matches them as well."""

    def types(each: Record) -> list[str]:
        return [each.field("type") or ""]

    async with running_informer(Secret) as informer:
        informer.lister.add_index("type", types)
        plain = ListSelection.of(ListQuery(labels=LabelSelector.parse("app=web")), ("type", "Opaque"))
        assert [plain.selects(each, informer) for each in RECORDS] == [False, True, False]
        assert not plain.selects(record("db", labels={"app": "web"}, type="other"), informer)


@pytest.mark.parametrize(
    ("plain", "traits"),
    [
        (selection(), [("namespace", "", "")]),
        (selection("app!=x,app notin (y)", "type!=x", "default"), [("namespace", "", "default")]),
        (selection("a=b,app in (web)", "type=x"), [("label", "a", "b"), ("label", "app", "web")]),
        (selection("app in (web,shop)", "type=x"), [("field", "type", "x")]),
        (selection(fields="immutable="), [("namespace", "", "")]),
        (ListSelection("default", (("a", "=", ("b",)),), "", ("type", "x")), [("index", "type", "x")]),
    ],
    ids=["everything", "none of use", "labels", "fields", "an absent field", "index"],
)
def test_it_is_found_by_traits_that_all_of_its_objects_have(plain: ListSelection, traits: list[Trait]) -> None:
    """Every object that a list selects has one of its traits: a value of an index, else labels, fields, a namespace."""
    assert plain.traits() == traits


@pytest.mark.parametrize(
    ("plain", "is_only"),
    [
        (selection(), True),
        (selection(namespace="default"), True),
        (selection("app=web"), True),
        (selection("app in (web)", namespace="default"), True),
        (ListSelection("default", index=("type", "x")), True),
        (selection("app!=web"), False),
        (selection(fields="immutable="), False),
        (selection("app=web,n!=7"), False),
        (selection("app=web", "type=x"), False),
        (ListSelection("default", (("a", "=", ("b",)),), "", ("type", "x")), False),
    ],
)
def test_a_trait_alone_is_known(plain: ListSelection, is_only: bool) -> None:
    """A list that selects by one trait and a namespace alone needs no second look at an object with that trait."""
    assert plain.is_only(plain.traits()[0]) == is_only
