"""Splits a stream of chunks into lines, of any length, without reading a byte twice."""

from __future__ import annotations

__all__ = ["LineSplitter"]


class LineSplitter:
    """Feed it chunks as they come; it gives back each complete line, without its end and never an empty one.

    A line may span any number of chunks: the pieces are kept apart until its end has come and are joined once, so
    the work grows with the bytes, not with bytes times chunks.
    """

    __slots__ = ("_pieces",)

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def feed(self, chunk: bytes) -> list[bytes]:
        """Take a chunk and return the lines that it completes."""
        lines = chunk.split(b"\n")
        tail = lines.pop()
        if lines and self._pieces:
            lines[0] = b"".join((*self._pieces, lines[0]))
            self._pieces.clear()
        if tail:
            self._pieces.append(tail)
        return [line for line in lines if line]

    def rest(self) -> bytes:
        """Return what came after the last line's end, and forget it."""
        pieces, self._pieces = self._pieces, []
        return b"".join(pieces)
