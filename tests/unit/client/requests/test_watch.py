"""Watch events, decoded from lines."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest

from pyctrl.api import CustomResource, Model
from pyctrl.client import Client
from pyctrl.errors import DecodeError, Expired
from tests.unit.client._fake_server import FakeServer


class WidgetSpec(Model):
    size: int


class Widget(CustomResource[WidgetSpec], group="demo.test", version="v1"):
    """A namespaced kind with a required field."""


async def lines(*chunks: bytes) -> AsyncIterator[bytes]:
    for chunk in chunks:
        yield chunk


async def test_watch_error_event(client: Client, server: FakeServer) -> None:
    """An ERROR event is raised as the error of its Status."""
    status = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old resource version"}
    server.reply(lines(json.dumps({"type": "ERROR", "object": status}).encode() + b"\n"))

    with pytest.raises(Expired, match="too old"):
        _ = [e async for e in client.watch(Widget)]


@pytest.mark.parametrize(
    "line", [b"garbage", b"[]", b'{"type": "NEWS", "object": {}}', b'{"type": "ERROR", "object": 1}']
)
async def test_watch_garbage(client: Client, server: FakeServer, line: bytes) -> None:
    """A line that is not an event raises DecodeError."""
    server.reply(lines(line + b"\n"))

    with pytest.raises(DecodeError):
        _ = [e async for e in client.watch(Widget)]


async def test_the_last_line_needs_no_line_end(client: Client, server: FakeServer) -> None:
    """An event whose line end is missing, because the server has ended the watch, is not lost."""
    event = {"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "7"}}}
    server.reply(lines(json.dumps(event).encode()))

    assert [each.resource_version async for each in client.watch(Widget)] == ["7"]


async def test_only_the_marked_bookmark_ends_a_streamed_list(client: Client, server: FakeServer) -> None:
    """A bookmark that only reports progress does not end the initial events."""
    marked = {"resourceVersion": "8", "annotations": {"k8s.io/initial-events-end": "true"}}
    events = [{"type": "BOOKMARK", "object": {"metadata": each}} for each in ({"resourceVersion": "7"}, marked)]
    server.reply(lines(*(json.dumps(event).encode() + b"\n" for event in events)))

    assert [each.is_initial_events_end async for each in client.watch(Widget)] == [False, True]
