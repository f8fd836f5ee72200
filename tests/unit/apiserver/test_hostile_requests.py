"""Hostile requests: any bytes get a response, and none causes an internal error."""

from __future__ import annotations

import logging

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pyctrl.apiserver import ApiServer, AuditLevel, AuditLog, User
from pyctrl.testing import run_virtual
from tests.unit.apiserver._wire import exchange

MAPS = b"/api/v1/namespaces/default/configmaps"
REVIEWS = b"/apis/authentication.k8s.io/v1/selfsubjectreviews"
DIGITS = b"9" * 5000
JSON, YAML, APPLY = b"application/json", b"application/yaml", b"application/apply-patch+yaml"
MERGE, PATCH = b"application/merge-patch+json", b"application/json-patch+json"
STRATEGIC, PROTOBUF = b"application/strategic-merge-patch+json", b"application/vnd.kubernetes.protobuf"

_NUMBERS = (b"timeout", b"timeoutSeconds", b"limit", b"resourceVersion", b"gracePeriodSeconds", b"tailLines")
_TEXTS = (b"continue", b"fieldManager", b"labelSelector", b"fieldSelector", b"includeObject", b"watch", b"pretty")
_VALUES = (DIGITS, b"-" + DIGITS, b"%ff", b"\xff", b"%C2%B2", b"%D9%A1", b"-1", b"0x10", b"1e5", b"")
_HEADERS = (b"Accept", b"Authorization", b"User-Agent", b"Impersonate-User", b"If-None-Match", b"Audit-ID", b"Expect")
_HEADER_VALUES = (
    *(b"\xff", b"\xed\xa0\x80", b"Bearer \xff", b"Bearer a.b.c", b"Basic \xff", b"application/json;q=\xff", DIGITS),
    b"application/json;as=Table;v=v1;g=meta.k8s.io",
)
_NAMES = (b"", b"/a", b"/\xff", b"/%ff", b"/%00", b"/a/status", b"/a/scale", b"/" + b"a" * 5000)
_PLACES = (
    *(MAPS, REVIEWS, b"/\xff", b"/%zz", b"/openapi/v3/\xff", b"/apis/%ff/v1/x", b"/api/v1/watch/namespaces/%ff/pods"),
    *(b"/apis/authentication.k8s.io/v1/tokenreviews", b"/api/v1/namespaces/default/serviceaccounts/default/token"),
    b"/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
)
_BODIES = (
    *(b"", b"null", b"[]", b"1", b"{", b"\xff\xfe", b"k8s\x00" + b"\xff" * 40, b"\x00", b"[1]", b'[{"op":1}]'),
    *(b'{"metadata":{"name":"\xff"}}', b'{"metadata":{"name":"\\ud800"}}', b'{"\xff":1}', b'a: "\\U00110000"'),
    *(b'{"metadata":{"name":"a"},"data":{"a":' + number + b"}}" for number in (DIGITS, b"1e999", b"-0")),
    *(b'{"metadata":{"name":"a","' + name + b'":"' + DIGITS + b'"}}' for name in (b"resourceVersion", b"generation")),
    *(b'{"metadata":{"name":"a"},"data":' + b'{"a":' * n + b"1" + b"}" * n + b"}" for n in (500, 1100, 20_000)),
    *(b"[" * n + b"]" * n for n in (900, 100_000)),
    *(b"a: !!timestamp x", b"a: !!int x", b"a: .inf", b"a: 0x" + b"f" * 5000, b"? {a: b}\n: c", b"<<: [1]", b"a: 08"),
    b"a: " + b"{a: " * 3000 + b"}" * 3000,
    b'{"gracePeriodSeconds":' + DIGITS + b"}",
    b'[{"op":"add","path":"' + b"/a" * 3000 + b'","value":1}]',
    b'[{"op":"add","path":"/metadata/labels/' + DIGITS + b'","value":1}]',
)


def request(method: bytes = b"GET", target: bytes = MAPS, headers: tuple[bytes, ...] = (), body: bytes = b"") -> bytes:
    """Encode a request."""
    lines = [method + b" " + target + b" HTTP/1.1", b"Host: localhost", *headers]
    if body:
        lines.append(b"Content-Length: %d" % len(body))
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


_QUERIES = st.builds(
    lambda pairs: b"?" + b"&".join(name + b"=" + value for name, value in pairs),
    st.lists(st.tuples(st.sampled_from((*_NUMBERS, *_TEXTS)), st.sampled_from(_VALUES)), max_size=2),
)
_REQUESTS = st.builds(
    lambda method, place, name, query, header, value, media, body: request(
        method, place + name + query, (header + b": " + value, b"Content-Type: " + media), body
    ),
    st.sampled_from((b"GET", b"POST", b"PUT", b"PATCH", b"DELETE", b"HEAD", b"OPTIONS", b"\xff")),
    st.sampled_from(_PLACES),
    st.sampled_from(_NAMES),
    _QUERIES,
    st.sampled_from(_HEADERS),
    st.sampled_from(_HEADER_VALUES) | st.binary(max_size=20).filter(lambda value: b"\n" not in value),
    st.sampled_from((JSON, YAML, APPLY, MERGE, PATCH, STRATEGIC, PROTOBUF, b"\xff")),
    st.sampled_from(_BODIES) | st.binary(max_size=40),
)


def answered(*requests: bytes, is_guarded: bool = False) -> list[bytes]:
    """Send requests to a server that audits everything, and return its responses."""

    async def main() -> list[bytes]:
        audit = AuditLog(lambda _line: None, level=AuditLevel.REQUEST_RESPONSE)
        server = ApiServer(audit=audit, tokens={"t": User(name="u")} if is_guarded else None)
        await exchange(server, request(b"POST", body=b'{"metadata":{"name":"a"},"data":{"k":"v"}}'))
        return [await exchange(server, each) for each in requests]

    return run_virtual(main())


@pytest.mark.parametrize("is_guarded", [False, True], ids=["open", "guarded"])
@given(requests=st.lists(_REQUESTS, min_size=1, max_size=6))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_nothing_that_a_client_sends_is_a_failure_of_the_server(
    caplog: pytest.LogCaptureFixture, is_guarded: bool, requests: list[bytes]
) -> None:
    """Each request has a response without an internal error, and no traceback is logged."""
    caplog.clear()
    answers = answered(*requests, is_guarded=is_guarded)
    assert all(answer.startswith(b"HTTP/1.1 ") for answer in answers)
    assert not [answer for answer in answers if b"Internal error occurred" in answer]
    assert not [record for record in caplog.records if record.exc_info or record.levelno >= logging.ERROR]


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (request(target=b"/\xff"), b"404"),
        (request(target=MAPS + b"/%ff"), b"404"),
        (request(target=MAPS + b"?\xff=\xff"), b"200"),
        (request(target=MAPS + b"?limit=" + DIGITS), b"400"),
        (request(target=MAPS + b"?watch=1&timeoutSeconds=" + DIGITS), b"400"),
        (request(target=MAPS + b"?timeout=" + DIGITS), b"400"),
        (request(target=MAPS + b"?timeout=1y"), b"400"),
        (request(target=MAPS + b"?timeout=1m30s"), b"200"),
        (request(b"DELETE", MAPS + b"/a?gracePeriodSeconds=" + DIGITS), b"400"),
        (request(target=MAPS, headers=(b"Accept: \xff",)), b"406"),
        (request(b"POST", body=b'{"metadata":{"name":"\xff"}}'), b"400"),
        (request(b"POST", body=b"[" * 100_000), b"400"),
        (request(b"POST", REVIEWS, body=b'{"metadata":' * 20_000), b"400"),
        (request(b"POST", headers=(b"Content-Type: " + YAML,), body=b'metadata: {name: "\\ud800"}'), b"400"),
        (request(b"POST", headers=(b"Content-Type: " + YAML,), body=b"a: !!timestamp x"), b"400"),
        (request(b"PATCH", MAPS + b"/a", (b"Content-Type: " + MERGE,), b'{"data":' * 20_000), b"400"),
        (request(b"PATCH", MAPS + b"/a?fieldManager=x", (b"Content-Type: " + APPLY,), b"{a: " * 20_000), b"400"),
    ],
)
def test_hostile_input_is_refused_with_a_status(caplog: pytest.LogCaptureFixture, sent: bytes, status: bytes) -> None:
    """Invalid text, deep nesting and numbers of 5,000 digits are 4xx, without a traceback."""
    (answer,) = answered(sent)
    assert answer[9:12] == status
    assert status != b"400" or b'"kind":"Status"' in answer
    assert not caplog.records


def test_a_watch_ends_with_a_client_that_has_sent_its_end_already() -> None:
    """A connection that is half-closed before the response does not keep its watch until the timeout."""
    (answer,) = answered(request(target=MAPS + b"?watch=1"))
    assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
