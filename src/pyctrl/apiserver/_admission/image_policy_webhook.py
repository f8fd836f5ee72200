"""Plugin ImagePolicyWebhook: a webhook that reviews the images of pods, with a cache of its reviews."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from random import Random
from typing import Any, Final

import msgspec

from pyctrl.apiserver._admission.attributes import CREATE, UPDATE, Attributes
from pyctrl.apiserver._errors import StatusError
from pyctrl.apiserver._webhooks import ReviewCache, ReviewClient, WebhookCallFailed, WebhookClient, WebhookTarget

__all__ = ["ImagePolicyConfiguration", "ImagePolicyWebhook"]


_AUDIT: Final = "imagepolicywebhook.image-policy.k8s.io/"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImagePolicyConfiguration:
    """The configuration of ImagePolicyWebhook.

    Attributes:
        target: The webhook.
        allow_ttl: How long to cache that images are allowed.
        deny_ttl: How long to cache that they are denied.
        retry_backoff: The pause before the second call, if the first fails.
        default_allow: Whether pods are allowed if the webhook fails.
    """

    target: WebhookTarget
    allow_ttl: timedelta = timedelta(minutes=5)
    deny_ttl: timedelta = timedelta(seconds=30)
    retry_backoff: timedelta = timedelta(milliseconds=500)
    default_allow: bool = False


class ImagePolicyWebhook:
    """Admission plugin that denies pods whose images the webhook does not allow."""

    is_idle = False

    def __init__(self, configuration: ImagePolicyConfiguration, client: WebhookClient, random: Random) -> None:
        self._configuration = configuration
        target, pause = configuration.target, configuration.retry_backoff.total_seconds()
        self._client = ReviewClient(
            client, random, url=target.url, ca=target.ca, credentials=target.credentials, first_pause=pause
        )
        self._cache: ReviewCache[bytes, dict[str, Any]] = ReviewCache()

    async def mutate(self, attributes: Attributes) -> None:
        """Do nothing."""

    async def validate(self, attributes: Attributes) -> None:
        """Have the images of a pod or of its ephemeral containers reviewed.

        Raises:
            StatusError: 403, the webhook denied an image, or failed.
        """
        target = attributes.request.target
        is_pod = (target.group, target.resource) == ("", "pods") and target.subresource in ("", "ephemeralcontainers")
        pod = attributes.object
        if pod is None or not is_pod or attributes.operation not in (CREATE, UPDATE):
            return
        status = await self._reviewed(attributes, _spec(pod, target.subresource, target.namespace))
        for key, value in (status.get("auditAnnotations") or {}).items():
            attributes.annotate(f"{_AUDIT}{key}", value)
        if not status.get("allowed"):
            reason = status.get("reason")
            denied = f"image policy webhook backend denied one or more images: {reason}"
            raise attributes.forbidden(denied if reason else "one or more images rejected by webhook backend")

    async def _reviewed(self, attributes: Attributes, spec: dict[str, Any]) -> Mapping[str, Any]:
        """Return the status of a review, from the cache or the webhook."""
        key = msgspec.json.encode(spec)
        if (known := self._cache.find(key)) is not None:
            return known
        attributes.request.must_wait("a webhook")
        review = {"kind": "ImageReview", "apiVersion": "imagepolicy.k8s.io/v1alpha1", "metadata": {}, "spec": spec}
        try:
            status = await self._client.review({**review, "status": {"allowed": False}})
        except (WebhookCallFailed, StatusError) as failed:
            if not self._configuration.default_allow:
                raise _refused(attributes, failed) from None
            attributes.annotate(f"{_AUDIT}failed-open", "true")
            return {"allowed": True}
        configuration = self._configuration
        ttl = configuration.allow_ttl if status.get("allowed") else configuration.deny_ttl
        self._cache.put(key, status, ttl.total_seconds())
        return status


def _refused(attributes: Attributes, failed: Exception) -> StatusError:
    """Return the error of a webhook that failed; one that refuses access has its own message, as in kube-apiserver."""
    error = attributes.forbidden(str(failed))
    if isinstance(failed, WebhookCallFailed) and failed.status == 403:
        status = {key: each for key, each in error.status.items() if key != "details"}
        return StatusError(403, {**status, "message": str(failed)})
    return error


def _spec(pod: Mapping[str, Any], subresource: str, namespace: str | None) -> dict[str, Any]:
    """Return the spec of the review of a pod: its images, and its annotations for the webhook."""
    spec = pod.get("spec") or {}
    lists = ("ephemeralContainers",) if subresource else ("containers", "initContainers")
    images = [{"image": each.get("image", "")} for name in lists for each in spec.get(name) or ()]
    annotations = pod["metadata"].get("annotations") or {}
    shown = {key: each for key, each in sorted(annotations.items()) if ".image-policy.k8s.io/" in key}
    found = {"containers": images, "annotations": shown, "namespace": namespace}
    return {key: each for key, each in found.items() if each}
