"""Authentication: who is asking, by client certificate, bearer token, or as nobody in particular.

`Authenticator` tries what kube-apiserver tries, in its order. Tokens are static ones, named from Python or in a file,
those of service accounts, which `ServiceAccountTokens` makes and checks against what is stored, and what a webhook
knows.
"""

from pyctrl.apiserver._authn.authenticator import Authenticator, AuthenticatorResponse, read_token_file
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
    "ISSUER",
    "NODES",
    "NODE_PREFIX",
    "AuthenticationWebhook",
    "Authenticator",
    "AuthenticatorResponse",
    "BoundObject",
    "Peer",
    "ServiceAccountTokens",
    "User",
    "WebhookTokenAuthenticator",
    "read_token_file",
    "service_account_groups",
    "service_account_of",
    "user_info",
    "user_of_certificate",
]
