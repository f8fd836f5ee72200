"""What a request shows of itself, and how the chunks of a stream are passed on."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

import pytest

from pyctrl.client import Headers, HttpRequest, HttpResponse
from pyctrl.client._transport.transport import deliver


class Chunks:
    """A stream of two chunks."""

    status = 200
    headers = Headers()

    async def read(self) -> bytes:
        return b"ab"

    async def chunks(self) -> AsyncIterator[bytes]:
        for chunk in (b"a", b"b"):
            yield chunk


class Delivering(Chunks):
    """A stream that passes its chunks on by itself."""

    async def deliver(self, take: Callable[[bytes], None]) -> None:
        take(b"delivered")


def test_secrets_are_not_shown() -> None:
    """The text of a request is its method and path, and the repr of neither side has headers' tokens or a body."""
    request = HttpRequest(method="PUT", path="/api", headers={"Authorization": "token"}, body=b"password")
    response = HttpResponse(status=200, headers=Headers(), body=b"password")
    assert str(request) == "PUT /api"
    assert not any(secret in repr(request) + repr(response) for secret in ("token", "password"))


@pytest.mark.parametrize(("stream", "expected"), [(Chunks(), [b"a", b"b"]), (Delivering(), [b"delivered"])])
async def test_each_chunk_is_passed_on(stream: Chunks, expected: list[bytes]) -> None:
    """A stream's chunks are passed on in order, by the stream itself if it can."""
    taken: list[bytes] = []
    await deliver(stream, taken.append)
    assert taken == expected
