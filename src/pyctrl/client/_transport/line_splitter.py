"""Splits a stream of chunks into lines, of any length, without reading a byte twice."""

from __future__ import annotations

__all__ = ["LineSplitter"]


class LineSplitter:
    """Feed it chunks as they come; it gives back the lines that are complete.

    A line may span any number of chunks: the pieces are kept apart until its end has come and are joined once, so
    the work grows with the bytes, not with bytes times chunks.
    """

    __slots__ = ("_pieces",)

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def feed(self, chunk: bytes) -> list[bytes]:
        """Take a chunk and return the lines that it completes, without their ends and never an empty one."""
        return [line for line in self.feed_block(chunk).split(b"\n") if line]

    def feed_block(self, chunk: bytes) -> bytes:
        """Take a chunk and return the lines that it completes, in one piece and each with its end; b"" for none."""
        end = chunk.rfind(b"\n") + 1
        if not end:
            self._pieces.append(chunk)
            return b""
        lines = chunk if end == len(chunk) else chunk[:end]
        if self._pieces:
            lines = b"".join((*self._pieces, lines))
            self._pieces.clear()
        if end < len(chunk):
            self._pieces.append(chunk[end:])
        return lines

    def rest(self) -> bytes:
        """Return what came after the last line's end, and forget it."""
        pieces, self._pieces = self._pieces, []
        return b"".join(pieces)
