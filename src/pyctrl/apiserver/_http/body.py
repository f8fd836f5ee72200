"""Bodies of HTTP/1.1 requests, with a Content-Length or chunked, read from the buffer of a connection."""

from __future__ import annotations

from pyctrl.apiserver._errors import StatusError, request_entity_too_large

__all__ = ["ChunkedBody", "CountedBody"]

SIZE_LIMIT = 4096  # bytes of the line with the size of a chunk, as in net/http


class CountedBody:
    """A body with a Content-Length.

    Raises:
        StatusError: 413, it is larger than the limit.
    """

    def __init__(self, length: int, limit: int) -> None:
        if length > limit:
            raise request_entity_too_large(limit)
        self._length = length

    def take(self, buffer: bytearray) -> bytes | None:
        """Remove the body from the buffer and return it; None while it is incomplete."""
        if len(buffer) < self._length:
            return None
        body = bytes(buffer[: self._length])
        del buffer[: self._length]
        return body


class ChunkedBody:
    """A chunked body; trailers are read and dropped."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0  # of the parts
        self._missing = -1  # bytes of the current chunk; -1 before its size is known
        self._is_over = False  # the last chunk was read; only trailers follow

    def take(self, buffer: bytearray) -> bytes | None:
        """Remove received chunks from the buffer; return the body when it is complete, None before.

        Raises:
            StatusError: 500, the chunked encoding is malformed; 413, the body is larger than the limit.
        """
        while self._step(buffer):
            if self._is_over and self._missing == 0:
                return b"".join(self._parts)
        return None

    def _step(self, buffer: bytearray) -> bool:
        """Read one line or chunk; return False when it is incomplete."""
        if self._is_over or self._missing < 0:
            return self._read_line(buffer)
        if len(buffer) < self._missing + 2:
            return False
        if buffer[self._missing : self._missing + 2] != b"\r\n":
            raise _malformed("malformed chunked encoding")
        self._parts.append(bytes(buffer[: self._missing]))
        del buffer[: self._missing + 2]
        self._missing = -1
        return True

    def _read_line(self, buffer: bytearray) -> bool:
        end = buffer.find(b"\n")
        if end < 0:
            if len(buffer) > SIZE_LIMIT:
                raise _malformed("header line too long")
            return False
        line = bytes(buffer[:end]).rstrip(b"\r")
        del buffer[: end + 1]
        if self._is_over:
            self._missing = 0 if not line else -1  # an empty line ends the trailers
        else:
            self._begin_chunk(line)
        return True

    def _begin_chunk(self, line: bytes) -> None:
        digits = line.partition(b";")[0].strip()
        if not digits:
            raise _malformed("empty hex number for chunk length")
        if digits.strip(b"0123456789abcdefABCDEF"):
            raise _malformed("invalid byte in chunk length")
        if len(digits) > 16:
            raise _malformed("http chunk length too large")
        size = int(digits, 16)
        self._size += size
        if self._size > self._limit:
            raise request_entity_too_large(self._limit)
        self._is_over, self._missing = size == 0, size or -1


def _malformed(why: str) -> StatusError:
    """Return the error for a malformed chunked encoding; kube-apiserver reports net/http's message in this form."""
    status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": why, "code": 500}
    return StatusError(500, status)
