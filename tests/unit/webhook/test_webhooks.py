"""Webhook paths, registration and invalid requests."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from pyctrl.api import GroupVersionKind
from pyctrl.errors import BuilderError
from pyctrl.kinds.core.v1 import Pod
from pyctrl.webhook import (
    AdmissionRequest,
    AdmissionResponse,
    Conversion,
    Defaulter,
    Reply,
    Service,
    Spoke,
    Url,
    Validator,
    WebhookBuilder,
    Webhooks,
    configurations,
    conversion_stanza,
)
from tests.unit.webhook._kinds import PodSet, PodSetWebhook, podset, question
from tests.unit.webhook.conversion.test_conversion import New, Old, new_to_old, old_to_new

VALIDATE = "/validate-apps-jicki-cn-v1alpha1-podset"


class PodWebhook(Validator[Pod]):
    def validate_delete(self, obj: Pod, request: AdmissionRequest) -> None:
        return None


def podset_webhooks() -> Webhooks:
    webhooks = Webhooks()
    WebhookBuilder(webhooks).admits(PodSet).build(PodSetWebhook())
    return webhooks


def message_of(reply: Reply) -> str:
    status = json.loads(reply.body)
    assert (status["kind"], status["code"]) == ("Status", reply.status)
    return str(status["message"])


def test_paths_are_those_of_controller_runtime() -> None:
    """A path has the group with dashes, the version and the lower-case kind; the core group is empty."""
    webhooks = podset_webhooks()
    WebhookBuilder(webhooks).admits(Pod).build(PodWebhook())
    webhooks.add_conversion(Conversion(New, Spoke(Old, old_to_new, new_to_old)))

    assert webhooks.paths == ("/mutate-apps-jicki-cn-v1alpha1-podset", VALIDATE, "/validate--v1-pod", "/convert")


def test_what_the_api_server_has_to_be_told() -> None:
    """Both configurations have kubebuilder's settings, rules from the kind and operations from the methods."""
    webhooks = podset_webhooks()
    WebhookBuilder(webhooks).admits(Pod).options(failure_policy="Ignore", timeout_seconds=2).build(PodWebhook())

    mutating, validating = configurations(webhooks, name="podset", target=Service("system", "hooks"), ca_bundle=b"CA")

    assert (mutating["kind"], validating["kind"]) == ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
    assert mutating["webhooks"] == [
        {
            "name": "mutate.podset.v1alpha1.apps.jicki.cn",
            "admissionReviewVersions": ["v1"],
            "clientConfig": {
                "service": {
                    "namespace": "system",
                    "name": "hooks",
                    "path": "/mutate-apps-jicki-cn-v1alpha1-podset",
                    "port": 443,
                },
                "caBundle": "Q0E=",
            },
            "failurePolicy": "Fail",
            "matchPolicy": "Equivalent",
            "rules": [
                {
                    "apiGroups": ["apps.jicki.cn"],
                    "apiVersions": ["v1alpha1"],
                    "operations": ["CREATE", "UPDATE"],
                    "resources": ["podsets"],
                    "scope": "Namespaced",
                }
            ],
            "sideEffects": "None",
            "timeoutSeconds": 10,
            "reinvocationPolicy": "Never",
        }
    ]
    pods = validating["webhooks"][1]
    assert (pods["failurePolicy"], pods["timeoutSeconds"], pods["rules"][0]["operations"]) == ("Ignore", 2, ["DELETE"])
    assert validating["webhooks"][0]["rules"][0]["operations"] == ["CREATE", "UPDATE", "DELETE"]


def test_a_server_outside_of_the_cluster_has_a_url() -> None:
    """With a Url the configuration has the full address; other schemes than https are refused."""
    (_, validating) = configurations(podset_webhooks(), name="podset", target=Url("https://10.0.0.1:9443/"))

    assert validating["webhooks"][0]["clientConfig"] == {"url": f"https://10.0.0.1:9443{VALIDATE}"}
    with pytest.raises(BuilderError, match="https:// only"):
        conversion_stanza(Url("http://here"))


def test_definitions_are_told_where_to_convert() -> None:
    """The conversion stanza of a CRD names /convert and v1."""
    assert conversion_stanza(Service("system", "hooks", 8443)) == {
        "strategy": "Webhook",
        "webhook": {
            "clientConfig": {"service": {"namespace": "system", "name": "hooks", "path": "/convert", "port": 8443}},
            "conversionReviewVersions": ["v1"],
        },
    }


def test_mistakes_of_wiring_are_told_at_once() -> None:
    """Each wiring mistake raises an error that names the fix."""
    webhooks = podset_webhooks()

    class Nothing(Validator[PodSet]):
        pass

    class Labels(Defaulter[Any]):
        def default(self, obj: Any, request: AdmissionRequest) -> None:
            return None

    with pytest.raises(BuilderError, match="two webhooks have the path"):
        WebhookBuilder(webhooks).admits(PodSet).build(PodSetWebhook())
    with pytest.raises(BuilderError, match="call admits"):
        WebhookBuilder(webhooks).build(PodSetWebhook())
    with pytest.raises(BuilderError, match="Nothing validates no operation"):
        WebhookBuilder(webhooks).admits(PodSet).build(Nothing())
    with pytest.raises(BuilderError, match="expected a path such as"):
        WebhookBuilder(webhooks).admits(PodSet).options(mutate_path="no slash").build(Labels())
    with pytest.raises(BuilderError, match=r"options\(plural"):
        WebhookBuilder(webhooks).admits(GroupVersionKind("a.b", "v1", "Thing")).build(Labels())
    with pytest.raises(BuilderError, match="Defaulter, a Validator, or both; got 3"):
        WebhookBuilder(webhooks).admits(PodSet).build(3)  # type: ignore[arg-type]


async def test_a_question_is_answered_at_its_path() -> None:
    """A review posted to a path is answered with 200, also if it is a refusal."""
    reply = await podset_webhooks().answer(VALIDATE, json.dumps(question("CREATE", podset(size=1))).encode())

    assert reply.status == 200
    assert json.loads(reply.body)["response"]["status"]["code"] == 422


async def test_what_is_no_question_is_refused_with_a_status() -> None:
    """Unknown paths, other content types, too large bodies and invalid JSON get a 4xx with a message."""
    webhooks = Webhooks(body_limit=100)
    WebhookBuilder(webhooks).admits(PodSet).build(PodSetWebhook())

    unknown = await webhooks.answer("/validate", b"{}")
    assert (unknown.status, VALIDATE in message_of(unknown)) == (404, True)
    text = await webhooks.answer(VALIDATE, b"{}", content_type="text/plain")
    assert (text.status, message_of(text)) == (415, "contentType=text/plain, expected application/json")
    large = await webhooks.answer(VALIDATE, b" " * 101)
    assert (large.status, message_of(large)) == (413, "the review has 101 bytes; the limit is 100")
    broken = await webhooks.answer(VALIDATE, b"{")
    assert (broken.status, "not valid JSON" in message_of(broken)) == (400, True)
    pod = await webhooks.answer(VALIDATE, b'{"apiVersion": "v1", "kind": "Pod"}')
    assert (pod.status, "got v1, Kind=Pod" in message_of(pod)) == (400, True)


async def test_nobody_works_for_an_answer_that_is_not_awaited() -> None:
    """A handler is cancelled after the API server's timeout, or after 30 seconds without one."""
    webhooks = Webhooks()

    async def never(request: AdmissionRequest) -> AdmissionResponse:
        await asyncio.Event().wait()
        raise AssertionError

    webhooks.add("/never", never)
    loop = asyncio.get_running_loop()
    body = json.dumps(question("CREATE", podset())).encode()
    begin = loop.time()

    reply = await webhooks.answer("/never", body, timeout="5s")
    assert (reply.status, loop.time() - begin) == (504, 5)
    assert message_of(reply) == "the webhook at /never took longer than 5 s"
    await webhooks.answer("/never", body)
    assert loop.time() - begin == 35


async def test_what_is_asked_is_counted() -> None:
    """Requests are counted by path and status, handler errors separately, unknown paths not at all."""
    webhooks = podset_webhooks()
    for size in (1, 2, 13):
        await webhooks.answer(VALIDATE, json.dumps(question("CREATE", podset(size=size))).encode())
    await webhooks.answer(VALIDATE, b"{")
    await webhooks.answer("/unknown", b"{}")

    counted = {
        (family.name, labels.get("webhook"), labels.get("code")): value
        for family in webhooks.meter.collect_metrics()
        if family.kind == "counter"
        for labels, value in family.samples
    }
    requests = "controller_runtime_webhook_requests_total"
    assert (counted[requests, VALIDATE, "200"], counted[requests, VALIDATE, "400"]) == (3, 1)
    assert counted["controller_runtime_webhook_panics_total", None, None] == 1
    assert not any(path == "/unknown" for _, path, _ in counted)


DEEP = b'{"request":{"uid":"a","operation":"CREATE","object":%b}}' % (b'{"a":' * 900 + b"1" + b"}" * 900)


@pytest.mark.parametrize(
    ("body", "content_type", "code"),
    [
        (b'{"a":"\xff"}', "application/json", 400),
        (b"[" * 100_000, "application/json", 400),
        (b'{"request":' * 100_000, "application/json", 400),
        (DEEP, "application/json", 400),
        (b"{}", "\udcff", 415),
    ],
)
async def test_hostile_input_is_refused(
    caplog: pytest.LogCaptureFixture, body: bytes, content_type: str, code: int
) -> None:
    """Invalid text and deep nesting get a 4xx with a Status, without a traceback."""
    reply = await podset_webhooks().answer(VALIDATE, body, content_type=content_type, timeout="10s")
    assert (reply.status, json.loads(reply.body)["kind"]) == (code, "Status")
    assert not [record for record in caplog.records if record.exc_info]


@pytest.mark.parametrize("timeout", ["9" * 5000 + "s", "0" * 5000 + "s", "\N{SUPERSCRIPT TWO}s", "\udcff"])
async def test_any_timeout_is_survived(timeout: str) -> None:
    """A timeout with 5,000 digits or without a number counts as the longest one."""
    review = json.dumps(question("CREATE", podset(size=3))).encode()
    reply = await podset_webhooks().answer(VALIDATE, review, timeout=timeout)
    assert reply.status == 200
