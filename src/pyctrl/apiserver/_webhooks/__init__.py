"""Webhook calls of the server.

Admission, conversion, authentication and authorization use the same `WebhookClient`. It takes the `clientConfig` of a
webhook and passes a `WebhookRequest` to a `WebhookCaller`: `HttpsCaller`, or one in this process, which needs no
sockets and works in virtual time.
"""

from pyctrl.apiserver._webhooks.caller import (
    ServiceReference,
    WebhookCaller,
    WebhookCredentials,
    WebhookRequest,
    WebhookResponse,
    WebhookUnreachable,
)
from pyctrl.apiserver._webhooks.client import InvalidClientConfig, WebhookCallFailed, WebhookClient
from pyctrl.apiserver._webhooks.https_caller import HttpsCaller
from pyctrl.apiserver._webhooks.kubeconfig import (
    WebhookTarget,
    WebhookUsers,
    read_webhook_target,
    read_webhook_users,
)
from pyctrl.apiserver._webhooks.service_resolver import EndpointServiceResolver, ServiceResolver
from pyctrl.apiserver._webhooks.user_webhooks import ReviewCache, ReviewClient, ReviewPending, resolve_reviews

__all__ = [
    "EndpointServiceResolver",
    "HttpsCaller",
    "InvalidClientConfig",
    "ReviewCache",
    "ReviewClient",
    "ReviewPending",
    "ServiceReference",
    "ServiceResolver",
    "WebhookCallFailed",
    "WebhookCaller",
    "WebhookClient",
    "WebhookCredentials",
    "WebhookRequest",
    "WebhookResponse",
    "WebhookTarget",
    "WebhookUnreachable",
    "WebhookUsers",
    "read_webhook_target",
    "read_webhook_users",
    "resolve_reviews",
]
