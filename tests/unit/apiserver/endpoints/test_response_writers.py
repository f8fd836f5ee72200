"""Representations of objects, lists and watches: tables and PartialObjectMetadata."""

from __future__ import annotations

import json

import pytest

from pyctrl.apiserver import Upgrade
from tests.unit.apiserver._kit import CONFIGMAPS, MERGE, Asker

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


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_metadata_has_the_accepted_version(ask: Asker, version: str) -> None:
    """Objects and lists of both versions of the group of metadata."""
    ask.make("a")
    for path, suffix in ((f"{CONFIGMAPS}/a", ""), (CONFIGMAPS, "List")):
        _, found = ask("GET", path, headers={"Accept": METADATA.format(suffix).replace("v=v1", f"v={version}")})
        assert {each["apiVersion"] for each in (found, *found.get("items", ()))} == {f"meta.k8s.io/{version}"}


def test_objects_that_are_not_stored_have_the_accepted_form(ask: Asker) -> None:
    """The response to a dry run or to a completed delete is a table, or metadata, as that to other requests."""
    pods = "/api/v1/namespaces/default/pods"
    pod = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    for accept, kind in ((TABLE, "Table"), (METADATA.format(""), "PartialObjectMetadata")):
        headers = {"Accept": accept}
        assert ask("POST", pods, pod, headers=headers, dryRun="All")[1]["kind"] == kind
        ask("POST", pods, pod)
        patch = {"metadata": {"labels": {"a": "b"}}}
        assert ask("PATCH", f"{pods}/p", patch, headers={**MERGE, **headers}, dryRun="All")[1]["kind"] == kind
        assert ask("DELETE", f"{pods}/p", {"gracePeriodSeconds": 0}, headers=headers)[1]["kind"] == kind


def test_a_refusal_has_the_media_type_that_the_client_accepts(ask: Asker) -> None:
    """A client that prefers YAML reads errors in YAML; one that accepts nothing of the server reads JSON."""
    for accept, media, start in (
        ("application/yaml", "application/yaml", b"apiVersion: v1\ncode: 404\n"),
        ("application/json, application/yaml", "application/json", b'{"kind":"Status"'),
        ("application/yaml;as=Nothing", "application/json", b'{"kind":"Status"'),
    ):
        answer = ask.answer("GET", f"{CONFIGMAPS}/a", headers={"Accept": accept})
        assert dict(answer.headers)["Content-Type"] == media
        assert isinstance(answer.body, bytes)
        assert answer.body.startswith(start)


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
