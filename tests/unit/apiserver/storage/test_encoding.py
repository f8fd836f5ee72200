"""Numbers in the JSON that the server writes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pyctrl.apiserver._storage.encoding import encode_object
from tests.unit.apiserver._hooks import World
from tests.unit.apiserver._objects import GROUP, definition, spec_schema, thing

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
THINGS = f"/apis/{GROUP}/v1/namespaces/default/things"
NUMBERS = {
    "whole": 1.0,
    "negative": -30.0,
    "zero": -0.0,
    "long": 1234567890123456.0,
    "items": [2.0, 2.5],
    "text": ".0,",
}
WRITTEN = b'{"whole":1,"negative":-30,"zero":0,"long":1234567890123456,"items":[2,2.5],"text":".0,"}'


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (NUMBERS, WRITTEN),
        ({"a": 1.0, "b": 1234567890123456789.0}, b'{"a":1,"b":1234567890123456800}'),  # Go's digits
        ({"a": 0.5, "b": "10.0.0.1"}, b'{"a":0.5,"b":"10.0.0.1"}'),
        ({"image": "a:1.0"}, b'{"image":"a:1.0"}'),
    ],
)
def test_a_whole_number_has_no_fraction(value: Any, written: bytes) -> None:
    """Floats without a fraction are written as integers; texts and other floats stay."""
    assert encode_object(value) == written


async def test_clients_and_webhooks_get_whole_numbers() -> None:
    """Clients in Go could not read 1.0 into an int: responses, lists, dry runs and reviews have 1, also of updates."""
    world = World()
    schema = spec_schema({}, **{"x-kubernetes-preserve-unknown-fields": True})
    assert (await world.ask("POST", DEFINITIONS, definition(schema)))[0] == 201
    rule = {"apiGroups": [GROUP], "apiVersions": ["v1"], "resources": ["things"], "operations": ["*"]}
    await world.hook("v", {"rules": [rule]})
    shown, version = [], ""
    for method, path, query in (
        ("POST", THINGS, [("dryRun", "All")]),
        ("POST", THINGS, []),
        ("GET", THINGS, []),
        ("GET", f"{THINGS}/a", []),
        ("PUT", f"{THINGS}/a", []),
    ):
        sent = thing({"n": 3.0, "method": method}, metadata={"name": "a", "resourceVersion": version})
        answer = await world.server.handle(
            method, path, query, {}, b"" if method == "GET" else json.dumps(sent).encode()
        )
        assert isinstance(answer.body, bytes)
        shown.append(b'"n":3,' in answer.body)
        version = json.loads(answer.body)["metadata"].get("resourceVersion", "") if path != THINGS else ""
    assert shown == [True] * 5
    reviewed = [review["request"]["object"]["spec"]["n"] for _, review in world.calls]
    assert [type(each) for each in reviewed] == [int] * 3
