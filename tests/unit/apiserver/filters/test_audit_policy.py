"""Audit policies: which rule applies to a request, and which policies are refused."""

from __future__ import annotations

import json
import re
from random import Random
from typing import Any

import pytest

from pyctrl.apiserver import ApiServer, AuditLog, AuditPolicy, User
from pyctrl.apiserver._filters.audit_policy import AuditLevel
from pyctrl.apiserver._request.request import QueryParameters, parse_target
from pyctrl.apiserver._request.request_context import RequestContext
from tests.unit.apiserver._kit import CONFIGMAPS, MERGE, Asker

TOKENS = {"admin": User(name="admin", groups=("system:masters",))}
ADMIN = {"Authorization": "Bearer admin"}


def _policy(*rules: dict[str, Any], **policy: Any) -> bytes:
    return json.dumps({"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "rules": rules, **policy}).encode()


def _level(rule: dict[str, Any], method: str, path: str, *groups: str) -> bool:
    """Return whether a rule applies to a request of the user jane."""
    context = RequestContext(method, path, QueryParameters([]), {}, b"", None)
    context.target, context.user = parse_target(path), User(name="jane", groups=groups)
    return AuditPolicy.read(_policy({"level": "Metadata", **rule})).evaluate(context).level is AuditLevel.METADATA


@pytest.mark.parametrize(
    ("rule", "matching", "other"),
    [
        ({"verbs": ["list"]}, CONFIGMAPS, f"{CONFIGMAPS}/a"),
        ({"namespaces": ["default"]}, "/api/v1/namespaces/default", "/api/v1/nodes"),
        ({"namespaces": [""]}, "/api/v1/nodes", CONFIGMAPS),
        ({"resources": [{"group": ""}]}, CONFIGMAPS, "/apis/apps/v1/deployments"),
        (
            {"resources": [{"resources": ["pods/log"]}]},
            "/api/v1/namespaces/a/pods/b/log",
            "/api/v1/namespaces/a/pods/b",
        ),
        ({"resources": [{"resources": ["pods/*"]}]}, "/api/v1/namespaces/a/pods/b", CONFIGMAPS),
        (
            {"resources": [{"group": "*", "resources": ["*/scale"]}]},
            "/apis/apps/v1/namespaces/a/deployments/b/scale",
            CONFIGMAPS,
        ),
        ({"resources": [{"resources": ["configmaps"], "resourceNames": ["a"]}]}, f"{CONFIGMAPS}/a", f"{CONFIGMAPS}/b"),
        ({"nonResourceURLs": ["/healthz*"]}, "/healthz/ping", "/version"),
        ({"nonResourceURLs": ["*"]}, "/version", CONFIGMAPS),
    ],
)
def test_a_rule_selects_requests(rule: dict[str, Any], matching: str, other: str) -> None:
    """By verb, namespace, resource, subresource, name and path."""
    assert _level(rule, "GET", matching)
    assert not _level(rule, "GET", other)


def test_a_rule_selects_users() -> None:
    """By name, and by any of their groups."""
    assert _level({"users": ["jane"]}, "GET", "/version")
    assert not _level({"users": ["joe"]}, "GET", "/version")
    assert _level({"userGroups": ["a", "b"]}, "GET", "/version", "b", "c")
    assert not _level({"userGroups": ["a", "b"]}, "GET", "/version", "c")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (_policy(), "loaded illegal policy with 0 rules"),
        (b'{"apiVersion": "v1", "kind": "Policy"}', "unknown group version field /v1, Kind=Policy in policy"),
        (_policy({}), "rules[0].level: Required value"),
        (_policy({"level": "X"}), 'rules[0].level: Unsupported value: "X"'),
        (_policy({"level": "None"}, omitStages=["X"]), "allowed stages are RequestReceived,ResponseStarted,"),
        (
            _policy({"level": "None", "nonResourceURLs": ["a"]}),
            "non-resource URL rules must begin with a '/' character",
        ),
        (
            _policy({"level": "None", "nonResourceURLs": ["/*a"]}),
            "wildcards '*' must be the final character of the rule",
        ),
        (_policy({"level": "None", "nonResourceURLs": ["/"], "namespaces": ["a"]}), "rules cannot apply to both"),
        (_policy({"level": "None", "resources": [{"group": "a/v1"}]}), "rules[0].resources.group: Invalid value"),
        (_policy({"level": "None", "resources": [{"resourceNames": ["a"]}]}), "requires at least one resource"),
    ],
)
def test_an_invalid_policy_is_refused(text: bytes, message: str) -> None:
    """The messages are kube-apiserver's."""
    with pytest.raises(ValueError, match=re.escape(message)):
        AuditPolicy.read(text)


def _events(policy: bytes, *requests: tuple[str, str, Any]) -> list[dict[str, Any]]:
    lines: list[bytes] = []
    audit = AuditLog(lines.append, policy=AuditPolicy.read(policy), random=Random(1))
    ask = Asker(ApiServer(random=Random(1), tokens=TOKENS, audit=audit))
    for method, path, body in requests:
        ask.answer(method, path, body, headers={**ADMIN, **(MERGE if method == "PATCH" else {})})
    return [json.loads(line) for line in lines]


def test_a_request_has_an_event_for_each_stage() -> None:
    """The first has neither response nor decision."""
    received, complete = _events(
        _policy({"level": "RequestResponse"}), ("POST", CONFIGMAPS, {"metadata": {"name": "a"}})
    )
    assert (received["stage"], complete["stage"]) == ("RequestReceived", "ResponseComplete")
    assert received["auditID"] == complete["auditID"]
    assert received["stageTimestamp"] == received["requestReceivedTimestamp"]
    assert not {"responseStatus", "annotations", "requestObject", "responseObject"} & received.keys()
    assert "name" not in received["objectRef"]
    assert (complete["objectRef"]["name"], complete["responseObject"]["kind"]) == ("a", "ConfigMap")


def test_stages_and_managed_fields_can_be_left_out() -> None:
    """By the policy, and by a rule."""
    rules = ({"level": "None", "verbs": ["get"]}, {"level": "RequestResponse", "omitManagedFields": True})
    body = {"metadata": {"name": "a"}, "data": {"a": "b"}}
    requests = (("POST", CONFIGMAPS, body), ("GET", f"{CONFIGMAPS}/a", None), ("GET", CONFIGMAPS, None))
    created, listed = _events(_policy(*rules, omitStages=["RequestReceived"]), *requests)
    assert "managedFields" not in created["responseObject"]["metadata"]
    assert "managedFields" not in listed["responseObject"]["items"][0]["metadata"]


def test_a_failed_authentication_is_one_event() -> None:
    """Its stage is ResponseStarted, as upstream."""
    lines: list[bytes] = []
    audit = AuditLog(lines.append, policy=AuditPolicy.read(_policy({"level": "Metadata"})))
    ask = Asker(ApiServer(random=Random(1), tokens=TOKENS, audit=audit))
    ask.answer("GET", CONFIGMAPS, headers={"Authorization": "Bearer nix"})
    (event,) = [json.loads(line) for line in lines]
    assert (event["stage"], event["user"], event["responseStatus"]["code"]) == ("ResponseStarted", {}, 401)


def test_the_legacy_format_is_a_line_of_text() -> None:
    """As kube-apiserver writes it with `--audit-log-format legacy`."""
    lines: list[bytes] = []
    audit = AuditLog(lines.append, format="legacy", random=Random(1))
    ask = Asker(ApiServer(random=Random(1), tokens=TOKENS, audit=audit))
    ask.answer("GET", CONFIGMAPS, headers={**ADMIN, "Audit-ID": "i", "User-Agent": "u"})
    _, _, rest = lines[0].decode().partition(" ")
    assert rest == (
        'AUDIT: id="i" stage="ResponseComplete" ip="<unknown>" method="list" user="admin" '
        'groups="\\"system:masters\\",\\"system:authenticated\\"" as="<self>" '
        'asgroups="<lookup>" user-agent="u" namespace="default" '
        f'uri="{CONFIGMAPS}" response="200"\n'
    )
