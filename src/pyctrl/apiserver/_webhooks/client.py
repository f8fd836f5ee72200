"""Client that posts reviews to webhooks; its errors are in the words of kube-apiserver's REST client."""

from __future__ import annotations

import asyncio
import base64
import posixpath
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from pyctrl._go.server_errors import generic_server_message
from pyctrl._go.text import quoted
from pyctrl.apiserver._errors import bad_request
from pyctrl.apiserver._serializer.decoding import decode_json
from pyctrl.apiserver._serializer.yaml_reader import read_yaml
from pyctrl.apiserver._storage.encoding import encode_object
from pyctrl.apiserver._webhooks.caller import (
    ServiceReference,
    WebhookCaller,
    WebhookCredentials,
    WebhookRequest,
    WebhookResponse,
    WebhookUnreachable,
)

__all__ = ["InvalidClientConfig", "WebhookCallFailed", "WebhookClient"]


_CERTIFICATE = b"-----BEGIN CERTIFICATE-----"
_NO_CREDENTIALS = WebhookCredentials()
_SUCCESS = range(200, 207)


class WebhookCallFailed(Exception):
    """Raised if the call of a webhook failed or did not return JSON. The text is kube-apiserver's.

    ``status`` is the status code of an error response, else 0.
    """

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


class InvalidClientConfig(WebhookCallFailed):
    """Raised for a `clientConfig` that no request can be made from."""


class WebhookClient:
    """Posts reviews through a `WebhookCaller`."""

    def __init__(self, call: WebhookCaller) -> None:
        self._call = call

    async def post(
        self,
        config: Mapping[str, Any],
        review: Mapping[str, Any],
        timeout_seconds: int,
        credentials: WebhookCredentials = _NO_CREDENTIALS,
    ) -> Any:
        """Post a review to the webhook of a `clientConfig` and return the decoded body of the response.

        Raises:
            InvalidClientConfig: The CA bundle has no certificate.
            WebhookCallFailed: There was no response in time, an error response, or a body that is not JSON.
        """
        request = webhook_request_of(config, encode_object(review), timeout_seconds, credentials)
        try:
            async with asyncio.timeout(timeout_seconds):
                response = await self._call(request)
        except TimeoutError:
            raise WebhookCallFailed(f"Post {quoted(request.url)}: context deadline exceeded") from None
        except (WebhookUnreachable, OSError) as error:
            url = getattr(error, "url", "") or request.url
            raise WebhookCallFailed(f"Post {quoted(url)}: {error}") from None
        return _decoded(response)


def webhook_request_of(
    config: Mapping[str, Any], body: bytes, timeout_seconds: int, credentials: WebhookCredentials = _NO_CREDENTIALS
) -> WebhookRequest:
    """Return the request for a `clientConfig`."""
    service, url = None, config.get("url")
    ca = base64.b64decode(config.get("caBundle") or "")
    if ca and _CERTIFICATE not in ca:
        raise InvalidClientConfig("unable to load root certificates: unable to parse bytes as PEM block")
    if not url:
        named = config["service"]
        service = ServiceReference(named["namespace"], named["name"], named.get("port") or 443)
        server, path = f"https://{service.name}.{service.namespace}.svc:{service.port}", named.get("path") or ""
    else:
        parts = urlsplit(url)
        server, path = f"{parts.scheme}://{parts.netloc}", unquote(parts.path)
    return WebhookRequest(
        url=f"{server}{_cleaned(path)}?timeout={timeout_seconds}s",
        body=body,
        timeout_seconds=timeout_seconds,
        ca=ca,
        service=service,
        credentials=credentials,
    )


def _cleaned(path: str) -> str:
    """Normalize a path as client-go's REST client: single slashes, no dot segments, no trailing slash, escaped."""
    return quote(posixpath.normpath(f"/{path.lstrip('/')}"), safe="/$&+,:;=@~")


def _decoded(answer: WebhookResponse) -> Any:
    """Decode the body of a response: JSON, or YAML as in kube-apiserver's client."""
    if answer.status not in _SUCCESS:
        raise WebhookCallFailed(_error_message(answer), answer.status)
    if not answer.body:
        kind = answer.content_type
        raise WebhookCallFailed(f"0-length response with status code: {answer.status} and content type: {kind}")
    try:
        return decode_json(answer.body)
    except ValueError:
        return _read_yaml(answer.body)


def _read_yaml(body: bytes) -> Any:
    try:
        return read_yaml(body, [])
    except ValueError as error:
        raise bad_request(f"error converting YAML to JSON: {error}") from None


def _error_message(answer: WebhookResponse) -> str:
    """Return the message of an error response: that of a Status in its body, or client-go's for the code."""
    try:
        status = decode_json(answer.body)
    except ValueError:
        status = None
    if isinstance(status, dict) and status.get("kind") == "Status" and status.get("message"):
        return str(status["message"])
    is_text = answer.content_type.startswith("text/")
    text = answer.body.decode("utf-8", "replace").strip() if is_text else "unknown"
    return generic_server_message(answer.status, text) or "unknown"
