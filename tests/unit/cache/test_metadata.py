"""Metadata read from the start of an object equals metadata from full decoding."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyctrl.cache._metadata import REMEMBERED, Details, DetailsReader, IdentityReader, MetadataReader, ObjectWith
from pyctrl.cache._record import RecordReader
from pyctrl.errors import DecodeError

# Keys and texts that could mislead a search in the bytes.
TRAPS = ["spec", "metadata", "managedFields", "creationTimestamp", "name", '","spec":', '}]},"spec":{', "x"]
TEXT = st.sampled_from(TRAPS) | st.text(max_size=5)
JSON = st.recursive(
    TEXT | st.integers(0, 9) | st.none(),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(TEXT, below, max_size=3),
    max_leaves=4,
)


@st.composite
def objects(draw: st.DrawFn) -> dict[str, Any]:
    """Generate objects with their keys in any order."""
    metadata: dict[str, Any] = {"name": "n", "resourceVersion": "7"}
    optional = {
        "namespace": st.just("ns"),
        "uid": st.just("u"),
        "generation": st.integers(1, 3),
        "creationTimestamp": st.just("2026-01-01T00:00:00Z"),
        "labels": st.dictionaries(TEXT, TEXT, max_size=3),
        "ownerReferences": st.just([{"uid": "o"}]),
        "managedFields": st.lists(st.dictionaries(TEXT, JSON, max_size=2), max_size=2),
        "other": JSON,
    }
    metadata |= {name: draw(value) for name, value in optional.items() if draw(st.booleans())}
    whole = {"metadata": _shuffled(draw, metadata), "spec": draw(JSON), "status": draw(JSON), "x": draw(JSON)}
    return _shuffled(draw, whole)


def _shuffled(draw: st.DrawFn, document: dict[str, Any]) -> dict[str, Any]:
    return {key: document[key] for key in draw(st.permutations(list(document)))}


@settings(max_examples=60, deadline=None)
@given(st.lists(objects(), min_size=1, max_size=2), st.booleans())
def test_whatever_the_order_of_keys_the_metadata_is_read_right(documents: list[dict[str, Any]], compact: bool) -> None:
    """Truncating the bytes does not change the metadata, also after objects of another shape."""
    identity, details = IdentityReader(), MetadataReader(ObjectWith[Details])
    for document in documents:
        data = json.dumps(document, separators=(",", ":") if compact else None).encode()
        metadata = document["metadata"]
        found = identity(data)
        assert (found.name, found.namespace or "", found.uid or "", found.resource_version) == (
            "n",
            metadata.get("namespace", ""),
            metadata.get("uid", ""),
            "7",
        )
        read = details(data)
        assert (read.labels or {}) == metadata.get("labels", {})
        assert (read.generation or 0) == metadata.get("generation", 0)
        assert [owner.uid for owner in read.owner_references or ()] == ["o"] * ("ownerReferences" in metadata)


@pytest.mark.parametrize(
    "data", [b"", b"[]", b"{}", b'{"metadata":{}}', b'{"metadata":{"name":"a"}}', b"\xff", b'{"metadata":']
)
def test_what_is_no_object_is_refused(data: bytes) -> None:
    """The error for JSON that is not an object shows the bytes."""
    with pytest.raises(DecodeError):
        RecordReader()(data)


def test_a_version_that_is_no_number_cannot_be_compared() -> None:
    """An object with a non-numeric version is kept with version 0."""
    assert RecordReader()(b'{"metadata":{"name":"a","resourceVersion":"opaque"}}').version == 0


def test_details_are_decoded_once_for_all_readers() -> None:
    """The details of the objects that were read last are shared; other objects have their own, even if equal."""
    read = DetailsReader()
    objects = [json.dumps({"metadata": {"name": f"n{n}", "resourceVersion": "7"}}).encode() for n in range(REMEMBERED)]
    details = [read(each) for each in objects]
    assert [each.name for each in details] == [f"n{n}" for n in range(REMEMBERED)]
    assert all(read(each) is found for each, found in zip(objects, details, strict=True))
    again = bytes(bytearray(objects[0]))
    assert read(again) is not details[0]
    assert read(again).name == "n0"
