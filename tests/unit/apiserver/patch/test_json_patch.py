"""Tests of JSON patch, where kube-apiserver differs from the RFC as well as where it follows it."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver._patch.json_patch import PatchFailed, apply_json_patch


def test_the_document_is_not_changed() -> None:
    """A patch returns a new document and leaves its argument as it was."""
    document = {"spec": {"replicas": 1}}
    patched = apply_json_patch(document, [{"op": "replace", "path": "/spec/replicas", "value": 3}])
    assert patched == {"spec": {"replicas": 3}}
    assert document == {"spec": {"replicas": 1}}


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ({"op": "add", "path": "/items/-", "value": "c"}, {"items": ["a", "b", "c"]}),
        ({"op": "add", "path": "/items/-1", "value": "c"}, {"items": ["a", "b", "c"]}),
        ({"op": "add", "path": "/items/0", "value": "c"}, {"items": ["c", "a", "b"]}),
        ({"op": "add", "path": "/x~1y~0z", "value": 1}, {"items": ["a", "b"], "x/y~z": 1}),
        ({"op": "add", "path": "/x~01", "value": 1}, {"items": ["a", "b"], "x~1": 1}),
        ({"op": "remove", "path": "/items/-1"}, {"items": ["a"]}),
        ({"op": "replace", "path": "/absent", "value": 1}, {"items": ["a", "b"], "absent": 1}),
        ({"op": "move", "from": "/items/0", "path": "/first"}, {"items": ["b"], "first": "a"}),
        ({"op": "copy", "from": "/absent", "path": "/null"}, {"items": ["a", "b"], "null": None}),
        ({"op": "test", "path": "/absent", "value": None}, {"items": ["a", "b"]}),
    ],
)
def test_an_operation_changes_the_document_as_in_kube_apiserver(operation: dict[str, Any], expected: object) -> None:
    """Each operation has the result that kube-apiserver gives, also where the RFC calls for an error."""
    assert apply_json_patch({"items": ["a", "b"]}, [operation]) == expected


def test_a_test_distinguishes_an_integer_from_a_float() -> None:
    """A test operation fails when a number is written in another way, so 1 is not 1.0."""
    with pytest.raises(PatchFailed, match=r"^testing value /replicas failed: test failed$"):
        apply_json_patch({"replicas": 1}, [{"op": "test", "path": "/replicas", "value": 1.0}])


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        ({"op": "merge", "path": "/a"}, "Unexpected kind: merge"),
        ({"op": "add", "value": 1}, "add operation failed to decode path: missing value"),
        (
            {"op": "remove", "path": "/b"},
            "error in remove for path: '/b': Unable to remove nonexistent key: b: missing value",
        ),
        (
            {"op": "add", "path": "/a/5", "value": 1},
            "error in add for path: '/a/5': Unable to access invalid index: 5: invalid index referenced",
        ),
    ],
)
def test_a_patch_that_does_not_apply_has_the_message_of_the_library(operation: dict[str, Any], message: str) -> None:
    """A patch that does not apply fails with the message that kube-apiserver shows to its clients."""
    with pytest.raises(PatchFailed) as failed:
        apply_json_patch({"a": []}, [operation])
    assert str(failed.value) == message
