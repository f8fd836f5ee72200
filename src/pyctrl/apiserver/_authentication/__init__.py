"""Authentication: who is asking, by client certificate, bearer token, or as nobody in particular.

`Authenticator` tries what kube-apiserver tries, in its order. Tokens are static ones, named from Python or in a file,
those of service accounts, which `AccountTokens` makes and checks against what is stored, and what a webhook knows.
"""

from pyctrl.apiserver._authentication._account_tokens import ISSUER, AccountTokens, BoundObject
from pyctrl.apiserver._authentication._authenticator import Authenticator, Reviewed
from pyctrl.apiserver._authentication._certificates import user_of_certificate
from pyctrl.apiserver._authentication._token_file import read_token_file
from pyctrl.apiserver._authentication._user import (
    ADMINISTRATORS,
    ANONYMOUS,
    ANONYMOUS_GROUP,
    AUTHENTICATED,
    NODE_PREFIX,
    NODES,
    Peer,
    User,
    account_groups,
    account_of,
    user_info,
)
from pyctrl.apiserver._authentication._webhook import AuthenticationWebhook, TokenWebhook

__all__ = [
    "ADMINISTRATORS",
    "ANONYMOUS",
    "ANONYMOUS_GROUP",
    "AUTHENTICATED",
    "ISSUER",
    "NODES",
    "NODE_PREFIX",
    "AccountTokens",
    "AuthenticationWebhook",
    "Authenticator",
    "BoundObject",
    "Peer",
    "Reviewed",
    "TokenWebhook",
    "User",
    "account_groups",
    "account_of",
    "read_token_file",
    "user_info",
    "user_of_certificate",
]
