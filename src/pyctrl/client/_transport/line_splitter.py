"""Splitting of chunked streams into lines in linear time."""

from __future__ import annotations

__all__ = ["LineSplitter"]


class LineSplitter:
    """Splitter of chunks into complete lines.

    A line may span any number of chunks. Its pieces are joined once, at its end, so the cost is linear in the bytes.
    """

    __slots__ = ("_pieces",)

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def feed(self, chunk: bytes) -> list[bytes]:
        """Return the lines that a chunk completes, without line ends and without empty lines."""
        return [line for line in self.feed_block(chunk).split(b"\n") if line]

    def feed_block(self, chunk: bytes) -> bytes:
        """Return the lines that a chunk completes in one piece, with line ends; b"" for none."""
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
        """Return and remove the data after the last line end."""
        pieces, self._pieces = self._pieces, []
        return b"".join(pieces)
