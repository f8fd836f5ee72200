"""Reads and their readers."""

from __future__ import annotations

from pyctrl.controller import Request
from pyctrl.controller._reads.reader import ReaderCounts, ReadTarget, Subscriber


class Named(ReadTarget, gc=False, eq=False, kw_only=True):
    counts: ReaderCounts
    forgotten: int = 0

    def forget(self) -> None:
        self.forgotten += 1


def test_readers_are_kept_once_in_their_order_and_the_last_one_forgets_the_read() -> None:
    """A reader that comes twice counts once; without readers the read is forgotten, once."""
    read = Named(counts=ReaderCounts())
    first, second, third = (Subscriber(Request("default", name)) for name in "abc")
    for reader in (first, first, second, third, second):
        read.add(reader)
    assert [*read.readers] == [first, second, third]
    read.remove(first)
    read.remove(first)
    assert [*read.readers] == [second, third]
    for reader in (second, third):
        read.remove(reader)
    assert ([*read.readers], read.forgotten) == ([], 1)


def test_a_stranger_removes_nothing() -> None:
    """Removing a request that has not read leaves the only reader."""
    read = Named(counts=ReaderCounts())
    reader = Subscriber(Request("default", "a"))
    read.add(reader)
    read.remove(Subscriber(Request("default", "a")))
    assert [*read.readers] == [reader]
    assert read.forgotten == 0
