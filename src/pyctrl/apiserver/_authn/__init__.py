"""Authentication by client certificate or bearer token, with anonymous access otherwise.

`Authenticator` tries kube-apiserver's methods in its order. Bearer tokens are static tokens (set from Python or read
from a file), service account tokens, which `ServiceAccountTokens` issues and validates, and tokens of a webhook.
"""

from pyctrl.apiserver._authn.authenticator import Authenticator, AuthenticatorResponse, read_token_file
from pyctrl.apiserver._authn.request_header import (
    FRONT_PROXY,
    REPEATED,
    DelegatingRequestAuthenticator,
    RequestAuthenticator,
    RequestHeaderConfig,
)
from pyctrl.apiserver._authn.service_account_tokens import ISSUER, BoundObject, ServiceAccountTokens
from pyctrl.apiserver._authn.webhook import AuthenticationWebhook, WebhookTokenAuthenticator
from pyctrl.apiserver._user import (
    ADMINISTRATORS,
    ANONYMOUS,
    ANONYMOUS_GROUP,
    AUTHENTICATED,
    NODE_PREFIX,
    NODES,
    Peer,
    User,
    service_account_groups,
    service_account_of,
    user_info,
    user_of_certificate,
)

__all__ = [
    "ADMINISTRATORS",
    "ANONYMOUS",
    "ANONYMOUS_GROUP",
    "AUTHENTICATED",
    "FRONT_PROXY",
    "ISSUER",
    "NODES",
    "NODE_PREFIX",
    "REPEATED",
    "AuthenticationWebhook",
    "Authenticator",
    "AuthenticatorResponse",
    "BoundObject",
    "DelegatingRequestAuthenticator",
    "Peer",
    "RequestAuthenticator",
    "RequestHeaderConfig",
    "ServiceAccountTokens",
    "User",
    "WebhookTokenAuthenticator",
    "read_token_file",
    "service_account_groups",
    "service_account_of",
    "user_info",
    "user_of_certificate",
]
