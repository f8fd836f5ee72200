"""The source files on the path of a write, from `Client.update` to the socket."""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from types import FrameType

import pytest
from aiohttp import ClientRequest, web

import pyctrl
from pyctrl.api import Key
from pyctrl.client import Client, Config
from pyctrl.kinds.core.v1 import ConfigMap
from tests.unit.client._authority import Authority

SOURCES = str(Path(pyctrl.__file__).parent) + "/"
ANSWER = (
    b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"b","resourceVersion":"1",'
    b'"creationTimestamp":"2026-01-02T03:04:05Z"},"data":{"a":"b"}}'
)
PATH = [
    "client/_object_writer.py",
    "client/_requests/write_requests.py",
    "api/_object.py",
    "api/_model/model.py",
    "api/_model/fields_set.py",
    "api/_model/pending.py",
    "api/_times.py",
    "client/_requests/resource_client.py",
    "client/_transport/rest_client.py",
    "client/_transport/instrumented.py",
    "client/_transport/aiohttp.py",
    "client/_login/credentials.py",
]


async def _answer(request: web.Request) -> web.Response:
    await request.read()
    return web.Response(body=ANSWER, content_type="application/json")


def _files_to_socket(calls: list[str]) -> list[str]:
    end = next(place for place, call in enumerate(calls) if call.endswith(ClientRequest.send.__qualname__))
    return list(dict.fromkeys(call[len(SOURCES) :] for call in calls[:end] if call.startswith(SOURCES)))


@pytest.mark.real_time
@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_an_update_passes_twelve_files(scheme: str) -> None:
    """An update enters at most these twelve files, over HTTP as over HTTPS."""
    authority = Authority()
    tls = authority.server_context("127.0.0.1") if scheme == "https" else None
    application = web.Application()
    application.router.add_route("*", "/{path:.*}", _answer)
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls)
    await site.start()
    port = runner.addresses[0][1]
    calls: list[str] = []

    def record(frame: FrameType, event: str, argument: object) -> None:
        if event == "call":
            code = frame.f_code
            calls.append(code.co_filename if code.co_filename.startswith(SOURCES) else code.co_qualname)

    config = Config.from_token(f"https://127.0.0.1:{port}", "t", ca=authority.pem)
    if scheme == "http":
        config = Config(server=f"http://127.0.0.1:{port}")
    try:
        async with Client.connect(config) as client:
            obj = await client.get(ConfigMap, Key("b", "a"))
            obj.data["a"] = "c"
            await client.update(obj)
            gc.disable()  # a collection calls its callbacks and finalizers, here those of the tests' plugin
            sys.setprofile(record)
            try:
                await client.update(obj)
            finally:
                sys.setprofile(None)
                gc.enable()
    finally:
        await runner.cleanup()
    assert _files_to_socket(calls) == PATH
