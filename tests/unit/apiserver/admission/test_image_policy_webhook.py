"""ImagePolicyWebhook: reviews of images, their cache, and failures."""

from __future__ import annotations

import json
from datetime import timedelta
from random import Random
from typing import Any

import pytest

from pyctrl.apiserver import (
    AdmissionConfiguration,
    ApiServer,
    AuditLog,
    WebhookRequest,
    WebhookResponse,
    WebhookUnreachable,
)
from pyctrl.apiserver._admission.image_policy_webhook import ImagePolicyConfiguration
from pyctrl.apiserver._webhooks import WebhookTarget
from tests.unit.apiserver.admission.plugins._admitted import PODS, pod

FORBIDDEN = 'pods "p" is forbidden: '


class Registry:
    """A server whose images a webhook reviews; `status` is its answer, None for no answer."""

    def __init__(self, audit: AuditLog | None = None, **configuration: Any) -> None:
        self.status: dict[str, Any] | None = {"allowed": True}
        self.answer: WebhookResponse | None = None  # instead of a review
        self.specs: list[dict[str, Any]] = []
        policy = ImagePolicyConfiguration(target=WebhookTarget("https://images.invalid/review"), **configuration)
        self.server = ApiServer(
            random=Random(7),
            webhooks=self._review,
            audit=audit,
            enable_admission_plugins=["ImagePolicyWebhook"],
            admission_configuration=AdmissionConfiguration(image_policy=policy),
        )

    async def _review(self, request: WebhookRequest) -> WebhookResponse:
        review = json.loads(request.body)
        self.specs.append(review["spec"])
        if self.answer is not None:
            return self.answer
        if self.status is None:
            raise WebhookUnreachable("EOF")
        return WebhookResponse(body=json.dumps({**review, "status": self.status}).encode())

    async def create(self, body: dict[str, Any], path: str = PODS) -> tuple[int, Any]:
        """Create an object; return the code and the object, or the message of the refusal."""
        answer = await self.server.handle("POST", path, (), {}, json.dumps(body).encode())
        assert isinstance(answer.body, bytes)
        found = json.loads(answer.body)
        return answer.status, found if answer.status == 201 else found["message"]


async def test_the_images_of_a_pod_are_reviewed() -> None:
    """The review has the images of all containers, the namespace, and the annotations for the webhook."""
    registry = Registry()
    body = pod(initContainers=[{"name": "d", "image": "j"}])
    body["metadata"]["annotations"] = {"a.image-policy.k8s.io/ticket": "1", "other": "2"}
    assert (await registry.create(body))[0] == 201
    annotations = {"a.image-policy.k8s.io/ticket": "1"}
    images = [{"image": "i"}, {"image": "j"}]
    assert registry.specs == [{"containers": images, "annotations": annotations, "namespace": "default"}]
    assert (await registry.create({"metadata": {"name": "a"}}, PODS.replace("pods", "configmaps")))[0] == 201
    assert len(registry.specs) == 1


@pytest.mark.parametrize(
    ("reason", "why"),
    [
        ("latest", "image policy webhook backend denied one or more images: latest"),
        ("", "one or more images rejected by webhook backend"),
    ],
)
async def test_a_denied_image_is_forbidden(reason: str, why: str) -> None:
    """A pod with an image that the webhook denies is refused with its reason."""
    registry = Registry()
    registry.status = {"allowed": False, "reason": reason}
    assert await registry.create(pod()) == (403, FORBIDDEN + why)


async def test_reviews_are_cached_for_their_time() -> None:
    """The same images are reviewed once, until the time for their answer is over."""
    registry = Registry(allow_ttl=timedelta(hours=1), deny_ttl=timedelta(0))
    assert [(await registry.create(pod(name)))[0] for name in ("a", "b")] == [201, 201]
    assert len(registry.specs) == 1
    registry.status = {"allowed": False}
    bad = {**pod("c"), "spec": {"containers": [{"name": "c", "image": "bad"}]}}
    assert [(await registry.create(bad))[0] for _ in range(2)] == [403, 403]
    assert len(registry.specs) == 3


async def test_a_webhook_that_fails_denies_pods() -> None:
    """Without an answer the pod is refused, with the error of the call."""
    registry = Registry()
    registry.status = None
    assert await registry.create(pod()) == (403, f'{FORBIDDEN}Post "https://images.invalid/review?timeout=30s": EOF')


async def test_pods_are_allowed_by_default_where_the_webhook_fails() -> None:
    """With `defaultAllow` the pod is created, and the audit event says that nothing has reviewed it."""
    lines: list[bytes] = []
    registry = Registry(default_allow=True, audit=AuditLog(lines.append))
    registry.status = None
    code, made = await registry.create(pod())
    assert (code, made["metadata"].get("annotations")) == (201, None)
    (event,) = map(json.loads, lines)
    assert event["annotations"]["imagepolicywebhook.image-policy.k8s.io/failed-open"] == "true"


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (
            {"kind": "Pod", "apiVersion": "v1"},
            f"{FORBIDDEN}converting (v1.Pod) to (v1alpha1.ImageReview): unknown conversion",
        ),
        ({"kind": "Status", "message": "no way"}, "no way"),
        ({"status": {"allowed": True}}, ""),
    ],
)
async def test_answers_of_other_kinds_have_the_messages_of_a_cluster(answer: dict[str, Any], why: str) -> None:
    """Another kind is refused, a refused access has its own message, and an answer without a kind is a review."""
    registry = Registry()
    registry.answer = WebhookResponse(body=json.dumps(answer).encode(), status=403 if why == "no way" else 200)
    code, found = await registry.create(pod())
    assert (code, found if code != 201 else "") == ((403, why) if why else (201, ""))


async def test_audit_annotations_of_the_review_are_logged() -> None:
    """The audit event has the annotations of the review, with the prefix of the plugin."""
    lines: list[bytes] = []
    registry = Registry(audit=AuditLog(lines.append))
    registry.status = {"allowed": True, "auditAnnotations": {"scan": "clean"}}
    assert (await registry.create(pod()))[0] == 201
    assert json.loads(lines[0])["annotations"]["imagepolicywebhook.image-policy.k8s.io/scan"] == "clean"


async def test_ephemeral_containers_are_reviewed() -> None:
    """The images of ephemeral containers are reviewed when they are added."""
    registry = Registry()
    assert (await registry.create(pod()))[0] == 201
    debugger = {"spec": {"ephemeralContainers": [{"name": "d", "image": "debugger"}]}}
    headers = {"content-type": "application/strategic-merge-patch+json"}
    registry.status = {"allowed": False}
    path = f"{PODS}/p/ephemeralcontainers"
    answer = await registry.server.handle("PATCH", path, (), headers, json.dumps(debugger).encode())
    assert (answer.status, registry.specs[-1]["containers"]) == (403, [{"image": "debugger"}])
