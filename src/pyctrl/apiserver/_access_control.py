"""Controlling access: authentication, impersonation and authorization, in this order, before anything else is asked."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Literal, TypeAlias

from ._authentication import AccountTokens, Authenticator, User
from ._authorization import AlwaysAllow, Authorizer, Escalation, Rbac, access_of, access_refused
from ._exchange import Exchange
from ._impersonation import Impersonation
from ._storage import Storage

AuthorizationMode: TypeAlias = Literal["AlwaysAllow", "RBAC"]


class AccessControl:
    """Lets a request in, or not.

    Args:
        tokens: users by their tokens.
        authorization: who decides; without, RBAC does if there are `tokens`, else nobody.
    """

    def __init__(
        self,
        storage: Storage,
        random: Random,
        *,
        tokens: Mapping[str, User] | None,
        authorization: AuthorizationMode | None,
    ) -> None:
        is_guarded = authorization == "RBAC" or (authorization is None and tokens is not None)
        rbac = Rbac(storage) if is_guarded else None
        self.authorizer: Authorizer = rbac or AlwaysAllow()
        #: None where everybody may do everything.
        self.escalation: Escalation | None = Escalation(rbac) if rbac else None
        self.accounts = AccountTokens(storage, random)
        known = {} if tokens is None and is_guarded else tokens
        self.authenticator = Authenticator(known, self.accounts, random)
        self._impersonation = Impersonation(self.authorizer)

    def enter(self, exchange: Exchange) -> User:
        """Give the user as whom a request is carried out, and write down what was found out.

        Raises:
            Refused: 401, nobody knows who that is; 403, the user may not do this.
        """
        user = exchange.user = self.authenticator.user(exchange.headers, exchange.peer)
        acting = exchange.acting = self._impersonation.acting(user, exchange.headers, lambda: access_of(exchange))
        if acting.is_administrator:  # what most requests of most tests are
            exchange.decision = "allow"
            return acting
        access = access_of(exchange)
        is_allowed, exchange.reason = self.authorizer.decide(acting, access)
        exchange.decision = "allow" if is_allowed else "forbid"
        if not is_allowed:
            raise access_refused(access, acting, exchange.reason)
        return acting
