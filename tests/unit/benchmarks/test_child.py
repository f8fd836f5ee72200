from __future__ import annotations

import json
import sys

import pytest
from _canned_answers import FIRST_VERSION, Answers
from _canned_encodings import Json
from _canned_objects import KINDS, objects
from _child import Child, Ended

ECHO = "import json, sys\nfor line in sys.stdin: print(json.dumps([json.loads(line)]), flush=True)"


def test_a_child_is_told_and_answers() -> None:
    """A child answers each line of JSON with one line of JSON."""
    with Child([sys.executable, "-IS", "-c", ECHO]) as child:
        assert child.ask("write", rate=100) == [{"do": "write", "rate": 100}]
        assert child.ask("take") == [{"do": "take"}]


def test_a_child_that_has_ended_says_so() -> None:
    """A caller gets an error instead of waiting for the answer of a child that has ended."""
    with Child([sys.executable, "-IS", "-c", ""]) as child:
        with pytest.raises(Ended):
            child.answer()
        child._process.wait()
        with pytest.raises(Ended):
            child.tell("anything")


@pytest.mark.parametrize("size", [1_500, 4_096, 10_240])
def test_canned_custom_resources_have_their_size_to_the_byte(size: int) -> None:
    """A canned custom resource has exactly the requested size in bytes."""
    made = objects(KINDS["widgets"], 20, size, 1)
    assert {len(data) for data in made} == {size}
    assert len({json.loads(data)["metadata"]["name"] for data in made}) == 20


@pytest.mark.parametrize("kind", KINDS)
def test_canned_objects_are_in_the_order_of_their_keys(kind: str) -> None:
    """Canned objects are in the order of their keys, as in kube-apiserver's lists."""
    keys = [json.loads(data)["metadata"] for data in objects(KINDS[kind], 120, 2_500, 1)]
    assert sorted(keys, key=lambda key: (key["namespace"], key["name"])) == keys


def test_a_change_is_of_the_same_object_with_the_next_version() -> None:
    """Each event changes only the version and the status of the object."""
    made = objects(KINDS["widgets"], 3, 4_096, FIRST_VERSION)
    events = bytes(Answers(Json(KINDS["widgets"]), made).changes(0, 3)).split(b"\r\n")[1::2]
    for number, (before, event) in enumerate(zip(map(json.loads, made), events, strict=False)):
        after = json.loads(event)["object"]
        assert after["metadata"].pop("resourceVersion") == str(FIRST_VERSION + 3 + 1 + number)
        assert after["status"].pop("readyReplicas") != before["status"].pop("readyReplicas")
        del before["metadata"]["resourceVersion"], after["apiVersion"], after["kind"]
        assert after == before
