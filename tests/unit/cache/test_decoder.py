"""Chunks become lines and events, wherever the network splits them."""

from __future__ import annotations

import json
from random import Random

import pytest

from pyctrl._backoff import Backoff
from pyctrl.cache._decoder import UndecodedEvent, read_events
from pyctrl.cache._index import Index
from tests.unit.cache._kit import record


def test_the_events_around_a_bad_line_are_not_lost() -> None:
    """A line that cannot be decoded is returned whole and in order among the decoded ones."""
    good = b'{"type":"ADDED","object":{}}\n'
    events = list(read_events(good + b"\n" + good + b"bad\n" + good))
    assert [event.type for event, _ in events] == ["ADDED", "ADDED", "", "ADDED"]
    assert isinstance(events[2][0], UndecodedEvent)
    assert events[2][1] == b"bad"


OBJECT = {"apiVersion": "v1", "metadata": {"name": "a\n}}", "resourceVersion": "1"}, "data": {"x": '","object":{}'}}
USUAL = json.dumps({"type": "ADDED", "object": OBJECT}, separators=(",", ":")).encode()


@pytest.mark.parametrize(
    "line",
    [
        USUAL,
        json.dumps({"type": "ADDED", "object": OBJECT}).encode(),  # spaces
        json.dumps({"object": OBJECT, "type": "ADDED"}, separators=(",", ":")).encode(),
        json.dumps({"type": "ADDED", "object": OBJECT, "more": {}}, separators=(",", ":")).encode(),
        USUAL + b" ",
        USUAL + b"\r",
        b"\n" + USUAL,
    ],
    ids=[
        "as API servers write it",
        "spaces",
        "another order",
        "another field",
        "a space after it",
        "CRLF",
        "an empty line",
    ],
)
def test_an_event_is_its_object_however_the_line_is_written(line: bytes) -> None:
    """An unusually formatted line among usual ones is decoded whole, with its name."""
    found = list(read_events(USUAL + b"\n" + line + b"\n" + USUAL + b"\n"))
    assert [json.loads(data) for _, data in found] == [OBJECT] * 3
    assert {(event.type, event.object.metadata and event.object.metadata.name) for event, _ in found} == {
        ("ADDED", "a\n}}")
    }


def test_waits_double_up_to_thirty_seconds_and_are_forgotten_when_healthy() -> None:
    """Backoff has full jitter up to a ceiling that doubles to 30 seconds; two minutes without a failure reset it."""
    backoff = Backoff(Random(1))
    now, ceiling = 0.0, 0.8
    for _ in range(10):
        wait = backoff.next(now)
        assert 0 <= wait <= ceiling
        now, ceiling = now + wait, min(30.0, ceiling * 2)
    assert max(backoff.next(now) for _ in range(50)) > 20
    assert backoff.next(now + 3600) <= 0.8


def test_an_index_forgets_the_values_that_an_object_no_longer_has() -> None:
    """An updated record is found only by its new values, or by none if the index function fails."""
    values = {"a": ["x", "y", "x"]}
    index = Index("test", lambda r: values[r.name])
    index.put(record("a", 1))
    assert [len(index.find(value)) for value in "xyz"] == [1, 1, 0]
    values["a"] = ["z"]
    index.put(record("a", 2))
    assert [len(index.find(value)) for value in "xyz"] == [0, 0, 1]
    del values["a"]
    index.put(record("a", 3))
    assert [len(index.find(value)) for value in "xyz"] == [0, 0, 0]
