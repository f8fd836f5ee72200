"""The pages /statusz and /flagz in their forms, compared with kube-apiserver 1.36.2."""

from __future__ import annotations

import asyncio
import json

import pytest
import yaml

from pyctrl.apiserver import ApiServer, Response
from pyctrl.testing import run_virtual

STRUCTURED = "application/json;v={};g=config.k8s.io;as=Statusz"
ACCEPTED = "only the following media types are accepted: application/json, application/yaml, text/plain"


def _get(accept: str = "", server: ApiServer | None = None) -> Response:
    headers = {"Accept": accept} if accept else {}
    return (server or ApiServer()).handle_nowait("GET", "/statusz", headers=headers)


def _text(answer: Response) -> str:
    assert isinstance(answer.body, bytes)
    return answer.body.decode()


@pytest.mark.parametrize("accept", ["", "*/*", "text/plain;q=0.1", "text/html, */*", "application/json, text/plain"])
def test_text_is_the_default(accept: str) -> None:
    """Without a Statusz among the accepted types the page is text, with a line for each value."""
    lines = _text(_get(accept)).splitlines()
    assert lines[1] == "apiserver statusz"
    assert [line.partition(":")[0] for line in lines[4:]] == [
        *("Started", "Up", "Go version", "Binary version", "Emulation version", "Paths")
    ]
    assert "Binary version: 1.36.2" in lines


def test_the_running_time_is_shown() -> None:
    """The page has the start and the running time of the server."""

    async def later() -> None:
        server = ApiServer()
        await asyncio.sleep(3 * 3600 + 4 * 60 + 5)
        assert "Up: 3 hr 04 min 05 sec" in _text(_get(server=server))
        assert json.loads(_text(_get(STRUCTURED.format("v1beta1"), server)))["uptimeSeconds"] == 11045

    run_virtual(later())


def test_a_statusz_is_an_object() -> None:
    """A client that accepts a Statusz gets the object as JSON or YAML; the older version has a warning."""
    answer = _get(STRUCTURED.format("v1beta1"))
    status = json.loads(_text(answer))
    assert (status["kind"], status["apiVersion"]) == ("Statusz", "config.k8s.io/v1beta1")
    assert answer.headers == [("Content-Type", "application/json;g=config.k8s.io;v=v1beta1;as=Statusz")]
    old = _get(STRUCTURED.format("v1alpha1"))
    assert "deprecated" in dict(old.headers)["Warning"]
    as_yaml = _get("application/yaml;v=v1beta1;g=config.k8s.io;as=Statusz")
    assert yaml.safe_load(_text(as_yaml))["binaryVersion"] == "1.36.2"


@pytest.mark.parametrize(
    "accept",
    ["application/json", "text/html", STRUCTURED.format("v1"), STRUCTURED.format("v1beta1").replace("St", "Fl")],
)
def test_other_forms_are_not_acceptable(accept: str) -> None:
    """Any other media type is a 406 with the types that are accepted."""
    answer = _get(accept)
    assert (answer.status, json.loads(_text(answer))["message"]) == (406, ACCEPTED)


def test_flags_are_shown() -> None:
    """/flagz has a line for each flag, sorted, and is an object for clients that accept a Flagz."""
    server = ApiServer()
    server.flags = {"port": "6443", "load": "[]"}
    text = server.handle_nowait("GET", "/flagz", headers={"Accept": "*/*"})
    assert _text(text).splitlines()[1] == "apiserver flagz"
    assert _text(text).splitlines()[3:] == ["load: []", "port: 6443"]
    wanted = STRUCTURED.format("v1beta1").replace("Statusz", "Flagz")
    obj = server.handle_nowait("GET", "/flagz", headers={"Accept": wanted})
    assert json.loads(_text(obj)) == {
        "kind": "Flagz",
        "apiVersion": "config.k8s.io/v1beta1",
        "metadata": {"name": "apiserver"},
        "flags": {"load": "[]", "port": "6443"},
    }
    assert server.handle_nowait("GET", "/flagz", headers={"Accept": "application/json"}).status == 406
