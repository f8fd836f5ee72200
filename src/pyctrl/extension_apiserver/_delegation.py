"""Delegated authentication and authorization: what an extension API server learns from kube-apiserver.

kube-apiserver reviews tokens (TokenReview) and accesses (SubjectAccessReview). The ConfigMap
``kube-system/extension-apiserver-authentication`` has the authorities of client certificates, and the names and headers
of the aggregator.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Mapping
from random import Random
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from pyctrl._backoff import Backoff
from pyctrl.api import GroupVersionKind, Key, Unstructured
from pyctrl.apiserver import (
    DelegatingRequestAuthenticator,
    RequestHeaderConfig,
    WebhookRequest,
    WebhookResponse,
    WebhookUnreachable,
)
from pyctrl.client import HttpRequest
from pyctrl.errors import ApiError, ConfigError, DecodeError, TransportError

if TYPE_CHECKING:
    from pyctrl.client import Client

__all__ = ["AuthenticationConfig", "DelegatedReviews"]

log = logging.getLogger("pyctrl.extension_apiserver")

CONFIG: Final = Key("kube-system", "extension-apiserver-authentication")
CONFIG_MAP: Final = GroupVersionKind("", "v1", "ConfigMap")

_REVIEWS: Final = {
    "/tokenreviews": "/apis/authentication.k8s.io/v1/tokenreviews",
    "/subjectaccessreviews": "/apis/authorization.k8s.io/v1/subjectaccessreviews",
}


class DelegatedReviews:
    """Posts reviews to kube-apiserver, and conversions to a function of this process."""

    #: The URLs of the reviews in the options of the server's webhooks.
    TOKEN_REVIEWS: Final = "https://kubernetes.default.svc/tokenreviews"
    ACCESS_REVIEWS: Final = "https://kubernetes.default.svc/subjectaccessreviews"

    def __init__(self, client: Client, convert: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> None:
        self._client, self._convert = client, convert

    async def __call__(self, request: WebhookRequest, /) -> WebhookResponse:
        """Return the response to a review.

        Raises:
            WebhookUnreachable: kube-apiserver does not answer.
        """
        path = urlsplit(request.url).path
        if path not in _REVIEWS:
            return WebhookResponse(body=json.dumps(self._convert(json.loads(request.body))).encode())
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        try:
            answer = await self._client.transport.request(
                HttpRequest(
                    method="POST",
                    path=_REVIEWS[path],
                    headers=headers,
                    body=request.body,
                    timeout=request.timeout_seconds,
                )
            )
        except (TransportError, ConfigError) as error:
            raise WebhookUnreachable(str(error)) from error
        content_type = answer.headers.get("Content-Type", "application/json")
        return WebhookResponse(status=answer.status, body=answer.body, content_type=content_type)


class AuthenticationConfig:
    """Follows the ConfigMap of the cluster, and sets what it says on an authenticator.

    Args:
        client: Reads the ConfigMap.
        authenticator: Gets the authorities, names and headers.
        changed: Called after each change.
    """

    def __init__(
        self,
        client: Client,
        authenticator: DelegatingRequestAuthenticator,
        *,
        random: Random,
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        self._client, self._authenticator, self._changed = client, authenticator, changed
        self._backoff = Backoff(random)
        self._ready = asyncio.Event()

    @property
    def authorities(self) -> bytes:
        """The authorities of all client certificates, as PEM."""
        found = (self._authenticator.client_ca, self._authenticator.request_header.client_ca)
        return b"\n".join(filter(None, found))

    async def wait_until_ready(self) -> None:
        """Return when the ConfigMap was read once, or does not exist."""
        await self._ready.wait()

    async def run(self) -> None:
        """Follow the ConfigMap until cancelled. Errors are logged and retried; until then, the last state is used."""
        selector = f"metadata.name={CONFIG.name}"
        while True:
            try:
                found = await self._client.list(CONFIG_MAP, namespace=CONFIG.namespace, fields=selector)
                self._set(found[0] if len(found) else None)
                async for event in self._client.watch(
                    CONFIG_MAP,
                    namespace=CONFIG.namespace,
                    fields=selector,
                    resource_version=found.resource_version,
                ):
                    if event.type != "BOOKMARK":
                        self._set(None if event.type == "DELETED" else event.object)
            except (ApiError, TransportError, DecodeError) as error:
                log.warning("Failed to watch authentication config", extra={"configmap": CONFIG, "error": str(error)})
                await asyncio.sleep(self._backoff.next(asyncio.get_running_loop().time()))

    def _set(self, found: Unstructured | None) -> None:
        data = (found.get("data") or {}) if found is not None else {}
        if found is None:
            log.warning("No authentication config: the aggregator is not trusted", extra={"configmap": CONFIG})
        try:
            request_header = request_header_config(data)
        except ValueError as error:
            log.warning("Invalid authentication config", extra={"configmap": CONFIG, "error": str(error)})
            return
        self._authenticator.request_header = request_header
        self._authenticator.client_ca = str(data.get("client-ca-file") or "").encode()
        self._changed()
        self._ready.set()


def request_header_config(data: Mapping[str, Any]) -> RequestHeaderConfig:
    """Return the proxy that the ConfigMap's data describes.

    Raises:
        ValueError: A list is not a JSON list of strings.
    """
    authority = str(data.get("requestheader-client-ca-file") or "").encode()
    if not authority:
        return RequestHeaderConfig()
    return RequestHeaderConfig(
        client_ca=authority,
        allowed_names=_strings(data, "requestheader-allowed-names"),
        username_headers=_strings(data, "requestheader-username-headers"),
        uid_headers=_strings(data, "requestheader-uid-headers"),
        group_headers=_strings(data, "requestheader-group-headers"),
        extra_header_prefixes=_strings(data, "requestheader-extra-headers-prefix"),
    )


def _strings(data: Mapping[str, Any], key: str) -> tuple[str, ...]:
    found = json.loads(data.get(key) or "[]")
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise ValueError(f"{key} must be a JSON list of strings")
    return tuple(found)
