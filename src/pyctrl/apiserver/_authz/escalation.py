"""Privilege escalation check of writes to roles and bindings.

It runs between decoding and validation. In kube-apiserver it is part of the storage of these kinds (policybased).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pyctrl._go.text import aggregate_messages, quoted
from pyctrl.api import Access, AccessRule, missing_rules
from pyctrl.apiserver._authn import User
from pyctrl.apiserver._authz.authorizer import EVERYTHING, GROUP, Authorizer, RoleReference
from pyctrl.apiserver._authz.rbac import RBACAuthorizer
from pyctrl.apiserver._errors import StatusError, forbidden, not_found, qualified_resource, unknown_error
from pyctrl.apiserver._request.request import ResourceRequest

__all__ = ["EscalationCheck"]


_COLLECTED = ("finalizers", "ownerReferences", "managedFields", "resourceVersion")
_AGGREGATION = "must have cluster-admin privileges to use the aggregationRule"


class EscalationCheck:
    """Check that a user has all rules of a role that it writes, or of the role that it binds."""

    def __init__(self, rbac: RBACAuthorizer, authorizer: Authorizer) -> None:
        self._rbac, self._authorizer = rbac, authorizer

    def check(self, request: ResourceRequest, new: Mapping[str, Any], old: Mapping[str, Any] | None) -> None:
        """Raise a 403 error if the write grants rules that the user does not have. `old` is None on create."""
        target, user = request.target, request.user
        if target.group != GROUP or user.is_administrator or (old is not None and _is_for_collector(new, old)):
            return
        name = request.target.name or str(new["metadata"].get("name", ""))
        if target.resource in ("roles", "clusterroles"):
            self._check_role(request, name, new, old)
        elif not self._may_bind(user, new["roleRef"], target.namespace):
            self._check_rules(request, name, self._bound(request, new["roleRef"]))

    def _check_role(
        self, request: ResourceRequest, name: str, new: Mapping[str, Any], old: Mapping[str, Any] | None
    ) -> None:
        target = request.target
        escalate = Access("escalate", GROUP, target.resource, namespace=target.namespace, name=target.name)
        if self._authorizer.decide(request.user, escalate).is_allowed:
            return
        self._check_rules(request, name, [AccessRule.read(rule) for rule in new.get("rules") or ()])
        if new.get("aggregationRule") or (old or {}).get("aggregationRule"):
            held, _ = self._rbac.rules(request.user, target.namespace)
            if missing_rules(held, EVERYTHING):
                raise forbidden(target.resource, name, _AGGREGATION, GROUP)

    def _may_bind(self, user: User, reference: Mapping[str, Any], namespace: str) -> bool:
        plural = f"{str(reference.get('kind', '')).lower()}s"
        bind = Access("bind", GROUP, plural, namespace=namespace, name=str(reference.get("name", "")))
        return self._authorizer.decide(user, bind).is_allowed

    def _bound(self, request: ResourceRequest, reference: Mapping[str, Any]) -> list[AccessRule]:
        kind, name = reference.get("kind", ""), reference.get("name", "")
        if kind not in ("Role", "ClusterRole"):
            raise unknown_error(f"unsupported role reference kind: {quoted(kind)}")
        rules = self._rbac.role(kind, request.target.namespace, name)
        if rules is None:
            raise not_found(request.target.resource, name, GROUP)
        return rules

    def _check_rules(self, request: ResourceRequest, name: str, wanted: Iterable[AccessRule]) -> None:
        held, absent = self._rbac.rules(request.user, request.target.namespace)
        missing = missing_rules(held, wanted)
        if missing:
            raise _escalation_error(request, name, missing, absent)


def _escalation_error(
    request: ResourceRequest, name: str, missing: Iterable[AccessRule], absent: Iterable[RoleReference]
) -> StatusError:
    user, resource = request.user, request.target.resource
    groups = " ".join(map(quoted, user.groups))
    why = (
        f"user {quoted(user.name)} (groups=[{groups}]) is attempting to grant RBAC permissions not currently held:\n"
        + "\n".join(sorted(map(_format_rule, missing)))
    )
    # Missing roles are reported with the resource of the request, as by kube-apiserver.
    errors = [f"{qualified_resource(resource, GROUP)} {quoted(each.name)} not found" for each in absent]
    return forbidden(
        resource, name, f"{why}; resolution errors: [{aggregate_messages(errors)}]" if errors else why, GROUP
    )


def _format_rule(rule: AccessRule) -> str:
    """Format a rule as in kube-apiserver's errors."""
    named = (
        ("APIGroups", rule.groups),
        ("Resources", rule.resources),
        ("NonResourceURLs", rule.paths),
        ("ResourceNames", rule.names),
        ("Verbs", rule.verbs),
    )
    parts = (f"{name}:[{' '.join(map(quoted, values))}]" for name, values in named if values)
    return f"{{{', '.join(parts)}}}"


def _is_for_collector(new: Mapping[str, Any], old: Mapping[str, Any]) -> bool:
    """Return whether only metadata that the garbage collector updates has changed."""
    return _without_owners(new) == _without_owners(old)


def _without_owners(obj: Mapping[str, Any]) -> dict[str, Any]:
    metadata = {key: value for key, value in obj["metadata"].items() if key not in _COLLECTED}
    return {**obj, "metadata": metadata}
