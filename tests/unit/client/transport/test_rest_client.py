"""Errors and warnings in the server's responses."""

from __future__ import annotations

import logging

import pytest

from pyctrl.api import CustomResource, Key, Model
from pyctrl.client import Client, InProcessTransport, MergePatch, ServerWarning
from pyctrl.errors import ApiError, InternalError, Invalid, ServiceUnavailable
from pyctrl.kinds.core.v1 import Secret
from tests.unit.client._fake_server import FakeServer


class Widget(CustomResource[Model], group="demo.test", version="v1"):
    """A kind."""


KEY = Key("default", "a")
WIDGET = {"apiVersion": "demo.test/v1", "kind": "Widget", "metadata": {"name": "a", "namespace": "default"}}


async def test_warnings_reach_the_handler(server: FakeServer) -> None:
    """Each warning reaches the handler, unescaped and with its request."""
    seen: list[ServerWarning] = []
    client = Client(InProcessTransport(server), on_warning=seen.append)
    both = r'299 - "unknown field \"spec.x\"", 299 - "second"'
    server.reply(WIDGET, headers=[("Warning", both), ("Warning", '299 - "third"'), ("Warning", '199 - "not ours"')])

    await client.get(Widget, KEY)

    assert [warning.text for warning in seen] == ['unknown field "spec.x"', "second", "third"]
    assert seen[0].request == "GET /apis/demo.test/v1/namespaces/default/widgets/a"


async def test_warnings_are_logged(client: Client, server: FakeServer, caplog: pytest.LogCaptureFixture) -> None:
    """Without a handler a warning is logged, also for a refused request."""
    server.reply({}, status=500, headers=[("Warning", '299 - "deprecated"')])

    with caplog.at_level(logging.WARNING, "pyctrl.client"), pytest.raises(ApiError):
        await client.get(Widget, KEY)

    assert caplog.messages == ["Warning from the API server: deprecated"]


async def test_a_warning_is_logged_once(client: Client, server: FakeServer, caplog: pytest.LogCaptureFixture) -> None:
    """A client logs a repeated warning of the server only once."""
    for text in ("deprecated", "deprecated", "other"):
        server.reply(WIDGET, headers=[("Warning", f'299 - "{text}"')])

    with caplog.at_level(logging.WARNING, "pyctrl.client"):
        for _ in range(3):
            await client.get(Widget, KEY)

    assert caplog.messages == ["Warning from the API server: deprecated", "Warning from the API server: other"]


async def test_status(client: Client, server: FakeServer) -> None:
    """An error has the server's message, its code and the request."""
    server.refuse(500, "InternalError", "etcd is on fire", Retry_After="120")

    with pytest.raises(InternalError, match="etcd is on fire") as caught:
        await client.get(Widget, KEY)

    assert caught.value.request == "GET /apis/demo.test/v1/namespaces/default/widgets/a"
    assert caught.value.retry_after == 120


@pytest.mark.parametrize(
    ("body", "content_type", "shown"),
    [
        (b"upstream connect error", "text/plain", "the server answered 503: upstream connect error"),
        (b"<html><h1>503</h1></html>", "text/html", "the server answered 503: an HTML page, not an API response"),
        (b"", "", "the server answered 503: an empty body"),
        (b'{"error": "x"}', "application/json", 'the server answered 503: {"error": "x"}'),
        (b"\xff\xfe" * 1000, "application/octet-stream", "the server answered 503: \ufffd"),
    ],
)
async def test_bodies_that_are_no_status(
    client: Client, server: FakeServer, body: bytes, content_type: str, shown: str
) -> None:
    """A proxy's error page is an error of the code's class, with a short readable part of the page."""
    server.reply(body, status=503, headers=[("Content-Type", content_type)])

    with pytest.raises(ServiceUnavailable) as caught:
        await client.get(Widget, KEY)

    assert caught.value.message.startswith(shown)
    assert len(caught.value.message) < 400


async def test_redirects_are_failures(client: Client, server: FakeServer) -> None:
    """A redirect is not followed: an API server sends none, and a login page is not an object."""
    server.reply(b"", status=302, headers=[("Location", "https://login.example")])

    with pytest.raises(ApiError, match="302"):
        await client.get(Widget, KEY)


async def test_the_error_of_a_secret_does_not_quote_it(client: Client, server: FakeServer) -> None:
    """The values of a Secret that the server quotes in an error appear neither in its message nor in its causes."""
    quoted = 'Invalid value: "{\\"data\\":{\\"password\\":\\"aHVudGVyMg==\\"}}": json: cannot unmarshal'
    causes = [{"reason": "FieldValueInvalid", "message": quoted, "field": "data"}]
    status = {"kind": "Status", "apiVersion": "v1", "code": 422, "reason": "Invalid", "message": quoted}
    server.reply({**status, "details": {"causes": causes}}, status=422)
    server.reply({**status, "details": {"causes": causes}}, status=422)

    with pytest.raises(Invalid) as caught:
        await client.patch(Secret, KEY, MergePatch({"data": 1}))
    shown = f"{caught.value} {caught.value.message} {caught.value.status}"
    assert "aHVudGVyMg" not in shown
    assert shown.count("<secret contents redacted>") >= 2
    assert "json: cannot unmarshal" in shown

    with pytest.raises(Invalid, match="aHVudGVyMg"):  # of a kind without secrets
        await client.patch(Widget, KEY, MergePatch({"data": 1}))
