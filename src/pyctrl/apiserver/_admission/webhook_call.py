"""Call of one admission webhook for one write."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pyctrl._go.text import quoted
from pyctrl.apiserver._admission.admission_review import (
    InvalidReview,
    VerifiedResponse,
    admission_review_of,
    verify_admission_response,
)
from pyctrl.apiserver._admission.attributes import Attributes
from pyctrl.apiserver._admission.webhook_source import WebhookAccessor
from pyctrl.apiserver._errors import StatusError, internal_error
from pyctrl.apiserver._meta.system_fields import new_uid
from pyctrl.apiserver._webhooks import InvalidClientConfig, WebhookCallFailed, WebhookClient, WebhookUsers

if TYPE_CHECKING:
    from pyctrl.apiserver._resources.resource_type import ResourceType
    from pyctrl.apiserver._schema.components import OpenAPIComponents

__all__ = ["AdmissionReviewClient", "CallingWebhookFailed"]


BAD_REQUEST = 400


class CallingWebhookFailed(Exception):
    """Raised if the call of a webhook failed; its failure policy decides about the write."""

    def __init__(self, hook: WebhookAccessor, why: str) -> None:
        super().__init__(f"failed calling webhook {quoted(hook.name)}: {why}")

    def error(self) -> StatusError:
        """Return the 500 error of a webhook with failurePolicy Fail."""
        return internal_error(str(self))


class AdmissionReviewClient:
    """Client that sends AdmissionReviews to webhooks."""

    def __init__(
        self, client: WebhookClient, components: OpenAPIComponents, random: Random, users: WebhookUsers
    ) -> None:
        self._client, self._users = client, users
        self._components = components
        self._random = random

    async def call(
        self,
        hook: WebhookAccessor,
        attributes: Attributes,
        wanted: ResourceType,
        objects: tuple[dict[str, Any] | None, dict[str, Any] | None],
        *,
        mutating: bool,
    ) -> VerifiedResponse:
        """Return the response of a webhook that allows a write.

        Raises:
            CallingWebhookFailed: The call failed, or the response is invalid.
            StatusError: The webhook denied the write.
        """
        attributes.request.must_wait("a webhook")
        version, uid = hook.review_version, new_uid(self._random)
        review = admission_review_of(attributes, wanted, objects, version=version, uid=uid)
        try:
            credentials = self._users.find(_host_of(hook.config))
            answer = await self._client.post(hook.config, review, hook.timeout_seconds, credentials)
            response = verify_admission_response(
                answer, version=version, uid=uid, mutating=mutating, components=self._components
            )
        except InvalidClientConfig as failed:
            raise CallingWebhookFailed(hook, f"could not get REST client: {failed}") from None
        except WebhookCallFailed as failed:
            raise CallingWebhookFailed(hook, f"failed to call webhook: {failed}") from None
        except InvalidReview as invalid:
            problem = "received invalid webhook response" if invalid.is_readable else "failed to call webhook"
            raise CallingWebhookFailed(hook, f"{problem}: {invalid}") from None
        for key, value in response.annotations.items():
            attributes.annotate(f"{hook.name}/{key}", value)
        for warning in response.warnings:
            attributes.warn(warning)
        if not response.allowed:
            raise _denied(hook, response.status)
        return response


def _host_of(config: Mapping[str, Any]) -> str:
    """Return host and port of a `clientConfig`, as users of a kubeconfig name them."""
    if service := config.get("service"):
        return f"{service['name']}.{service['namespace']}.svc:{service.get('port') or 443}"
    found = urlsplit(config["url"])
    return found.netloc if found.port is not None else f"{found.netloc}:443"


def _denied(hook: WebhookAccessor, status: dict[str, Any]) -> StatusError:
    """Return the error of a denial with the webhook's Status; a success code or status becomes a failure."""
    code = max(status.get("code") or 0, BAD_REQUEST)
    why = status.get("message") or status.get("reason")
    denial = f"denied the request: {why}" if why else "denied the request without explanation"
    response = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": status.get("metadata") or {},
        "status": "Failure" if status.get("status") in (None, "", "Success") else status["status"],
        "message": f"admission webhook {quoted(hook.name)} {denial}",
        "reason": status.get("reason"),
        "details": status.get("details"),
        "code": code,
    }
    return StatusError(code, {name: value for name, value in response.items() if value is not None})
