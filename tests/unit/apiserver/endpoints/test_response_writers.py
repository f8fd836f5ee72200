"""Representations of objects, lists and watches: tables and PartialObjectMetadata."""

from __future__ import annotations

import json

import pytest

from pyctrl.apiserver import Upgrade
from tests.unit.apiserver._kit import CONFIGMAPS, Asker

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"

METADATA = "application/json;as=PartialObjectMetadata{};g=meta.k8s.io;v=v1"


def test_lists_and_objects_as_tables(ask: Asker) -> None:
    """A Table has columns, and a row with the metadata of every object."""
    ask.make("a", data={"k": "v"})
    for path in (CONFIGMAPS, f"{CONFIGMAPS}/a"):
        _, table = ask("GET", path, headers={"Accept": TABLE})
        assert (table["kind"], [column["name"] for column in table["columnDefinitions"]][:2]) == (
            "Table",
            ["Name", "Data"],
        )
        assert [row["cells"][0] for row in table["rows"]] == ["a"]


async def test_a_watch_as_table_describes_its_columns_once(ask: Asker) -> None:
    """Every event is a Table of one row; only the first has columns."""
    answer = await ask.server.handle("GET", CONFIGMAPS, [("watch", "1")], {"Accept": TABLE}, b"")
    assert not isinstance(answer.body, (bytes, Upgrade))
    described = []
    for name in "ab":
        ask.make(name)
        event = json.loads(await anext(answer.body))
        assert event["object"]["rows"][0]["cells"][0] == name
        described.append(event["object"]["columnDefinitions"] is not None)
    await answer.body.aclose()
    assert described == [True, False]


def test_metadata_of_objects_and_lists(ask: Asker) -> None:
    """PartialObjectMetadata has only the metadata."""
    made = ask.make("a", data={"k": "v"})
    _, one = ask("GET", f"{CONFIGMAPS}/a", headers={"Accept": METADATA.format("")})
    wanted = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": made["metadata"]}
    assert one == wanted
    _, many = ask("GET", CONFIGMAPS, headers={"Accept": METADATA.format("List")})
    assert (many["kind"], many["items"]) == ("PartialObjectMetadataList", [wanted])


@pytest.mark.parametrize("path", [CONFIGMAPS, f"{CONFIGMAPS}/a"])
def test_rows_carry_what_is_asked_for(ask: Asker, path: str) -> None:
    """includeObject selects the metadata, the whole object (for `kubectl get --sort-by`), or nothing."""
    made = ask.make("a", data={"k": "v"})
    partial = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": made["metadata"]}
    included = {"": partial, "Metadata": partial, "Object": made, "None": None}
    for include, wanted in included.items():
        _, table = ask("GET", path, headers={"Accept": TABLE}, includeObject=include)
        assert [row["object"] for row in table["rows"]] == [wanted]


async def test_rows_of_a_watch_carry_what_is_asked_for(ask: Asker) -> None:
    """includeObject applies to a watch, too."""
    query = [("watch", "1"), ("includeObject", "Object")]
    answer = await ask.server.handle("GET", CONFIGMAPS, query, {"Accept": TABLE}, b"")
    assert not isinstance(answer.body, (bytes, Upgrade))
    made = ask.make("a", data={"k": "v"})
    event = json.loads(await anext(answer.body))
    await answer.body.aclose()
    assert [row["object"] for row in event["object"]["rows"]] == [made]


def test_an_unknown_include_object_is_refused(ask: Asker) -> None:
    """An unknown includeObject is an error for a Table and ignored for other representations."""
    code, status = ask("GET", CONFIGMAPS, headers={"Accept": TABLE}, includeObject="All")
    why = "must be 'Metadata', 'Object', 'None', or empty"
    wanted = f'Unable to convert to Table as requested: includeObject: Invalid value: "All": {why}'
    assert (code, status["message"]) == (400, wanted)
    assert ask("GET", CONFIGMAPS, includeObject="All")[0] == 200
