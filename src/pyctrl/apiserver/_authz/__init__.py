"""Authorization: who may do what.

An `Authorizer` decides about an `Access` of a user: `RBACAuthorizer` by the roles and bindings in the storage,
`WebhookAuthorizer` as
a webhook does, `AlwaysAllowAuthorizer` for tests that do not care; `UnionAuthorizer` asks several. `EscalationCheck`
keeps everybody from
granting what they do not have, and `policy_objects` are the roles and bindings that a cluster has from the start.
"""

from pyctrl.apiserver._authz.authorizer import UnionAuthorizer, access_forbidden, access_of
from pyctrl.apiserver._authz.escalation import EscalationCheck
from pyctrl.apiserver._authz.rbac import AlwaysAllowAuthorizer, Authorizer, Decision, RBACAuthorizer, aggregate_messages
from pyctrl.apiserver._authz.webhook import AuthorizationWebhook, WebhookAuthorizer

__all__ = [
    "AlwaysAllowAuthorizer",
    "AuthorizationWebhook",
    "Authorizer",
    "Decision",
    "EscalationCheck",
    "RBACAuthorizer",
    "UnionAuthorizer",
    "WebhookAuthorizer",
    "access_forbidden",
    "access_of",
    "aggregate_messages",
]
