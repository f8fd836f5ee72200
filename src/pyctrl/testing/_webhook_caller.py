"""Webhooks of a program asked by an API server in the same process: no socket, no certificate, any clock."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

from pyctrl.apiserver import WebhookCaller, WebhookRequest, WebhookResponse
from pyctrl.webhook import Webhooks

__all__ = ["webhook_caller"]


def webhook_caller(webhooks: Webhooks) -> WebhookCaller:
    """Return what an `ApiServer` takes as ``webhooks=``: it asks these, whatever host the configuration names."""

    async def call(request: WebhookRequest) -> WebhookResponse:
        url = urlsplit(request.url)
        timeout = parse_qs(url.query).get("timeout", [""])[0]
        reply = await webhooks.answer(url.path, request.body, timeout=timeout)
        return WebhookResponse(status=reply.status, body=reply.body)

    return call
