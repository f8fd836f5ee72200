"""Texts of values that Kubernetes keeps as they were sent."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pyctrl.apiserver._schema.raw_json import (
    RawObject,
    encode_with_texts,
    keep_texts,
    raw_path,
    without_texts,
)
from tests.unit.apiserver._kit import MERGE, Asker

REVISIONS = "/apis/apps/v1/namespaces/default/controllerrevisions"
PATHS = (raw_path("data"), raw_path("config[].parameters"))


def _kept(text: bytes) -> dict[str, Any]:
    obj: dict[str, Any] = json.loads(text)
    keep_texts(obj, text, PATHS)
    return obj


def test_a_text_with_spaces_is_another_value() -> None:
    """A value with the spaces of a client equals itself, not the same value with other spaces or without any."""
    spaced = _kept(b'{"data": {"a": 1}, "config": [{"parameters": {"b": "<"}}, {}]}')
    assert spaced == _kept(b'{"data": {"a": 1},"config": [{"parameters": {"b": "<"}},{}]}')
    assert spaced != _kept(b'{"data": {"a":1}, "config": [{"parameters": {"b": "<"}}, {}]}')
    assert spaced != _kept(b'{"data": {"a" :1}, "config": [{"parameters": {"b": "<"}}, {}]}')
    assert isinstance(spaced["config"][0]["parameters"], RawObject)


def test_a_text_without_spaces_is_a_plain_value() -> None:
    """A value that was sent without spaces, as Go and pyctrl send it, is a plain dict."""
    assert type(_kept(b'{"data":{"a":[1,"b c"]}}')["data"]) is dict


def test_texts_are_written_in_one_line() -> None:
    """An encoded object has the text of the client, without the line breaks that would end an event of a watch."""
    assert encode_with_texts(_kept(b'{"data": {"a":\n 1},"x": [ ]}'), PATHS) == b'{"data":{"a":  1},"x":[]}'


def test_a_patch_makes_values_plain_in_a_copy() -> None:
    """What a patch returns has plain values, and the live object keeps its texts."""
    live = _kept(b'{"data": {"a": 1}}')
    patched = without_texts(live, PATHS)
    assert (type(patched["data"]), patched["data"]) == (dict, {"a": 1})
    assert type(live["data"]) is RawObject


@pytest.mark.parametrize(("text", "code"), [(b'{"a": "b"}', 422), (b'{"a":"b"}', 200)])
def test_a_patch_changes_the_text_of_a_revision(ask: Asker, text: bytes, code: int) -> None:
    """A patch of labels is refused if the immutable data of a ControllerRevision was sent with spaces."""
    body = b'{"metadata": {"name": "r"}, "revision": 1, "data": %s}' % text
    assert ask("POST", REVISIONS, body)[0] == 201
    found, answer = ask("PATCH", f"{REVISIONS}/r", {"metadata": {"labels": {"a": "b"}}}, headers=MERGE)
    assert found == code
    assert code == 200 or answer["details"]["causes"][0]["message"] == 'Invalid value: {"a":"b"}: field is immutable'


def test_a_replace_with_the_same_text_changes_nothing(ask: Asker) -> None:
    """A client that sends its body again writes the same data, and no new version."""
    body = b'{"metadata": {"name": "r"}, "revision": 1, "data": {"a": "b"}}'
    _, made = ask("POST", REVISIONS, body)
    code, replaced = ask("PUT", f"{REVISIONS}/r", body)
    assert (code, replaced["metadata"]["resourceVersion"]) == (200, made["metadata"]["resourceVersion"])


def test_a_device_class_whose_text_changes_has_another_generation(ask: Asker) -> None:
    """A patch that changes nothing else increments the generation of a class whose parameters had spaces."""
    classes = "/apis/resource.k8s.io/v1/deviceclasses"
    opaque = {"driver": "a.example.com", "parameters": {"a": 1}}
    ask("POST", classes, {"metadata": {"name": "c"}, "spec": {"config": [{"opaque": opaque}]}})
    generations = [ask("PATCH", f"{classes}/c", {}, headers=MERGE)[1]["metadata"]["generation"] for _ in range(2)]
    assert generations == [2, 2]


def test_an_apply_makes_values_plain(ask: Asker) -> None:
    """An apply to a ControllerRevision whose data was sent with spaces is refused, because the text would change."""
    ask("POST", REVISIONS, b'{"metadata": {"name": "r"}, "revision": 1, "data": {"a": "b"}}')
    head = {"apiVersion": "apps/v1", "kind": "ControllerRevision", "revision": 1}
    headers = {"Content-Type": "application/apply-patch+yaml"}
    body = {**head, "metadata": {"name": "r", "labels": {"a": "b"}}}
    assert ask("PATCH", f"{REVISIONS}/r", body, headers=headers, fieldManager="m", force="true")[0] == 422
