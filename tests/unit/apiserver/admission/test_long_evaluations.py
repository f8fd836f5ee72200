"""Expensive expressions beside other requests: a thread evaluates them, so that the server answers meanwhile."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from pyctrl.apiserver import Response
from pyctrl.testing import run_virtual
from tests.unit.apiserver._kit import CONFIGMAPS, MERGE, Asker
from tests.unit.apiserver.admission._policies import (
    ADMISSION,
    RULE,
    apply_configuration,
    bind_mutating,
    bind_validating,
    json_patch,
)

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
FOOS = "/apis/x.io/v1/namespaces/default/foos"
CANCELLED = "operation cancelled: actual cost limit exceeded"
NUMBERS = "lists.range(300)"
LONG = f"{NUMBERS}.all(x, {NUMBERS}.all(y, x + y >= 0))"  # costs some 660,000
TOO_LONG = LONG.replace("300", "400")
SHORT = LONG.replace("300", "10")


def _install(ask: Asker, *rules: str) -> None:
    validations = [{"rule": rule, "message": "refused"} for rule in rules]
    items = {"type": "array", "maxItems": 600, "items": {"type": "integer"}}
    spec = {"type": "object", "properties": {"n": items}, "x-kubernetes-validations": validations}
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}},
    }
    names = {"plural": "foos", "singular": "foo", "kind": "Foo", "listKind": "FooList"}
    body = {"group": "x.io", "scope": "Namespaced", "names": names, "versions": [version]}
    code, made = ask("POST", DEFINITIONS, {"metadata": {"name": "foos.x.io"}, "spec": body})
    assert code == 201, made


RULE_TEXT = "self.n.all(x, self.n.all(y, x + y >= 0))"


def _foo(count: int) -> dict[str, Any]:
    return {"apiVersion": "x.io/v1", "kind": "Foo", "metadata": {"name": "a"}, "spec": {"n": list(range(count))}}


async def _send(ask: Asker, method: str, path: str, body: Any = None, **headers: str) -> Response:
    data = b"" if body is None else json.dumps(body).encode()
    return await ask.server.handle(method, path, (), headers or {"content-type": "application/json"}, data)


async def _answered_meanwhile(ask: Asker, path: str, body: Any) -> tuple[bool, Response]:
    """Create an object; return whether another request was answered before, and the response."""
    creating = asyncio.create_task(_send(ask, "POST", path, body))
    await asyncio.sleep(0)  # the request begins
    other = await _send(ask, "GET", "/api/v1/namespaces")
    assert other.status == 200
    is_pending = not creating.done()
    return is_pending, await creating


@pytest.mark.real_time
@pytest.mark.parametrize(("count", "code", "is_long"), [(10, 201, False), (300, 201, True), (400, 422, True)])
async def test_other_requests_are_answered_while_a_rule_is_evaluated(
    ask: Asker, count: int, code: int, is_long: bool
) -> None:
    """A rule that costs much does not delay other requests, and its own answer is that of a cluster."""
    _install(ask, RULE_TEXT)
    is_pending, answer = await _answered_meanwhile(ask, FOOS, _foo(count))
    assert (answer.status, is_pending) == (code, is_long)
    assert isinstance(answer.body, bytes)
    assert (CANCELLED.encode() in answer.body) == (code == 422)


@pytest.mark.real_time
@pytest.mark.parametrize("kind", ["validating", "conditions", "variable", "patch", "configuration", "webhook"])
@pytest.mark.parametrize(("text", "is_long"), [(LONG, True), (SHORT, False)])
async def test_other_requests_are_answered_while_a_policy_is_evaluated(
    ask: Asker, kind: str, text: str, is_long: bool
) -> None:
    """Validations, match conditions, variables, both kinds of mutations, and conditions of webhooks do not block."""
    false = [{"name": "c", "expression": f"!{text}"}]  # so that no webhook is called
    match kind:
        case "validating":
            bind_validating(ask, validations=[{"expression": text}])
        case "conditions":
            bind_validating(ask, validations=[{"expression": "false"}], matchConditions=false)
        case "variable":
            variables = [{"name": "v", "expression": text}]
            bind_validating(ask, variables=variables, validations=[{"expression": "variables.v"}])
        case "patch":
            operation = f"JSONPatch{{op: 'add', path: '/data', value: {{'a': string({text})}}}}"
            bind_mutating(ask, json_patch(f"[{operation}]"))
        case "configuration":
            bind_mutating(ask, apply_configuration(f"Object{{data: {{'a': string({text})}}}}"))
        case "webhook":
            _add_webhook(ask, false)
    is_pending, answer = await _answered_meanwhile(ask, CONFIGMAPS, {"metadata": {"name": "a"}})
    assert (answer.status, is_pending) == (201, is_long)
    assert isinstance(answer.body, bytes)
    assert json.loads(answer.body).get("data") == ({"a": "true"} if kind in ("patch", "configuration") else None)


def _add_webhook(ask: Asker, conditions: list[dict[str, str]]) -> None:
    hook = {
        "name": "h.x.io",
        "clientConfig": {"url": "https://unreachable.invalid/"},
        "rules": [RULE],
        "matchConditions": conditions,
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    code, made = ask(
        "POST", f"{ADMISSION}/validatingwebhookconfigurations", {"metadata": {"name": "h"}, "webhooks": [hook]}
    )
    assert code == 201, made


@pytest.mark.real_time
async def test_a_policy_that_costs_too_much_in_a_thread_is_the_error_of_a_cluster(ask: Asker) -> None:
    """The limit of one evaluation ends it, wherever it runs."""
    bind_validating(ask, validations=[{"expression": TOO_LONG}])
    _, answer = await _answered_meanwhile(ask, CONFIGMAPS, {"metadata": {"name": "a"}})
    assert isinstance(answer.body, bytes)
    assert (answer.status, json.loads(answer.body)["message"].endswith(CANCELLED)) == (422, True)


@pytest.mark.real_time
async def test_a_change_during_a_long_evaluation_is_kept(ask: Asker) -> None:
    """An update whose rules take long and a patch that comes meanwhile are both in the object, as in a cluster."""
    _install(ask, RULE_TEXT)
    assert ask("POST", FOOS, _foo(1))[0] == 201
    content = MERGE["Content-Type"]
    long = asyncio.create_task(
        _send(ask, "PATCH", f"{FOOS}/a", {"spec": {"n": list(range(300))}}, **{"content-type": content})
    )
    await asyncio.sleep(0)  # the request begins
    short = {"metadata": {"labels": {"a": "b"}}, "spec": {"n": [1]}}
    assert (await _send(ask, "PATCH", f"{FOOS}/a", short, **{"content-type": content})).status == 200
    assert not long.done()
    assert (await long).status == 200
    _, found = ask("GET", f"{FOOS}/a")
    assert (found["metadata"]["labels"], len(found["spec"]["n"]), found["metadata"]["generation"]) == (
        {"a": "b"},
        300,
        3,
    )


def test_virtual_time_and_requests_without_a_loop_get_the_same_answer(ask: Asker) -> None:
    """Where there is no thread, an expensive rule is evaluated at once."""
    _install(ask, RULE_TEXT)
    code, refused = ask("POST", FOOS, _foo(400))
    answer = run_virtual(_send(ask, "POST", FOOS, _foo(400)))
    assert isinstance(answer.body, bytes)
    assert (code, json.loads(answer.body)["message"]) == (422, refused["message"])
    assert ask("POST", FOOS, _foo(300))[0] == 201
