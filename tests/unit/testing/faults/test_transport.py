"""The faulty transport: each fault, as the client gets it, and the requests that the server receives."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from random import Random

import pytest

from pyctrl.client import HttpRequest, HttpResponse, InProcessTransport
from pyctrl.errors import ConnectionFailed, RequestTimeout, StreamBroken, TransportError
from pyctrl.testing import (
    Answered,
    AnswerLost,
    Broken,
    ConnectionRefused,
    Delayed,
    Ended,
    Fault,
    FaultyTransport,
    Inserted,
    RandomFaults,
    Repeated,
    Rule,
    Silent,
)

PODS = HttpRequest(method="GET", path="/api/v1/pods")
WATCH = HttpRequest(method="GET", path="/api/v1/pods", query=(("watch", "true"),), timeout=None)
LINES = b"one\ntwo\nthree\n"


@dataclass(frozen=True)
class _Answer:
    status: int
    headers: Sequence[tuple[str, str]]
    body: bytes | AsyncIterator[bytes]


class Server:
    """Answers every request with three lines, in uneven chunks for a watch, and counts the requests."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.closed = 0

    async def handle(
        self, method: str, path: str, query: Sequence[tuple[str, str]], headers: Mapping[str, str], body: bytes
    ) -> _Answer:
        self.seen.append(f"{method} {path}")
        return _Answer(200, [], self._pieces() if ("watch", "true") in query else LINES)

    async def _pieces(self) -> AsyncIterator[bytes]:
        try:
            for piece in (b"on", b"e\ntw", b"o\nthree\n"):
                yield piece
                await asyncio.sleep(1)
        finally:
            self.closed += 1


def _faulty(*rules: Rule) -> tuple[FaultyTransport, Server]:
    server = Server()
    return FaultyTransport(InProcessTransport(server), rules), server


async def _read(transport: FaultyTransport, request: HttpRequest = WATCH, *, idle: float | None = None) -> list[bytes]:
    async with transport.stream(request, idle_timeout=idle) as stream:
        return [chunk async for chunk in stream.chunks()]


async def _until_broken(
    transport: FaultyTransport, error: type[Exception], *, idle: float | None = None
) -> list[bytes]:
    chunks: list[bytes] = []
    async with transport.stream(WATCH, idle_timeout=idle) as stream:
        with pytest.raises(error, match="scripted"):
            async for chunk in stream.chunks():
                chunks.append(chunk)
    return chunks


async def test_without_rules_nothing_changes() -> None:
    """Without rules, requests and streams pass unchanged, chunk by chunk, and are recorded."""
    transport, server = _faulty()

    assert (await transport.request(PODS)).body == LINES
    assert await _read(transport) == [b"on", b"e\ntw", b"o\nthree\n"]
    assert transport.requests == [PODS, WATCH]
    assert server.seen == ["GET /api/v1/pods"] * 2


@pytest.mark.parametrize("fault", [ConnectionRefused(), AnswerLost(), Broken()])
async def test_lost_requests_and_lost_answers(fault: Fault) -> None:
    """The server does not receive a refused request, but receives one whose response is lost, as matters for writes."""
    transport, server = _faulty(Rule(fault))

    with pytest.raises(ConnectionFailed if fault == ConnectionRefused() else StreamBroken, match="scripted"):
        await transport.request(PODS)

    assert server.seen == ([] if fault == ConnectionRefused() else ["GET /api/v1/pods"])
    assert (await transport.request(PODS)).status == 200


@pytest.mark.parametrize(("fault", "error"), [(ConnectionRefused(), ConnectionFailed), (AnswerLost(), StreamBroken)])
async def test_streams_that_do_not_begin(fault: Fault, error: type[Exception]) -> None:
    """A stream that is refused, or whose head is lost, fails on entry."""
    transport, server = _faulty(Rule(fault))

    with pytest.raises(error, match="scripted"):
        await _read(transport)

    assert server.seen == ([] if fault == ConnectionRefused() else ["GET /api/v1/pods"])


async def test_reset_in_the_body() -> None:
    """A stream breaks after the given lines and in the middle of the next."""
    transport, server = _faulty(Rule(Broken(lines=1)))

    assert await _until_broken(transport, StreamBroken) == [b"one\n", b"tw"]
    assert server.closed == 1


async def test_stream_that_ends_early() -> None:
    """A stream ends cleanly after the given lines, with zero at once."""
    transport, server = _faulty(Rule(Ended(lines=0)), Rule(Ended(lines=2), nth=2))

    assert await _read(transport) == []
    assert await _read(transport) == [b"one\n", b"two\n"]
    assert server.closed == 1  # the first one was closed before its start


async def test_half_open_silence() -> None:
    """After its lines a half-open stream sends nothing until the reader's idle timeout, at exactly that time."""
    transport, _ = _faulty(Rule(Silent(lines=1)))
    loop = asyncio.get_running_loop()

    assert await _until_broken(transport, RequestTimeout, idle=45) == [b"one\n"]
    assert loop.time() == pytest.approx(45 + 1)  # the first line is complete after one second


async def test_silence_instead_of_an_answer() -> None:
    """A request without response ends with its own timeout, and the server does not get the request."""
    transport, server = _faulty(Rule(Silent()))

    with pytest.raises(RequestTimeout, match="within 30"):
        await transport.request(PODS)

    assert asyncio.get_running_loop().time() == 30
    assert server.seen == []


async def test_line_put_in() -> None:
    """A garbage line or an ERROR event is inserted between the server's lines."""
    transport, _ = _faulty(Rule(Inserted(line=b"{garb", lines=1)), Rule(Inserted.error_event(410, "Expired"), nth=2))

    assert await _read(transport) == [b"one\n", b"{garb\n", b"two\n", b"three\n"]
    event = json.loads((await _read(transport))[0])
    assert (event["type"], event["object"]["code"], event["object"]["reason"]) == ("ERROR", 410, "Expired")


async def test_repeated_lines() -> None:
    """Every line comes twice."""
    transport, _ = _faulty(Rule(Repeated()))

    assert await _read(transport) == [b"one\n", b"one\n", b"two\n", b"two\n", b"three\n", b"three\n"]


async def test_slow_answers() -> None:
    """A delay applies to a whole response or to each line, and can exceed the client's timeouts."""
    transport, _ = _faulty(Rule(Delayed(timedelta(seconds=10)), times=None))
    loop = asyncio.get_running_loop()

    assert (await transport.request(PODS)).status == 200
    assert loop.time() == 10
    with pytest.raises(RequestTimeout):
        await transport.request(HttpRequest(method="GET", path="/", timeout=5))
    assert loop.time() == 15
    assert len(await _read(transport, idle=11)) == 3
    assert await _until_broken(transport, RequestTimeout, idle=9) == []


@pytest.mark.parametrize(
    ("fault", "status", "reason", "retry_after"),
    [
        (Answered.conflict(), 409, "Conflict", None),
        (Answered.expired(), 410, "Expired", None),
        (Answered.too_many_requests(retry_after=7), 429, "TooManyRequests", "7"),
        (Answered.unavailable(retry_after=2), 503, "ServiceUnavailable", "2"),
    ],
)
async def test_failures_as_answers(fault: Answered, status: int, reason: str, retry_after: str | None) -> None:
    """A scripted status looks like the API server's on requests and streams, and the server gets no request."""
    transport, server = _faulty(Rule(fault, times=2))

    response = await transport.request(PODS)
    async with transport.stream(WATCH) as stream:
        streamed = HttpResponse(status=stream.status, headers=stream.headers, body=await stream.read())

    for answer in (response, streamed):
        document = json.loads(answer.body)
        assert (answer.status, document["kind"], document["code"], document["reason"]) == (
            status,
            "Status",
            status,
            reason,
        )
        assert answer.headers.get("retry-after") == retry_after
    assert server.seen == []


async def test_rules_choose_requests() -> None:
    """A rule applies to the nth request of its method, path and query, as often as configured; others pass."""
    transport, _ = _faulty(
        Rule(Answered.expired(), query={"watch": "true"}, nth=2, times=2),
        Rule(Answered.conflict(), method="PUT", path="/apis/apps/*"),
    )
    put = HttpRequest(method="PUT", path="/apis/apps/v1/namespaces/a/deployments/b")

    watches = []
    for _ in range(4):
        async with transport.stream(WATCH) as stream:
            watches.append(stream.status)
    puts = [(await transport.request(put)).status for _ in range(2)]
    others = [(await transport.request(PODS)).status for _ in range(2)]

    assert watches == [200, 410, 410, 200]
    assert puts == [409, 200]
    assert others == [200, 200]
    assert len(transport.befallen) == 3


async def test_first_rule_wins_and_all_count() -> None:
    """Of two rules for one request the first applies, and the request counts for both."""
    transport, _ = _faulty(Rule(Answered.conflict()), Rule(Answered.expired(), nth=2))

    assert [(await transport.request(PODS)).status for _ in range(3)] == [409, 410, 200]


async def test_rules_come_and_go() -> None:
    """Rules added later count from then; unmatched rules are listed; clearing removes all faults."""
    transport, _ = _faulty()
    await transport.request(PODS)
    transport.add(Rule(Answered.conflict(), times=None), Rule(Ended()))

    assert (await transport.request(PODS)).status == 409
    assert transport.unused == [Rule(Ended())]
    transport.clear()
    assert (await transport.request(PODS)).status == 200


async def test_faults_of_streams_leave_requests_alone() -> None:
    """A fault for lines of a stream does not affect, or count, whole responses."""
    transport, _ = _faulty(Rule(Ended()))

    assert (await transport.request(PODS)).body == LINES
    assert await _read(transport) == []


async def test_reader_may_leave_a_faulty_stream() -> None:
    """A reader that stops in the middle leaves no task running, here or in the server."""
    transport, server = _faulty(Rule(Repeated()))

    async with transport.stream(WATCH) as stream:
        async for line in stream.chunks():
            assert line == b"one\n"
            break

    assert server.closed == 1


async def test_random_faults_repeat_with_their_seed() -> None:
    """A share of the requests fails in many ways, the same ones for the same seed; a share of zero fails none."""

    async def live(share: float) -> list[str]:
        random_faults = RandomFaults(Random(5), share=share)
        transport = FaultyTransport(InProcessTransport(Server()), random_faults=random_faults)
        for _ in range(200):
            with suppress(TransportError):
                await transport.request(PODS)
            with suppress(TransportError):
                async with transport.stream(WATCH, idle_timeout=60) as stream:
                    await stream.read()
        return [f"{request} {fault}" for request, fault in transport.befallen]

    befallen = await live(0.3)
    assert befallen == await live(0.3)
    assert 80 < len(befallen) < 160
    assert len({line.split("(")[0] for line in befallen}) > 8
    assert await live(0.0) == []


async def test_rules_come_before_random_faults() -> None:
    """A rule wins over random faults."""
    random_faults = RandomFaults(Random(5), share=1.0)
    transport = FaultyTransport(InProcessTransport(Server()), [Rule(Answered.conflict())], random_faults=random_faults)
    assert (await transport.request(PODS)).status == 409
    assert transport.unused == []
