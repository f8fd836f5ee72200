"""Controlling access: authentication, impersonation and authorization, in this order, before anything else is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Literal, TypeAlias, get_args
from urllib.parse import urlencode

from pyctrl._go.text import quoted
from pyctrl.apiserver._authn import (
    AuthenticationWebhook,
    Authenticator,
    ServiceAccountTokens,
    User,
    WebhookTokenAuthenticator,
)
from pyctrl.apiserver._authz import (
    AlwaysAllowAuthorizer,
    AuthorizationWebhook,
    Authorizer,
    EscalationCheck,
    RBACAuthorizer,
    UnionAuthorizer,
    WebhookAuthorizer,
    access_forbidden,
    access_of,
)
from pyctrl.apiserver._errors import Response, StatusError
from pyctrl.apiserver._filters.impersonation import ImpersonationFilter
from pyctrl.apiserver._request.request_context import RequestContext
from pyctrl.apiserver._storage.storage import Storage
from pyctrl.apiserver._webhooks import WebhookClient

AuthorizationMode: TypeAlias = Literal["AlwaysAllow", "RBAC", "Webhook"]
AccessWebhooks: TypeAlias = tuple[AuthenticationWebhook | None, AuthorizationWebhook | None]


class AccessControl:
    """Lets a request in, or not.

    Args:
        tokens: users by their tokens.
        authorization: who decides, one after another; without, the webhook and RBAC if there is such a webhook, RBAC if
            users can be told apart, else nobody.
        webhooks: say whose tokens are, and who may do what; `client` asks them.

    Raises:
        ValueError: the modes do not fit the webhooks.
    """

    def __init__(
        self,
        storage: Storage,
        random: Random,
        client: WebhookClient,
        *,
        tokens: Mapping[str, User] | None,
        authorization: AuthorizationMode | Sequence[AuthorizationMode] | None,
        webhooks: AccessWebhooks = (None, None),
    ) -> None:
        who, may = webhooks
        modes = _modes(authorization, is_guarded=tokens is not None or who is not None, has_webhook=may is not None)
        rbac = RBACAuthorizer(storage) if "RBAC" in modes else None
        known: dict[str, Authorizer] = {"AlwaysAllow": AlwaysAllowAuthorizer()}
        if rbac is not None:
            known["RBAC"] = rbac
        if may is not None:
            known["Webhook"] = WebhookAuthorizer(may, client, random)
        authorizers = [known[mode] for mode in modes]
        self.authorizer: Authorizer = (
            authorizers[0] if modes in (("RBAC",), ("AlwaysAllow",)) else UnionAuthorizer(authorizers)
        )
        #: None where everybody may do everything.
        self.escalation: EscalationCheck | None = EscalationCheck(rbac, self.authorizer) if rbac else None
        self.accounts = ServiceAccountTokens(storage, random)
        is_open = tokens is None and who is None and modes == ("AlwaysAllow",)
        token_webhook = WebhookTokenAuthenticator(who, client, random) if who is not None else None
        self.authenticator = Authenticator(None if is_open else tokens or {}, self.accounts, random, token_webhook)
        #: Whether webhooks are asked, so that an answer may take time.
        self.asks = webhooks != (None, None)
        self._impersonation = ImpersonationFilter(self.authorizer)

    def enter(self, exchange: RequestContext) -> User:
        """Give the user as whom a request is carried out, and write down what was found out.

        Raises:
            Refused: 401, nobody knows who that is; 403, the user may not do this; 500, nobody can say.
            Undecided: a webhook has to be asked.
        """
        user = exchange.user = self.authenticator.user(exchange.headers, exchange.peer)
        acting = exchange.acting = self._impersonation.acting(user, exchange.headers, lambda: access_of(exchange))
        if acting.is_administrator:  # what most requests of most tests are
            exchange.decision = "allow"
            return acting
        access = access_of(exchange)
        decision = self.authorizer.decide(acting, access)
        if decision.error and not decision.is_allowed:
            exchange.reason = "internal error"
            raise _AuthorizationFailed(exchange, decision.error)
        exchange.decision, exchange.reason = "allow" if decision.is_allowed else "forbid", decision.reason
        if not decision.is_allowed:
            raise access_forbidden(access, acting, exchange.reason)
        return acting


_MODES = get_args(AuthorizationMode)


class _AuthorizationFailed(StatusError):
    """500: whether somebody may do this cannot be found out. Plain text, as kube-apiserver answers."""

    def __init__(self, exchange: RequestContext, error: str) -> None:
        query = urlencode([*exchange.query])
        url = f"{exchange.path}?{query}" if query else exchange.path
        self._text = f"Internal Server Error: {quoted(url)}: {error}\n"
        super().__init__(500, {"message": self._text})

    def response(self, headers: Sequence[tuple[str, str]] = ()) -> Response:
        kind = ("Content-Type", "text/plain; charset=utf-8"), ("X-Content-Type-Options", "nosniff")
        return Response(status=500, headers=(*kind, *headers), body=self._text.encode())


def _modes(
    wanted: AuthorizationMode | Sequence[AuthorizationMode] | None, *, is_guarded: bool, has_webhook: bool
) -> tuple[AuthorizationMode, ...]:
    if wanted is None:
        return ("Webhook", "RBAC") if has_webhook else ("RBAC",) if is_guarded else ("AlwaysAllow",)
    modes = (wanted,) if isinstance(wanted, str) else tuple(wanted)
    if not modes or len({*modes}) < len(modes) or not {*modes} <= {*_MODES}:
        got = ", ".join(modes) or "none"
        raise ValueError(f"authorization is one or more of {', '.join(_MODES)}, each once; got {got}")
    if ("Webhook" in modes) != has_webhook:
        lacking = "for Webhook there is no webhook" if "Webhook" in modes else "a webhook is asked in mode Webhook only"
        raise ValueError(f"authorization is {', '.join(modes)}, but {lacking}")
    return modes
