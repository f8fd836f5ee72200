"""Caller of a program's webhooks for an API server in the same process: no socket, no certificate, any clock."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

from pyctrl.apiserver import WebhookCaller, WebhookRequest, WebhookResponse
from pyctrl.webhook import Webhooks

__all__ = ["webhook_caller"]


def webhook_caller(webhooks: Webhooks) -> WebhookCaller:
    """Return the ``webhooks=`` argument of an `ApiServer` that calls ``webhooks`` for any host of a configuration."""

    async def call(request: WebhookRequest) -> WebhookResponse:
        url = urlsplit(request.url)
        timeout = parse_qs(url.query).get("timeout", [""])[0]
        reply = await webhooks.answer(url.path, request.body, timeout=timeout)
        return WebhookResponse(status=reply.status, body=reply.body)

    return call
