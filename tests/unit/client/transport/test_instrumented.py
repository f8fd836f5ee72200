"""How requests are counted: by their method and code, with their sizes, and their retries."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager

import pytest

from pyctrl.client import Headers, HttpRequest, HttpResponse, HttpStream
from pyctrl.client._transport.instrumented import NO_ANSWER, InstrumentedTransport
from pyctrl.errors import ConnectionFailed

REQUEST = HttpRequest(method="GET", path="/api/v1/pods")


class Answers:
    """A transport that answers once, and cannot connect afterwards."""

    def __init__(self) -> None:
        self.left = 1

    async def request(self, request: HttpRequest) -> HttpResponse:
        if not self.left:
            raise ConnectionFailed("no route")
        self.left -= 1
        return HttpResponse(status=404, headers=Headers(), body=b"none")

    def stream(
        self, request: HttpRequest, *, idle_timeout: float | None = None
    ) -> AbstractAsyncContextManager[HttpStream]:
        raise AssertionError("these tests open no stream")

    async def aclose(self) -> None: ...


def samples(transport: InstrumentedTransport, name: str) -> list[object]:
    """Return the samples of a metric."""
    (family,) = [family for family in transport.collect_metrics() if family.name == name]
    return list(family.samples)


async def test_requests_are_counted_by_code_and_method_even_without_an_answer() -> None:
    """A response is counted with its status, and a request without one as an error, under the server's host alone."""
    transport = InstrumentedTransport(Answers(), server="https://user:password@kind:6443/")
    await transport.request(REQUEST)
    with pytest.raises(ConnectionFailed):
        await transport.request(REQUEST)
    assert samples(transport, "rest_client_requests_total") == [
        ({"code": code, "method": "GET", "host": "kind:6443"}, 1) for code in ("404", NO_ANSWER)
    ]


def test_retries_are_counted_by_the_code_before_them() -> None:
    """Each retry is counted with the code of the response that it follows."""
    transport = InstrumentedTransport(Answers())
    for code in ("429", "429", NO_ANSWER):
        transport.retried(REQUEST, code)
    assert samples(transport, "rest_client_request_retries_total") == [
        ({"code": "429", "verb": "GET", "host": ""}, 2),
        ({"code": NO_ANSWER, "verb": "GET", "host": ""}, 1),
    ]
