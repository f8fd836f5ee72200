"""Audit log: one event for each request, with kube-apiserver's fields of each level."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import suppress
from random import Random
from typing import Any

import pytest

from pyctrl.apiserver import (
    ApiServer,
    AuditLevel,
    AuditLog,
    AuditPolicy,
    ExtensionResourceRegistry,
    Peer,
    ResourceStorage,
    StorageList,
    StorageRequest,
    Upgrade,
    User,
)
from tests.unit.apiserver._kit import CONFIGMAPS, Asker

ADMIN = {"Authorization": "Bearer admin"}
TOKENS = {
    "admin": User(name="admin", uid="1", groups=("system:masters", "system:authenticated")),
    "plain": User(name="plain", groups=("system:authenticated",)),
}


class Log:
    """A server with an audit log, and the events in it."""

    def __init__(self, level: AuditLevel = AuditLevel.METADATA) -> None:
        self._lines: list[bytes] = []
        audit = AuditLog(self._lines.append, level=level, random=Random(1))
        self.ask = Asker(ApiServer(random=Random(1), tokens=TOKENS, audit=audit))

    @property
    def events(self) -> list[dict[str, Any]]:
        assert all(line.endswith(b"\n") for line in self._lines)
        return [json.loads(line) for line in self._lines]


async def test_an_event_says_who_did_what_to_which_object_and_how_it_ended() -> None:
    """A request results in one event with the fields of kube-apiserver's log."""
    log = Log()
    headers = {**ADMIN, "User-Agent": "kubectl/v1.36", "Audit-ID": "mine"}
    body = b'{"metadata":{"name":"a"}}'
    await log.ask.server.handle(
        "POST", CONFIGMAPS, [("fieldManager", "m")], headers, body, peer=Peer("192.0.2.7")
    )  # fmt: skip

    (event,) = log.events
    times = [event.pop("requestReceivedTimestamp"), event.pop("stageTimestamp")]
    assert times == sorted(times)
    assert all(len(time) == len("2026-11-21T13:46:30.425620Z") for time in times)
    assert event == {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": "Metadata",
        "auditID": "mine",
        "stage": "ResponseComplete",
        "requestURI": f"{CONFIGMAPS}?fieldManager=m",
        "verb": "create",
        "user": {"username": "admin", "uid": "1", "groups": ["system:masters", "system:authenticated"]},
        "sourceIPs": ["192.0.2.7"],
        "userAgent": "kubectl/v1.36",
        "objectRef": {"resource": "configmaps", "namespace": "default", "name": "a", "apiVersion": "v1"},
        "responseStatus": {"metadata": {}, "code": 201},
        "annotations": {"authorization.k8s.io/decision": "allow", "authorization.k8s.io/reason": ""},
    }


def test_a_refusal_is_told_with_its_reason() -> None:
    """A rejected request has the fields of its Status; a missing path only the code."""
    log = Log()
    log.ask("GET", f"{CONFIGMAPS}/none", headers=ADMIN)
    log.ask.answer("GET", "/nosuch", headers=ADMIN)

    refused, lost = log.events
    assert refused["responseStatus"] == {
        "metadata": {},
        "status": "Failure",
        "message": 'configmaps "none" not found',
        "reason": "NotFound",
        "details": {"name": "none", "kind": "configmaps"},
        "code": 404,
    }
    assert (lost["responseStatus"], "objectRef" in lost) == ({"metadata": {}, "code": 404}, False)


def test_the_status_of_an_object_is_not_that_of_the_response() -> None:
    """The response status of an object that has a status is its code alone."""
    log = Log()
    log.ask("GET", "/api/v1/namespaces/default", headers=ADMIN)

    (event,) = log.events
    assert event["responseStatus"] == {"metadata": {}, "code": 200}


@pytest.mark.parametrize(
    ("method", "path", "metadata", "named"),
    [
        ("POST", CONFIGMAPS, {"name": 5, "uid": "u", "resourceVersion": None}, {"uid": "u"}),
        ("POST", CONFIGMAPS, ["a"], {}),
        ("PATCH", f"{CONFIGMAPS}/a", {"uid": "u"}, {"name": "a"}),
    ],
)
def test_an_object_is_named_by_its_own_metadata(method: str, path: str, metadata: Any, named: dict[str, str]) -> None:
    """Names are those of texts in the metadata of an object that is sent; a patch is no object."""
    log = Log()
    headers = {**ADMIN, "Content-Type": "application/merge-patch+json" if method == "PATCH" else "application/json"}
    log.ask(method, path, body={"metadata": metadata}, headers=headers)

    (event,) = log.events
    assert event["objectRef"] == {"resource": "configmaps", "namespace": "default", "apiVersion": "v1", **named}


def test_nobody_has_an_empty_user() -> None:
    """The event of a request whose authentication failed has an empty user."""
    log = Log()
    log.ask("GET", CONFIGMAPS, headers={"Authorization": "Bearer wrong"})

    (event,) = log.events
    assert (event["user"], event["responseStatus"]["code"], "annotations" in event) == ({}, 401, False)


def test_who_acts_as_another_is_told_with_the_other() -> None:
    """Impersonation shows both users."""
    log = Log()
    log.ask("GET", CONFIGMAPS, headers={**ADMIN, "Impersonate-User": "bob", "Impersonate-Group": "team"})

    (event,) = log.events
    assert event["user"]["username"] == "admin"
    assert event["impersonatedUser"] == {"username": "bob", "groups": ["team", "system:authenticated"]}


@pytest.mark.parametrize(
    ("level", "objects"),
    [
        (AuditLevel.METADATA, []),
        (AuditLevel.REQUEST, ["requestObject"]),
        (AuditLevel.REQUEST_RESPONSE, ["requestObject", "responseObject"]),
    ],
)
def test_levels_add_the_objects(level: AuditLevel, objects: list[str]) -> None:
    """Metadata logs no objects, Request the request's object, RequestResponse also the response's."""
    log = Log(level)
    log.ask("POST", "/api/v1/namespaces", {"metadata": {"name": "a"}}, headers=ADMIN)

    (event,) = log.events
    assert (event["level"], [key for key in event if key.endswith("Object")]) == (level.value, objects)
    assert all(event[key]["metadata"]["name"] == "a" for key in objects)


NAMESPACE = "/api/v1/namespaces/default"


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (f"{NAMESPACE}/secrets", {"metadata": {"name": "a"}, "stringData": {"key": "hidden"}}),
        (CONFIGMAPS, {"metadata": {"name": "a"}, "data": {"key": "hidden"}}),
        ("/apis/authentication.k8s.io/v1/tokenreviews", {"spec": {"token": "hidden"}}),
        (f"{NAMESPACE}/serviceaccounts/default/token", {"spec": {"audiences": ["hidden"]}}),
    ],
    ids=["secrets", "configmaps", "tokenreviews", "tokens"],
)
def test_what_may_be_secret_is_logged_at_the_highest_level_only(path: str, body: dict[str, Any]) -> None:
    """At level Request, sensitive resources are logged at Metadata, as Kubernetes recommends."""
    for level, is_shown in ((AuditLevel.REQUEST, False), (AuditLevel.REQUEST_RESPONSE, True)):
        log = Log(level)
        log.ask("POST", path, body, headers=ADMIN)
        (event,) = log.events
        assert ("hidden" in json.dumps(event)) == is_shown
        assert event["level"] == ("RequestResponse" if is_shown else "Metadata")


def test_a_body_that_does_not_parse_is_left_out() -> None:
    """The event has the error instead of a request object."""
    log = Log(AuditLevel.REQUEST)
    log.ask("POST", CONFIGMAPS, b"{bad", headers=ADMIN)

    (event,) = log.events
    assert ("requestObject" in event, event["responseStatus"]["code"]) == (False, 400)


async def test_a_watch_is_told_when_it_ends() -> None:
    """The event of a watch is written when the watch ends."""
    log = Log()
    answer = await log.ask.server.handle("GET", CONFIGMAPS, [("watch", "1"), ("timeoutSeconds", "5")], ADMIN, b"")
    assert not isinstance(answer.body, (bytes, Upgrade))
    assert log.events == []

    assert [chunk async for chunk in answer.body] == []

    (event,) = log.events
    assert (event["verb"], event["responseStatus"]["code"]) == ("watch", 200)
    assert event["requestReceivedTimestamp"] < event["stageTimestamp"]


@pytest.mark.parametrize(
    ("method", "path", "query", "verb", "named"),
    [
        ("GET", CONFIGMAPS, {}, "list", ""),
        ("GET", CONFIGMAPS, {"limit": "1"}, "list", ""),
        ("GET", f"{CONFIGMAPS}/a", {}, "get", "a"),
        ("GET", f"{CONFIGMAPS}/a", {"watch": "1"}, "get", "a"),
        ("PUT", f"{CONFIGMAPS}/a", {}, "update", "a"),
        ("PATCH", f"{CONFIGMAPS}/a", {}, "patch", "a"),
        ("DELETE", f"{CONFIGMAPS}/a", {}, "delete", "a"),
        ("DELETE", CONFIGMAPS, {}, "deletecollection", ""),
        ("OPTIONS", CONFIGMAPS, {}, "", ""),
    ],
)
def test_verbs_are_those_of_authorization(method: str, path: str, query: dict[str, str], verb: str, named: str) -> None:
    """The verb is that of authorization, and the object is that of the URL."""
    log = Log()
    log.ask(method, path, headers=ADMIN, **query)

    (event,) = log.events
    assert (event["verb"], event["objectRef"].get("name", "")) == (verb, named)


def test_documents_and_namespaces_are_told_as_kube_apiserver_does() -> None:
    """Non-resource paths have the method as verb; the namespace of a Namespace is its own name."""
    log = Log()
    log.ask("GET", "/version", headers=ADMIN)
    log.ask("GET", "/api/v1/namespaces/default", headers=ADMIN)
    log.ask("GET", "/apis/apps/v1/namespaces/default/deployments/x/scale", headers=ADMIN)

    version, namespace, scale = log.events
    assert version["verb"] == "get"
    assert namespace["objectRef"] == {
        "resource": "namespaces", "namespace": "default", "name": "default", "apiVersion": "v1"
    }  # fmt: skip
    assert scale["objectRef"]["apiGroup"] == "apps"
    assert scale["objectRef"]["subresource"] == "scale"


def _failing(policy: AuditPolicy | None = None) -> tuple[Asker, list[bytes]]:
    """Return a server of Flavors whose storage fails as a program with a mistake does, and the lines of its log."""

    async def fail(_request: StorageRequest, _name: str) -> dict[str, Any] | None:
        raise KeyError("flavors")

    async def watch(_request: StorageRequest) -> AsyncIterator[tuple[str, dict[str, Any]]]:
        yield "ADDED", {"metadata": {"name": "a", "namespace": "default"}}
        raise KeyError("flavors")

    async def empty(_request: StorageRequest) -> StorageList:
        return StorageList(())

    registry, lines = ExtensionResourceRegistry(), list[bytes]()
    schema = {"openAPIV3Schema": {"type": "object"}}
    names = {"plural": "flavors", "singular": "flavor", "kind": "Flavor", "listKind": "FlavorList"}
    version = {"name": "v1", "served": True, "storage": True, "schema": schema}
    spec = {"group": "x.io", "scope": "Namespaced", "names": names, "versions": [version]}
    storage = ResourceStorage(get=fail, list=empty, watch=watch)
    registry.install({"metadata": {"name": "flavors.x.io"}, "spec": spec}, storage=storage)
    audit = AuditLog(lines.append, level=AuditLevel.REQUEST_RESPONSE, policy=policy, random=Random(1))
    return Asker(ApiServer(random=Random(1), registry=registry, audit=audit)), lines


FLAVORS = "/apis/x.io/v1/namespaces/default/flavors"
PANIC = {
    "metadata": {},
    "status": "Failure",
    "reason": "InternalError",
    "message": "APIServer panic'd: KeyError: 'flavors'",
    "code": 500,
}


def test_a_request_that_fails_unexpectedly_ends_in_the_stage_panic() -> None:
    """An exception of a storage is in the log as kube-apiserver logs a panic: without a response object."""
    ask, lines = _failing()
    assert ask("GET", f"{FLAVORS}/a")[0] == 500
    (event,) = map(json.loads, lines)
    assert (event["stage"], event["responseStatus"]) == ("Panic", PANIC)
    assert "responseObject" not in event


async def test_a_watch_that_fails_unexpectedly_ends_in_the_stage_panic() -> None:
    """A stream that breaks by an exception of its storage ends with the event of a panic."""
    ask, lines = _failing()
    answer = await ask.server.handle("GET", FLAVORS, [("watch", "1")], {}, b"")
    assert not isinstance(answer.body, (bytes, Upgrade))
    with suppress(KeyError):
        async for _ in answer.body:
            assert lines == []
    (event,) = map(json.loads, lines)
    assert (event["stage"], event["responseStatus"]) == ("Panic", PANIC)


def test_a_policy_can_omit_the_stage_panic() -> None:
    """A stage that the policy omits is not logged, and the others are."""
    rules = [{"level": "Metadata", "omitStages": ["Panic"]}]
    policy = {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "rules": rules}
    ask, lines = _failing(AuditPolicy.read(json.dumps(policy).encode()))
    assert ask("GET", f"{FLAVORS}/a")[0] == 500
    assert [json.loads(line)["stage"] for line in lines] == ["RequestReceived"]
