"""Several authorizers, asked in order."""

from __future__ import annotations

from collections.abc import Sequence

from pyctrl.api import Access, AccessRule
from pyctrl.apiserver._authentication import User
from pyctrl.apiserver._authorization._rbac import Authorizer, Decision, RoleReference, aggregated


class Union:
    """Asks authorizers in order, until one allows or denies. `system:masters` may do everything, and none is asked."""

    def __init__(self, authorizers: Sequence[Authorizer]) -> None:
        self._authorizers = tuple(authorizers)
        self.unresolved = aggregated([each.unresolved for each in authorizers if each.unresolved] or [""])

    def decide(self, user: User, access: Access) -> Decision:
        """Say whether a user may do something; if nobody has an opinion, with the reasons and failures of all."""
        if user.is_administrator:
            return Decision(is_allowed=True)
        reasons, errors = [], []
        for each in self._authorizers:
            decision = each.decide(user, access)
            if decision.is_allowed or decision.is_denied:
                return decision
            reasons += [decision.reason] if decision.reason else []
            errors += [decision.error] if decision.error else []
        error = aggregated(errors) if errors else ""
        return Decision(is_allowed=False, reason="\n".join(reasons), error=error)

    def rules(self, user: User, namespace: str) -> tuple[list[AccessRule], list[RoleReference]]:
        """Give the rules that those have who know of rules."""
        found = [each.rules(user, namespace) for each in self._authorizers]
        return [rule for rules, _ in found for rule in rules], [role for _, absent in found for role in absent]
