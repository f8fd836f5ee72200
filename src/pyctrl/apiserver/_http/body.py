"""The body of an HTTP/1.1 request, taken out of what a connection has received: counted, or in chunks."""

from __future__ import annotations

from pyctrl.apiserver._errors import StatusError, request_entity_too_large

SIZE_LIMIT = 4096  # bytes of a line that gives the size of a chunk; net/http's own


class CountedBody:
    """A body whose length is known.

    Raises:
        Refused: 413, it would be larger than the limit.
    """

    def __init__(self, length: int, limit: int) -> None:
        if length > limit:
            raise request_entity_too_large(limit)
        self._length = length

    def take(self, buffer: bytearray) -> bytes | None:
        """Take the body out of the buffer; None while it is not whole."""
        if len(buffer) < self._length:
            return None
        body = bytes(buffer[: self._length])
        del buffer[: self._length]
        return body


class ChunkedBody:
    """A body that comes in chunks; what is behind the last one is read and dropped."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0  # of the parts
        self._missing = -1  # bytes of the chunk that is being read; -1 before its size is known
        self._is_over = False  # the last chunk was read: only trailers may follow

    def take(self, buffer: bytearray) -> bytes | None:
        """Take what there is out of the buffer; the body once it is whole, None before.

        Raises:
            Refused: 500, these are no chunks; 413, they have grown beyond the limit.
        """
        while self._step(buffer):
            if self._is_over and self._missing == 0:
                return b"".join(self._parts)
        return None

    def _step(self, buffer: bytearray) -> bool:
        """Take one line or chunk; False when it has not come yet."""
        if self._is_over or self._missing < 0:
            return self._line(buffer)
        if len(buffer) < self._missing + 2:
            return False
        if buffer[self._missing : self._missing + 2] != b"\r\n":
            raise _malformed("malformed chunked encoding")
        self._parts.append(bytes(buffer[: self._missing]))
        del buffer[: self._missing + 2]
        self._missing = -1
        return True

    def _line(self, buffer: bytearray) -> bool:
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
            self._begin(line)
        return True

    def _begin(self, line: bytes) -> None:
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
    """Refuse what are no chunks, in net/http's words; kube-apiserver passes them on like this."""
    status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": why, "code": 500}
    return StatusError(500, status)
