"""The FlowSchema of a request, in the headers of its response."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pyctrl.api import Access
from pyctrl.apiserver import ApiServer, User
from pyctrl.apiserver._authn import Peer
from pyctrl.apiserver._filters.priority_and_fairness import matches_rule

EVERYTHING = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "namespaces": ["*"], "clusterScope": True}
PATHS = {"verbs": ["get"], "nonResourceURLs": ["/healthz", "/apis/*"]}
ROOT = "/apis/flowcontrol.apiserver.k8s.io/v1"
JANE = User(name="jane", groups=("dev",))
PODS = Access("list", resource="pods", namespace="a")


def rule(*subjects: dict[str, Any], **resource: Any) -> dict[str, Any]:
    """Return a rule for subjects, with a change of its resource rule."""
    return {"subjects": subjects, "resourceRules": [{**EVERYTHING, **resource}], "nonResourceRules": [PATHS]}


USER = {"kind": "User", "user": {"name": "jane"}}


@pytest.mark.parametrize(
    ("subject", "name", "expected"),
    [
        (USER, "jane", True),
        (USER, "joe", False),
        ({"kind": "User", "user": {"name": "*"}}, "joe", True),
        ({"kind": "Group", "group": {"name": "dev"}}, "jane", True),
        ({"kind": "Group", "group": {"name": "ops"}}, "jane", False),
        ({"kind": "Group", "group": {"name": "*"}}, "jane", True),
        (
            {"kind": "ServiceAccount", "serviceAccount": {"namespace": "a", "name": "*"}},
            "system:serviceaccount:a:b",
            True,
        ),
        (
            {"kind": "ServiceAccount", "serviceAccount": {"namespace": "a", "name": "c"}},
            "system:serviceaccount:a:b",
            False,
        ),
    ],
)
def test_subjects_are_users_groups_and_accounts(subject: dict[str, Any], name: str, *, expected: bool) -> None:
    """A rule matches users by name, by group, or as service accounts of a namespace."""
    assert matches_rule(rule(subject), User(name=name, groups=("dev",)), PODS) is expected


@pytest.mark.parametrize(
    ("change", "access", "expected"),
    [
        ({}, PODS, True),
        ({"verbs": ["get"]}, PODS, False),
        ({"apiGroups": ["apps"]}, PODS, False),
        ({"resources": ["pods/status"]}, PODS, False),
        ({"resources": ["pods/status"]}, PODS._replace(subresource="status"), True),
        ({"namespaces": ["b"]}, PODS, False),
        ({"clusterScope": False}, PODS._replace(namespace=""), False),
        ({}, Access("get", path="/healthz", is_resource=False), True),
        ({}, Access("get", path="/healthz/ping", is_resource=False), True),
        ({}, Access("get", path="/healthzx", is_resource=False), False),
        ({}, Access("get", path="/apis/x", is_resource=False), True),
        ({}, Access("post", path="/healthz", is_resource=False), False),
    ],
)
def test_rules_name_resources_and_paths(change: dict[str, Any], access: Access, *, expected: bool) -> None:
    """A rule matches the verb, group, resource, subresource and namespace, or a path and those below it."""
    assert matches_rule(rule(USER, **change), JANE, access) is expected


async def classified(server: ApiServer, path: str, **headers: str) -> tuple[str, str]:
    """Return the names of the FlowSchema and of the priority level in the headers of a response."""
    response = await server.handle("GET", path, [], headers, b"", peer=Peer("127.0.0.1"))
    found = dict(response.headers)
    names = []
    for key, plural in (("FlowSchema", "flowschemas"), ("PriorityLevel", "prioritylevelconfigurations")):
        every = server.handle_nowait(
            "GET", f"{ROOT}/{plural}", headers={"authorization": f"Bearer {server.loopback_token}"}
        )
        assert isinstance(every.body, bytes)
        uids = {each["metadata"]["uid"]: each["metadata"]["name"] for each in json.loads(every.body)["items"]}
        names.append(uids.get(found.get(f"X-Kubernetes-PF-{key}-UID", ""), ""))
    return names[0], names[1]


async def test_a_response_names_the_flow_schema_of_its_request() -> None:
    """The first FlowSchema that matches is in the headers, by precedence; a 401 has none."""
    users = {"a": User(name="admin", groups=("system:masters",)), "j": JANE}
    server = ApiServer(tokens=users)
    assert await classified(server, "/api/v1/pods", authorization="Bearer a") == ("exempt", "exempt")
    jane = await classified(server, "/api/v1/pods", authorization="Bearer j")
    assert jane == ("global-default", "global-default")
    assert await classified(server, "/healthz", authorization="Bearer j") == ("probes", "exempt")
    assert await classified(server, "/api/v1/pods", authorization="Bearer bad") == ("", "")
    spec = {
        "matchingPrecedence": 5,
        "priorityLevelConfiguration": {"name": "workload-low"},
        "rules": [{"subjects": [USER], "resourceRules": [EVERYTHING]}],
    }
    body = json.dumps({"metadata": {"name": "mine"}, "spec": spec}).encode()
    token = {"authorization": f"Bearer {server.loopback_token}"}
    assert server.handle_nowait("POST", f"{ROOT}/flowschemas", headers=token, body=body).status == 201
    assert await classified(server, "/api/v1/pods", authorization="Bearer j") == ("mine", "workload-low")
