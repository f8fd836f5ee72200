"""Calls of webhooks: how a review gets to the program that answers it, and what can go wrong on the way.

Admission, conversion, and questions about users use the same `WebhookClient`. It takes the `clientConfig` of a webhook
and hands a `WebhookRequest` to a `WebhookCaller`: the one that speaks HTTPS, or one in this process, which needs no
sockets and works in virtual time.
"""

from pyctrl.apiserver._webhooks._calls import (
    ServiceReference,
    WebhookAnswer,
    WebhookCaller,
    WebhookRequest,
    WebhookUnreachable,
)
from pyctrl.apiserver._webhooks._client import CallFailed, NoClient, WebhookClient
from pyctrl.apiserver._webhooks._https import HttpsCaller
from pyctrl.apiserver._webhooks._questions import Kept, Questioner, Undecided, settled
from pyctrl.apiserver._webhooks._services import ServiceResolver, Services

__all__ = [
    "CallFailed",
    "HttpsCaller",
    "Kept",
    "NoClient",
    "Questioner",
    "ServiceReference",
    "ServiceResolver",
    "Services",
    "Undecided",
    "WebhookAnswer",
    "WebhookCaller",
    "WebhookClient",
    "WebhookRequest",
    "WebhookUnreachable",
    "settled",
]
