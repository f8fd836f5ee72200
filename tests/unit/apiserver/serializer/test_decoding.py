"""Bodies that do not decode: any bytes, wrong types, deep nesting."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pyctrl.apiserver import ApiServer
from pyctrl.apiserver._serializer.decoding import decode_object
from tests.unit.apiserver._kit import CONFIGMAPS, MERGE, Asker

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(st.binary(max_size=40))
def test_any_body_is_answered(body: bytes) -> None:
    """No body causes an internal error."""
    ask = Asker(SHARED)
    code, _ = ask("POST", CONFIGMAPS, body)
    assert code in (201, 400, 409, 422)


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])  # examples are slow on a busy machine
@given(st.dictionaries(st.sampled_from(["metadata", "data", "kind", "apiVersion"]), json_values), st.booleans())
def test_any_object_is_answered(body: dict[str, Any], patches: bool) -> None:
    """No object with wrong types causes an internal error, created or patched."""
    ask = Asker(SHARED)
    if patches:
        code, _ = ask("PATCH", f"{CONFIGMAPS}/there", body, headers=MERGE)
    else:
        code, _ = ask("POST", CONFIGMAPS, body)
    assert code in (200, 201, 400, 404, 409, 422)


SHARED = ApiServer(random=Random(3))


@pytest.mark.parametrize("content_type", ["application/merge-patch+json", "application/json"])
def test_what_is_nested_too_deeply_is_refused(content_type: str) -> None:
    """A body with a hundred thousand levels is a client error."""
    server = ApiServer()
    depth = 100_000
    body = b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"deep"},"x":' + b"[" * depth + b"]" * depth + b"}"
    method, path = ("PATCH", "/deep") if "patch" in content_type else ("POST", "")
    root = "/api/v1/namespaces/default/configmaps"
    if method == "PATCH":
        server.handle_nowait("POST", root, body=b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"deep"}}')
    answer = server.handle_nowait(method, root + path, headers={"content-type": content_type}, body=body)
    assert answer.status == 400


def test_a_refusal_shows_how_the_body_begins(ask: Asker) -> None:
    """The error for a body that is not an object has its first bytes, in hexadecimal unless they look like JSON."""
    assert ask("POST", CONFIGMAPS, b"")[1]["message"].endswith("unexpected end of JSON input (<empty>)")
    assert ask("POST", CONFIGMAPS, b"[1]")[1]["message"].endswith("(5b315d)")
    assert ask("POST", CONFIGMAPS, b"{" + b"x" * 40)[1]["message"].endswith("({" + "x" * 29 + " ...)")


def test_half_a_pair_of_surrogates_is_replaced() -> None:
    """A body with half a pair of surrogates is accepted with the replacement character, as by Go's decoder."""
    body = rb'{"data":{"a":"\ud83d\ude00 \udc00 \ud800x \\ud800"}}'
    assert decode_object(body, {}, "ConfigMap") == {"data": {"a": "\U0001f600 \ufffd \ufffdx \\ud800"}}


@pytest.mark.parametrize("number", ["1e400", "-1.5E+999", "9" * 5000 + "e1"])
def test_a_number_that_no_float_holds_is_named(ask: Asker, number: str) -> None:
    """A number out of the range of float64 is refused with the number, in objects and in patches."""
    why = f"json: cannot unmarshal number {number} into Go value of type float64"
    body = f'{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"a"}},"data":{{"t":"1e500"}},"x":{number}}}'
    code, refused = ask("POST", CONFIGMAPS, body.encode())
    assert (code, refused["message"]) == (
        400,
        f'ConfigMap in version "v1" cannot be handled as a ConfigMap: {why}',
    )
    ask.make("a")
    code, refused = ask("PATCH", f"{CONFIGMAPS}/a", f'{{"x":{number}}}'.encode(), headers=MERGE)
    assert (code, refused["message"]) == (400, f"error decoding patch: {why}")
