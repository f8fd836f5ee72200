"""Authorization of requests.

An `Authorizer` decides whether a user has an `Access`: `RBACAuthorizer` by the stored roles and bindings,
`NodeAuthorizer` by the pods of a kubelet, `WebhookAuthorizer` by SubjectAccessReviews, and `AlwaysAllowAuthorizer`
always. `UnionAuthorizer` combines several.
`EscalationCheck` rejects writes of roles and bindings that grant permissions which the user does not have.
"""

from pyctrl.apiserver._authz.authorizer import (
    AlwaysAllowAuthorizer,
    AlwaysAllowPathsAuthorizer,
    Authorizer,
    Decision,
    UnionAuthorizer,
    access_forbidden,
)
from pyctrl.apiserver._authz.escalation import EscalationCheck
from pyctrl.apiserver._authz.node import NodeAuthorizer
from pyctrl.apiserver._authz.rbac import RBACAuthorizer
from pyctrl.apiserver._authz.webhook import AuthorizationWebhook, WebhookAuthorizer

__all__ = [
    "AlwaysAllowAuthorizer",
    "AlwaysAllowPathsAuthorizer",
    "AuthorizationWebhook",
    "Authorizer",
    "Decision",
    "EscalationCheck",
    "NodeAuthorizer",
    "RBACAuthorizer",
    "UnionAuthorizer",
    "WebhookAuthorizer",
    "access_forbidden",
]
