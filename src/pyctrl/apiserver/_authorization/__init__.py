"""Authorization: who may do what.

An `Authorizer` decides about an `Access` of a user: `Rbac` by the roles and bindings in the storage, `AccessWebhook` as
a webhook does, `AlwaysAllow` for tests that do not care; `Union` asks several. `Escalation` keeps everybody from
granting what they do not have, and `policy_objects` are the roles and bindings that a cluster has from the start.
"""

from pyctrl.apiserver._authorization._access import access_of, access_refused
from pyctrl.apiserver._authorization._escalation import Escalation
from pyctrl.apiserver._authorization._policy import store_policy
from pyctrl.apiserver._authorization._rbac import AlwaysAllow, Authorizer, Decision, Rbac, aggregated
from pyctrl.apiserver._authorization._union import Union
from pyctrl.apiserver._authorization._webhook import AccessWebhook, AuthorizationWebhook

__all__ = [
    "AccessWebhook",
    "AlwaysAllow",
    "AuthorizationWebhook",
    "Authorizer",
    "Decision",
    "Escalation",
    "Rbac",
    "Union",
    "access_of",
    "access_refused",
    "aggregated",
    "store_policy",
]
