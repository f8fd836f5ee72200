"""Access control: authentication, impersonation and authorization of every request, in this order."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from random import Random
from typing import Literal, TypeAlias, get_args
from urllib.parse import urlencode

from pyctrl._go.text import quoted
from pyctrl.apiserver._authn import (
    AuthenticationWebhook,
    Authenticator,
    RequestAuthenticator,
    ServiceAccountTokens,
    User,
    WebhookTokenAuthenticator,
)
from pyctrl.apiserver._authz import (
    AlwaysAllowAuthorizer,
    AlwaysAllowPathsAuthorizer,
    AuthorizationWebhook,
    Authorizer,
    EscalationCheck,
    NodeAuthorizer,
    RBACAuthorizer,
    UnionAuthorizer,
    WebhookAuthorizer,
    access_forbidden,
)
from pyctrl.apiserver._errors import Response, StatusError
from pyctrl.apiserver._filters.impersonation import ImpersonationFilter
from pyctrl.apiserver._request.request_context import RequestContext
from pyctrl.apiserver._storage.storage import Storage
from pyctrl.apiserver._webhooks import WebhookClient

__all__ = ["AccessControl", "AuthorizationMode"]


AuthorizationMode: TypeAlias = Literal["AlwaysAllow", "Node", "RBAC", "Webhook"]
AccessWebhooks: TypeAlias = tuple[AuthenticationWebhook | None, AuthorizationWebhook | None]


class AccessControl:
    """Access control of the server's requests.

    Args:
        tokens: Users by static token.
        authorization: The authorization modes in order. The default is Webhook and RBAC with an authorization webhook,
            RBAC if users are authenticated, and AlwaysAllow otherwise.
        webhooks: Options of the authentication and the authorization webhook, which `client` calls.
        request_authenticator: Authenticates requests by headers and certificates; by default by certificates that TLS
            has verified.
        always_allow_paths: Paths that every user may get, before the modes are tried.

    Raises:
        ValueError: The modes and the webhooks contradict each other.
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
        request_authenticator: RequestAuthenticator | None = None,
        always_allow_paths: Collection[str] = (),
    ) -> None:
        authentication_webhook, authorization_webhook = webhooks
        is_authenticated = tokens is not None or authentication_webhook is not None
        modes = _modes(authorization, is_authenticated=is_authenticated, has_webhook=authorization_webhook is not None)
        rbac = RBACAuthorizer(storage) if "RBAC" in modes else None
        known: dict[str, Authorizer] = {"AlwaysAllow": AlwaysAllowAuthorizer()}
        if rbac is not None:
            known["RBAC"] = rbac
        if "Node" in modes:
            known["Node"] = NodeAuthorizer(storage)
        if authorization_webhook is not None:
            known["Webhook"] = WebhookAuthorizer(authorization_webhook, client, random)
        authorizers = [known[mode] for mode in modes]
        if always_allow_paths:
            authorizers.insert(0, AlwaysAllowPathsAuthorizer(always_allow_paths))
        is_plain = authorizers == [known[modes[0]]] and modes != ("Webhook",)
        self.authorizer: Authorizer = authorizers[0] if is_plain else UnionAuthorizer(authorizers)
        #: None without RBAC.
        self.escalation: EscalationCheck | None = EscalationCheck(rbac, self.authorizer) if rbac else None
        self.accounts = ServiceAccountTokens(storage, random)
        is_open = not is_authenticated and modes == ("AlwaysAllow",)
        token_webhook = (
            WebhookTokenAuthenticator(authentication_webhook, client, random)
            if authentication_webhook is not None
            else None
        )
        secret = None if storage.backend is None else storage.secret("token-key", lambda: random.randbytes(32))
        self.authenticator = Authenticator(
            None if is_open else tokens or {}, self.accounts, random, token_webhook, request_authenticator, secret
        )
        #: Whether webhooks are configured, so that a response may have to wait for one.
        self.asks = webhooks != (None, None)
        self._impersonation = ImpersonationFilter(self.authorizer)

    def enter(self, context: RequestContext) -> User:
        """Return the user that a request acts as; record user and decision in the context for the audit log.

        Raises:
            StatusError: 401, the token is invalid; 403, the access is denied; 500, the authorizer failed.
            ReviewPending: A webhook must be called first.
        """
        user = context.user = self.authenticator.user(context.headers, context.peer)
        effective = context.impersonated_user = self._impersonation.impersonate(
            user, context.headers, lambda: context.access
        )
        if effective.is_administrator:  # fast path: most requests of tests
            context.decision = "allow"
            return effective
        access = context.access
        decision = self.authorizer.decide(effective, access)
        if decision.error and not decision.is_allowed:
            context.reason = "internal error"
            raise _AuthorizationFailed(context, decision.error)
        context.decision, context.reason = "allow" if decision.is_allowed else "forbid", decision.reason
        if not decision.is_allowed:
            raise access_forbidden(access, effective, context.reason)
        return effective


_MODES = get_args(AuthorizationMode)


class _AuthorizationFailed(StatusError):
    """The 500 error of an authorizer that failed, in plain text as in kube-apiserver."""

    def __init__(self, context: RequestContext, error: str) -> None:
        query = urlencode([*context.query])
        url = f"{context.path}?{query}" if query else context.path
        self._text = f"Internal Server Error: {quoted(url)}: {error}\n"
        super().__init__(500, {"message": self._text})

    def response(self, headers: Sequence[tuple[str, str]] = ()) -> Response:
        kind = ("Content-Type", "text/plain; charset=utf-8"), ("X-Content-Type-Options", "nosniff")
        return Response(status=500, headers=(*kind, *headers), body=self._text.encode())


def _modes(
    wanted: AuthorizationMode | Sequence[AuthorizationMode] | None, *, is_authenticated: bool, has_webhook: bool
) -> tuple[AuthorizationMode, ...]:
    if wanted is None:
        return ("Webhook", "RBAC") if has_webhook else ("RBAC",) if is_authenticated else ("AlwaysAllow",)
    modes = (wanted,) if isinstance(wanted, str) else tuple(wanted)
    if not modes or len({*modes}) < len(modes) or not {*modes} <= {*_MODES}:
        got = ", ".join(modes) or "none"
        raise ValueError(f"authorization must be one or more of {', '.join(_MODES)}, each once; got {got}")
    if ("Webhook" in modes) != has_webhook:
        problem = "no authorization webhook is set" if "Webhook" in modes else "an authorization webhook needs Webhook"
        raise ValueError(f"authorization is {', '.join(modes)}, but {problem}")
    return modes
