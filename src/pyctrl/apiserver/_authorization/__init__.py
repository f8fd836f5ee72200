"""Authorization: who may do what.

An `Authorizer` decides about an `Access` of a user: `Rbac` by the roles and bindings in the storage, `AlwaysAllow` for
tests that do not care. `Escalation` keeps everybody from granting what they do not have, and `policy_objects` are the
roles and bindings that a cluster has from the start.
"""

from ._access import access_of, access_refused
from ._escalation import Escalation
from ._policy import store_policy
from ._rbac import AlwaysAllow, Authorizer, Decision, Rbac, aggregated

__all__ = [
    "AlwaysAllow",
    "Authorizer",
    "Decision",
    "Escalation",
    "Rbac",
    "access_of",
    "access_refused",
    "aggregated",
    "store_policy",
]
