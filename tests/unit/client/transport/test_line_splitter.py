"""Splitting a stream into lines."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pyctrl.client import LineSplitter


@given(st.binary(max_size=200).map(lambda b: b.replace(b"a", b"\n")), st.lists(st.integers(1, 7)))
def test_any_chunks_give_the_same_lines(data: bytes, sizes: list[int]) -> None:
    """The lines do not depend on the chunks; empty lines are omitted."""
    splitter = LineSplitter()
    lines: list[bytes] = []
    rest = data
    for size in [*sizes, len(data) + 1]:
        lines += splitter.feed(rest[:size])
        rest = rest[size:]

    *whole, tail = data.split(b"\n")
    assert lines == [line for line in whole if line]
    assert splitter.rest() == tail
    assert splitter.rest() == b""


@given(st.lists(st.binary(max_size=20).map(lambda b: b.replace(b"\n", b"")), max_size=8), st.data())
def test_blocks_of_lines_are_whole_wherever_they_were_cut(lines: list[bytes], data: st.DataObject) -> None:
    """Each block ends at a line end, and all blocks together are the stream."""
    stream = b"".join(line + b"\n" for line in lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=6)))
    splitter = LineSplitter()
    pieces = [stream[start:end] for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    blocks = [splitter.feed_block(piece) for piece in pieces if piece]
    assert b"".join(blocks) == stream
    assert all(not block or block.endswith(b"\n") for block in blocks)


def test_a_line_longer_than_any_buffer() -> None:
    """A line of 64 MB in chunks of 64 KB is returned whole, in linear time."""
    splitter = LineSplitter()
    chunk = b"x" * 65536
    for _ in range(1024):
        assert splitter.feed(chunk) == []

    (line,) = splitter.feed(b"\n")

    assert len(line) == 64 * 1024 * 1024
