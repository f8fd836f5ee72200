"""Admission of connections to pods, services and nodes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from tests.unit.apiserver._hooks import World, denied
from tests.unit.apiserver._kit import Asker
from tests.unit.apiserver.admission._policies import ADMISSION

PODS = "/api/v1/namespaces/default/pods"
POD = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}


def _rule(*resources: str) -> dict[str, Any]:
    return {"apiGroups": [""], "apiVersions": ["v1"], "resources": list(resources), "operations": ["CONNECT"]}


@pytest.fixture
def world() -> World:
    """A server that calls webhooks in this process."""
    return World()


@pytest.mark.parametrize(
    ("path", "query", "kind", "options"),
    [
        (f"{PODS}/p/exec", {"command": "ls", "tty": "0"}, "PodExecOptions", {"command": ["ls"]}),
        (f"{PODS}/p/exec", {}, "PodExecOptions", {"command": None}),
        (f"{PODS}/p/attach", {"stdin": "1"}, "PodAttachOptions", {"stdin": True}),
        (f"{PODS}/p/portforward", {"ports": "80"}, "PodPortForwardOptions", {"ports": [80]}),
        (f"{PODS}/p/proxy/a/b", {}, "PodProxyOptions", {"path": "/a/b"}),
        ("/api/v1/namespaces/default/services/p/proxy", {}, "ServiceProxyOptions", {}),
        ("/api/v1/nodes/p/proxy/x", {}, "NodeProxyOptions", {"path": "/x"}),
    ],
)
async def test_a_webhook_sees_the_options_of_a_connection(
    world: World, path: str, query: Mapping[str, str], kind: str, options: dict[str, Any]
) -> None:
    """A webhook refuses a connection before the pod is looked up; the object of its review are the options."""
    await world.hook("v", {"rules": [_rule("*/*")]})
    world.replies["/v"] = lambda review: denied(review, "no")

    answer = await world.server.handle("GET", path, list(query.items()), {}, b"")

    assert isinstance(answer.body, bytes)
    assert json.loads(answer.body)["message"] == 'admission webhook "v.example.com" denied the request: no'
    request = world.calls[0][1]["request"]
    assert (request["operation"], request["object"], request.get("options")) == (
        "CONNECT",
        {"kind": kind, "apiVersion": "v1", **options},
        None,
    )
    assert request["kind"] == {"group": "", "version": "v1", "kind": kind}


async def test_an_admitted_connection_is_made(world: World) -> None:
    """A webhook that allows it leaves the response to the pod; one with an object selector is not asked."""
    await world.hook("v", {"rules": [_rule("pods/exec")]})
    await world.hook("w", {"rules": [_rule("pods/exec")], "objectSelector": {"matchLabels": {"a": "b"}}})
    await world.ask("POST", PODS, POD)

    code, refused = await world.ask("GET", f"{PODS}/p/exec", command="ls")

    assert (code, refused["message"], world.asked) == (400, "pod p does not have a host assigned", ["/v"])


def test_a_policy_refuses_a_command(ask: Asker) -> None:
    """A ValidatingAdmissionPolicy reads the options of an exec."""
    ask("POST", PODS, POD)
    spec = {
        "matchConstraints": {"resourceRules": [_rule("pods/exec")]},
        "validations": [{"expression": "!('sh' in object.command)", "message": "no shell"}],
    }
    ask("POST", f"{ADMISSION}/validatingadmissionpolicies", {"metadata": {"name": "p"}, "spec": spec})
    bound = {"policyName": "p", "validationActions": ["Deny"]}
    ask("POST", f"{ADMISSION}/validatingadmissionpolicybindings", {"metadata": {"name": "p"}, "spec": bound})

    code, refused = ask("GET", f"{PODS}/p/exec", command="sh")
    assert (code, refused["message"].endswith("denied request: no shell")) == (422, True)
    assert ask("GET", f"{PODS}/p/exec", command="ls")[0] == 400
