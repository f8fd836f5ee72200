"""The watch handler with split lines and with objects of non-conforming servers."""

from __future__ import annotations

import json
from contextlib import suppress
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyctrl.cache._coverage import Coverage, ListQuery, label_selector
from pyctrl.cache._lister import Lister
from pyctrl.cache._record import RecordReader
from pyctrl.cache._transform import bytes_transform
from pyctrl.cache._watch_errors import EventLost
from pyctrl.cache._watch_handler import WatchHandler
from pyctrl.errors import ApiError, DecodeError
from tests.unit.cache._kit import CONFIGMAP, body
from tests.unit.cache._scripted import bookmark, event, page

TRIES = 6  # a line is requested again once, then one new list is made


class Desk:
    """A watch handler and its lister; `take` acts as a reflector."""

    def __init__(self, *, transformed: bool = False) -> None:
        reader = RecordReader(bytes_transform(dict, True) if transformed else bytes_transform(None, True))
        self.lister = Lister(CONFIGMAP, reader)
        self.handler = WatchHandler(self.lister.add_writer(Coverage(), []), reader, self.lister.unreadable)

    def take(self, *lines: bytes) -> None:
        """Take lines as a reflector that resumes after each failure, with the server sending them again."""
        for _ in range(TRIES):
            self.handler.begin_answer()
            try:
                for line in lines:
                    self.handler.take_lines(line)
            except EventLost:
                continue  # here a list would follow, without changes
            except (DecodeError, ApiError):
                continue
            return
        raise AssertionError("not survived")

    def names(self) -> set[str]:
        """Return the names of all objects; each of them can be read."""
        found = self.lister.select(ListQuery(labels=label_selector("!none")))
        for record in found:
            _ = record.labels, record.owners, record.finalizers, record.is_gone, record.field("data.x")
            with suppress(DecodeError):
                record.decode(CONFIGMAP)
        return {record.name for record in found}


def _meta(**more: object) -> dict[str, object]:
    return {"name": "odd", "namespace": "default", "resourceVersion": "3", "uid": "u", **more}


def _text(document: object) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode()


def _with_spec(spec: bytes) -> bytes:
    return _text({"metadata": _meta()})[:-1] + b',"spec":' + spec + b"}"


def test_a_line_may_come_in_several_chunks() -> None:
    """Lines may be split into chunks anywhere."""
    desk = Desk()
    desk.handler.take_page(page(1).body)
    whole = b"".join(event("ADDED", body(name, version)) for name, version in (("a", 2), ("b", 3), ("c", 4)))

    for chunk in (whole[:7], whole[7:90], whole[90:-1]):
        desk.handler.take_chunk(chunk)
    assert desk.names() == {"a", "b"}

    desk.handler.take_chunk(whole[-1:])
    assert desk.names() == {"a", "b", "c"}


def test_the_beginning_of_a_line_is_dropped_with_its_connection() -> None:
    """A partial line is dropped with its connection; the server sends the event again in full."""
    desk = Desk()
    desk.handler.take_page(page(1).body)
    line = event("ADDED", body("a", 2))
    desk.handler.take_chunk(line[:20])

    desk.handler.begin_answer()
    desk.handler.take_chunk(line)

    assert desk.names() == {"a"}


def test_a_bookmark_moves_the_position_to_resume_at() -> None:
    """After a bookmark the watch resumes at its version, and the cache has everything up to it."""
    desk = Desk()
    desk.handler.take_page(page(5).body)

    desk.handler.take_lines(bookmark(9))

    assert desk.handler.position == "9"
    assert desk.lister.writers[0].progress == 9


@pytest.mark.parametrize("kind", ["ADDED", "MODIFIED", "DELETED"])
@pytest.mark.parametrize("version", ["9", "opaque"])
def test_each_event_moves_the_position_to_resume_at(kind: str, version: str) -> None:
    """After an event the watch resumes at its version, also at a version that is not a number."""
    desk = Desk()
    desk.handler.take_page(page(5, body("a", 5)).body)

    desk.handler.take_lines(event(kind, body("a", 9).replace(b'"9"', _text(version))))

    assert desk.handler.position == version


def test_only_the_bookmark_that_says_so_ends_a_streamed_list() -> None:
    """A bookmark among the initial events neither ends the list nor gives a position: objects may be missing yet."""
    desk = Desk()
    desk.handler.begin_list()

    desk.handler.take_lines(event("ADDED", body("a", 2)) + bookmark(3))
    assert (desk.handler.position, desk.handler.lists) == (None, 0)

    desk.handler.take_lines(event("ADDED", body("b", 3)) + bookmark(4, ends_list=True))
    assert (desk.handler.position, desk.handler.lists) == ("4", 1)


def test_an_event_that_may_have_been_damaged_is_requested_again() -> None:
    """An event that cannot be decoded is refused at first, and the watch resumes after the last event before it."""
    desk = Desk()
    desk.handler.take_page(page(5).body)
    good, damaged = event("ADDED", body("a", 6)), event("ADDED", body("b", 7, data={"k": "#"}).replace(b'"#"', b"#"))

    with pytest.raises(DecodeError) as refused:
        desk.handler.take_lines(good + damaged + event("ADDED", body("c", 8)))
    assert refused.type is DecodeError  # not EventLost, which makes a list
    assert (desk.handler.position, desk.names()) == ("6", {"a"})

    desk.handler.begin_answer()
    desk.handler.take_lines(event("ADDED", body("b", 7)) + event("ADDED", body("c", 8)))
    assert (desk.handler.position, desk.names()) == ("8", {"a", "b", "c"})


#: Objects that real and broken servers send, or could send; none may affect the good objects around it.
CORPUS = {
    "999 levels": _with_spec(b"[" * 999 + b"]" * 999),
    "10,000 levels, kube-apiserver's limit": _with_spec(b'{"a":' * 10_000 + b"1" + b"}" * 10_000),
    "30,000 levels": _with_spec(b"[" * 30_000 + b"]" * 30_000),
    "levels without an end": _with_spec(b"[" * 5_000),
    "deep labels": _text({"metadata": _meta(labels="L")}).replace(b'"L"', b"[" * 2000 + b"]" * 2000),
    "deep metadata": _text({"metadata": "M"}).replace(b'"M"', b"[" * 2000 + b"]" * 2000),
    "deep before metadata": b'{"a":' + b"[" * 2000 + b"]" * 2000 + b"," + _text({"metadata": _meta()})[1:],
    "a megabyte": _with_spec(_text("x" * 1_000_000)),
    "many quotes": _with_spec(_text('"\\' * 20_000)),
    "not UTF-8 in a name": _text({"metadata": _meta(name="N")}).replace(b'"N"', b'"\xff"'),
    "not UTF-8 in a value": _with_spec(b'"\xff\xfe"'),
    "not UTF-8 in a key": _with_spec(b'{"\xff":1}'),
    "half a surrogate": _with_spec(b'"\\ud800"'),
    "half a surrogate in a name": _text({"metadata": _meta(name="N")}).replace(b'"N"', b'"\\ud800"'),
    "a control character": _with_spec(b'"\x00"'),
    "a huge integer": _with_spec(b"9" * 10_000),
    "a huge exponent": _with_spec(b"1e99999"),
    "a huge generation": _text({"metadata": _meta(generation="G")}).replace(b'"G"', b"9" * 10_000),
    "a huge resource version": _text({"metadata": _meta(resourceVersion="9" * 10_000)}),
    "a negative resource version": _text({"metadata": _meta(resourceVersion="-1")}),
    "a resource version that is no number": _text({"metadata": _meta(resourceVersion="opaque")}),
    "a resource version as a number": _text({"metadata": _meta(resourceVersion=3)}),
    "no resource version": _text({"metadata": _meta(resourceVersion=None)}),
    "the name twice": b'{"metadata":{"name":"x","name":"odd","resourceVersion":"3"}}',
    "metadata twice": b'{"metadata":{},"metadata":{"name":"odd","resourceVersion":"3"}}',
    "a name that is a number": _text({"metadata": _meta(name=5)}),
    "labels that are no strings": _text({"metadata": _meta(labels={"a": 1})}),
    "owners that are no list": _text({"metadata": _meta(ownerReferences="me")}),
    "finalizers that are no strings": _text({"metadata": _meta(finalizers=[1])}),
    "no metadata": b'{"data":{}}',
    "metadata null": b'{"metadata":null}',
    "a list": b"[]",
    "null": b"null",
    "nothing": b"",
    "a string": b'"x"',
    "not JSON": b"<html>",
    "a byte order mark": b"\xef\xbb\xbf" + _text({"metadata": _meta()}),
    "cut off": _text({"metadata": _meta(), "spec": {"a": 1}})[:-9],
}
GOOD = (event("ADDED", body("before", 2)), event("MODIFIED", body("after", 9)))


@pytest.mark.parametrize("odd", CORPUS.values(), ids=CORPUS.keys())
def test_an_odd_object_does_not_keep_others_from_arriving(odd: bytes) -> None:
    """An odd object does not affect the objects before and after it, in lists and in watches."""
    for kind, is_listing in (("ADDED", True), ("MODIFIED", False), ("DELETED", False)):
        desk = Desk()
        desk.handler.begin_list()
        if not is_listing:
            desk.take(bookmark(1, ends_list=True))
        desk.take(GOOD[0], event(kind, odd), GOOD[1])
        desk.take(bookmark(20, ends_list=True))
        assert desk.names() - {"odd", "x", "\ufffd", "\\ud800"} == {"before", "after"}


@pytest.mark.parametrize("odd", CORPUS.values(), ids=CORPUS.keys())
def test_an_odd_item_of_a_page_does_not_keep_others_from_arriving(odd: bytes) -> None:
    """A page with an odd item is read without the item, or refused as a whole if it is not JSON."""
    desk = Desk(transformed=True)
    for _ in range(3):
        desk.handler.begin_list()
        desk.handler.begin_answer()
        try:
            desk.handler.take_page(page(20, body("before", 2), odd, body("after", 9)).body)
        except DecodeError:
            continue
        assert {"before", "after"} <= desk.names()
        return
    try:
        json.loads(page(20, odd).body)
    except (ValueError, RecursionError):
        return
    raise AssertionError("a page that is JSON was refused")


@pytest.mark.parametrize("odd", CORPUS.values(), ids=CORPUS.keys())
def test_odd_notices_do_not_keep_others_from_arriving(odd: bytes) -> None:
    """Malformed bookmarks and events of unknown types are skipped; every error event raises."""
    for kind in (b"BOOKMARK", b"ODD", b"\xff"):
        desk = Desk()
        desk.handler.begin_list()
        desk.take(bookmark(1, ends_list=True))
        desk.take(GOOD[0], b'{"type":"%s","object":%s}\n' % (kind, odd), GOOD[1])
        assert desk.names() == {"before", "after"}
    if b"\x00" not in odd:
        with pytest.raises((ApiError, DecodeError)):
            Desk().handler.take_lines(event("ERROR", odd))


_names = st.sampled_from(["name", "namespace", "resourceVersion", "labels", "uid", "metadata", "type", "object", "a"])
_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_names | st.text(max_size=3), inner, max_size=4),
    max_leaves=8,
)


@settings(max_examples=60)
@given(st.lists(_json, max_size=4), st.binary(max_size=30), st.integers(0, 3), st.integers(0, 2**32))
def test_whatever_comes_is_survived(documents: list[object], junk: bytes, levels: int, seed: int) -> None:
    """Random, damaged and nested documents do not prevent good objects around them from arriving."""
    random = Random(seed)
    lines = []
    for document in documents:
        odd = b"[" * (levels * 700) + json.dumps(document).encode() + b"]" * (levels * 700)
        if random.random() < 0.5:
            at = random.randrange(len(odd))
            odd = odd[:at] + junk + odd[at + random.randrange(2) :]
        lines.append(event(random.choice(["ADDED", "MODIFIED", "DELETED", "BOOKMARK"]), odd.replace(b"\n", b"")))
    desk = Desk()
    desk.handler.begin_list()
    desk.take(*lines, event("ADDED", body("good", 10**9)), bookmark(10**9, ends_list=True))
    assert "good" in desk.names()
