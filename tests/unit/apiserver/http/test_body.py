"""Request bodies: complete in any fragmentation, and refused when malformed or too large."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyctrl.apiserver._errors import StatusError
from pyctrl.apiserver._http.body import ChunkedBody, CountedBody


def take(body: ChunkedBody | CountedBody, arriving: list[bytes]) -> tuple[bytes | None, bytes]:
    """Feed the pieces one by one; return the body and the rest of the buffer."""
    buffer = bytearray()
    taken = None
    for piece in arriving:
        buffer += piece
        taken = taken if taken is not None else body.take(buffer)
    return taken, bytes(buffer)


def cut(data: bytes, places: list[int]) -> list[bytes]:
    marks = sorted({0, len(data), *(place % (len(data) + 1) for place in places)})
    return [data[start:end] for start, end in pairwise(marks)]


@given(st.lists(st.binary(min_size=1, max_size=40), max_size=6), st.lists(st.integers(0, 500), max_size=8))
def test_chunks_are_joined_wherever_they_are_cut(parts: list[bytes], places: list[int]) -> None:
    """The body is the content of the chunks; the data after it stays for the next request."""
    sent = b"".join(b"%x;note=1\r\n%b\r\n" % (len(part), part) for part in parts)
    sent += b"0\r\nTrailer: x\r\n\r\n" + b"GET /"

    taken, left = take(ChunkedBody(1000), cut(sent, places))

    assert (taken, left) == (b"".join(parts), b"GET /")


@given(st.binary(max_size=100), st.lists(st.integers(0, 200), max_size=5))
def test_a_counted_body_is_whole_or_not_there(data: bytes, places: list[int]) -> None:
    """The body has Content-Length bytes; the data after it stays."""
    taken, left = take(CountedBody(len(data), 1000), cut(data + b"more", places))
    assert (taken, left) == (data, b"more")
    assert take(CountedBody(len(data) + 1, 1000), [data])[0] is None


@pytest.mark.parametrize(
    ("sent", "why"),
    [
        (b"zz\r\n", "invalid byte in chunk length"),
        (b"\r\n", "empty hex number for chunk length"),
        (b"3\r\nabcd\r\n", "malformed chunked encoding"),
        (b"f" * 17 + b"\r\n", "http chunk length too large"),
        (b"1" * 5000, "header line too long"),
    ],
)
def test_what_are_no_chunks_is_refused(sent: bytes, why: str) -> None:
    """A malformed chunk is 500 with net/http's message, as in kube-apiserver."""
    with pytest.raises(StatusError) as refused:
        take(ChunkedBody(1000), [sent])
    assert (refused.value.code, refused.value.status["message"]) == (500, why)


def test_a_body_that_is_too_large_is_refused_before_it_is_read() -> None:
    """A Content-Length over the limit, or the sum of the chunk sizes, is refused."""
    for too_large in (lambda: CountedBody(1001, 1000), lambda: take(ChunkedBody(1000), [b"3e9\r\n"])):
        with pytest.raises(StatusError, match="limit is 1000") as refused:
            too_large()
        assert refused.value.code == 413
