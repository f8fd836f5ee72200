"""Fast path for metadata: accepted metadata is not changed by decoding and is valid."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyctrl._validation import names
from pyctrl.apiserver import ResourceRegistry
from pyctrl.apiserver._apiextensions.compiled_metadata import metadata_fields
from pyctrl.apiserver._fieldmanager.fieldset import all_fields, ordered
from pyctrl.apiserver._meta.validation import validate_metadata
from pyctrl.apiserver._schema.typed import DecodeFailed, decode

WORDS = st.sampled_from(["a", "", "A/b", "example.com/b", "-", "a.b", "x" * 64, "x" * 254])
VALUES = st.none() | WORDS | st.integers(0, 1) | st.lists(WORDS, max_size=2) | st.dictionaries(WORDS, WORDS, max_size=2)
KEYS = ("namespace", "labels", "annotations", "finalizers", "creationTimestamp", "generateName", "other")
METADATA = st.fixed_dictionaries({"name": WORDS}, optional=dict.fromkeys(KEYS, VALUES))
GOOD: dict[str, Any] = {
    "name": "a",
    "namespace": "default",
    "creationTimestamp": None,
    "labels": {"empty": "", "app.kubernetes.io/name": "x"},
    "annotations": {"example.com/Note": "anything: é"},
    "finalizers": ["example.com/last", "example.com/cleanup"],
}


def _node() -> Any:
    found = ResourceRegistry().find("", "v1", "configmaps")
    assert found is not None
    return found.schema.properties["metadata"]


@given(METADATA | st.just(GOOD), st.booleans())
def test_metadata_that_is_fine_is_left_as_it_is(metadata: dict[str, Any], is_namespaced: bool) -> None:
    """Accepted metadata is in Go's form and valid, and the fields are correct."""
    looked, walked = copy.deepcopy(metadata), copy.deepcopy(metadata)
    fields = metadata_fields(looked, is_namespaced=is_namespaced)
    if fields is None:
        return
    unknown: list[str] = []
    assert decode(_node(), walked, unknown) == looked
    assert unknown == []
    placed = {"namespace": "default", **looked} if is_namespaced else looked
    rule = names.subdomain
    assert validate_metadata(placed, namespaced=is_namespaced, name_rule=rule, standard_finalizers=False) == []
    owned = {key: value for key, value in looked.items() if key not in ("name", "namespace")}
    assert json.dumps(fields) == json.dumps(ordered(all_fields(_node(), owned)))


def test_common_metadata_passes() -> None:
    """Labels, annotations, finalizers and Go's null creationTimestamp are accepted."""
    assert metadata_fields(copy.deepcopy(GOOD), is_namespaced=True) is not None


@pytest.mark.parametrize("annotations", [{"a": "x" * 70_000}, {"a b": ""}])
def test_what_may_be_wrong_is_looked_at_closely(annotations: dict[str, str]) -> None:
    """Many annotations and invalid keys are not accepted."""
    assert metadata_fields({**GOOD, "annotations": annotations}, is_namespaced=True) is None


def test_reading_refuses_what_it_cannot_read() -> None:
    """A label that is not a string is not accepted, and decoding reports it."""
    metadata = {"name": "a", "labels": {"a": 1}}
    assert metadata_fields(metadata, is_namespaced=True) is None
    with pytest.raises(DecodeFailed, match="cannot unmarshal number"):
        decode(_node(), metadata, [])
