"""Authenticator of requests: the user of a client certificate or bearer token."""

from __future__ import annotations

import csv
import hmac
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from random import Random
from typing import NamedTuple, Protocol

import msgspec

from pyctrl._clock import now
from pyctrl.apiserver._authn.request_header import RequestAuthenticator
from pyctrl.apiserver._authn.service_account_tokens import ISSUER, InvalidToken, ServiceAccountTokens
from pyctrl.apiserver._errors import unauthorized
from pyctrl.apiserver._user import (
    ADMIN,
    ADMINISTRATORS,
    ANONYMOUS,
    AUTHENTICATED,
    Peer,
    User,
    add_authenticated_group,
)

__all__ = ["Authenticator", "AuthenticatorResponse", "read_token_file"]


TOKEN_SUCCESS_CACHE_TTL = timedelta(seconds=10)  # kube-apiserver's default
MAX_CACHED_TOKENS = 4096  # then the expired ones are removed
LOOPBACK = User(name="system:apiserver", groups=(ADMINISTRATORS, AUTHENTICATED))


class AuthenticatorResponse(NamedTuple):
    """The result of authenticating a token: its user and audiences, or an error."""

    user: User | None = None
    audiences: tuple[str, ...] = ()
    error: str = ""


class TokenAuthenticator(Protocol):
    """Authenticates bearer tokens."""

    def authenticate_token(self, token: str, audiences: tuple[str, ...], /) -> AuthenticatorResponse:
        """Return the user of a token and its valid audiences.

        Raises:
            ReviewPending: A webhook must be called first.
        """
        ...


class Authenticator:
    """Authenticator of requests by client certificate or bearer token.

    Args:
        tokens: Users by static token. None is for tests without access control: every request is an administrator's
            unless it has a service account's token.
        webhook: Authenticates tokens that are neither static nor a service account's.
        secret: With it, a user is issued the same token in every run of the server.
        request: Authenticates requests by headers and certificates. By default, every certificate that TLS has verified
            authenticates its user.
    """

    def __init__(
        self,
        tokens: Mapping[str, User] | None,
        accounts: ServiceAccountTokens,
        random: Random,
        webhook: TokenAuthenticator | None = None,
        request: RequestAuthenticator | None = None,
        secret: bytes | None = None,
    ) -> None:
        self._is_open = tokens is None
        self._tokens = {token: add_authenticated_group(user) for token, user in (tokens or {}).items()}
        self._accounts = _CachedTokens(accounts)
        self._random = random
        self._webhook = webhook
        self._secret = secret
        self._request = request
        #: Whether a request without credentials is one of the anonymous user; otherwise it gets 401.
        self.anonymous_auth: bool = True
        self.loopback = self.issue(LOOPBACK)

    def issue(self, user: User) -> str:
        """Return a token for a user, valid until the server stops."""
        if self._secret is None:
            token = f"{self._random.getrandbits(256):064x}"
        else:
            token = hmac.digest(self._secret, msgspec.json.encode(user), "sha256").hex()
        self._tokens[token] = add_authenticated_group(user)
        return token

    def user(self, headers: Mapping[str, str], peer: Peer | None = None) -> User:
        """Return the user of a request: of the client certificate, else of the token, else the anonymous user.

        Raises:
            StatusError: 401, the token is invalid.
            ReviewPending: The webhook must be called first.
        """
        found = self._of_request(headers, peer)
        if found is not None:
            return found
        header = headers.get("authorization")
        token = _bearer(header) if header else ""
        if not token:
            if self._is_open:
                return ADMIN
            if not self.anonymous_auth:
                raise unauthorized()
            return ANONYMOUS
        user = self._tokens.get(token) or self._account(token)
        if user is None and self._webhook is not None:
            user = self._webhook.authenticate_token(token, (ISSUER,)).user
        if user is None:
            if self._is_open:
                return ADMIN
            raise unauthorized()
        return user

    def _of_request(self, headers: Mapping[str, str], peer: Peer | None) -> User | None:
        if self._request is not None:
            return self._request.authenticate_request(headers, peer)
        return None if peer is None else peer.user

    def _account(self, token: str) -> User | None:
        try:
            found = self._accounts.user(token, (ISSUER,))
        except InvalidToken:
            return None
        return None if found is None else found[0]

    def review(self, token: str, audiences: Iterable[str]) -> AuthenticatorResponse:
        """Return the user of a token, and those of the audiences (default: this server's) that it is valid for.

        Raises:
            ReviewPending: The webhook must be called first.
        """
        wanted = tuple(audiences) or (ISSUER,)
        static = self._tokens.get(token)
        if static is not None and ISSUER in wanted:
            return AuthenticatorResponse(static, (ISSUER,))
        errors: list[str] = []
        try:
            if (found := self._accounts.user(token, wanted)) is not None:
                return AuthenticatorResponse(found[0], tuple(found[1]))
        except InvalidToken as invalid:
            errors.append(str(invalid))
        if self._webhook is not None:
            response = self._webhook.authenticate_token(token, wanted)
            if response.user is not None:
                return response
            errors += [response.error] if response.error else []
        return AuthenticatorResponse(
            error=f"[{', '.join(['invalid bearer token', *errors])}]" if errors else "invalid bearer token"
        )


class _CachedTokens:
    """Tokens of service accounts. As in kube-apiserver, a token stays valid for ten seconds after it was validated."""

    def __init__(self, accounts: ServiceAccountTokens) -> None:
        self._accounts = accounts
        self._valid: dict[tuple[str, tuple[str, ...]], tuple[datetime, tuple[User, list[str]]]] = {}

    def user(self, token: str, audiences: tuple[str, ...]) -> tuple[User, list[str]] | None:
        """Return the user of a token and its valid audiences; None for a token of another kind.

        Raises:
            InvalidToken: The token is not valid.
        """
        current, known = now(), self._valid.get((token, audiences))
        if known is not None and known[0] > current:
            return known[1]
        found = self._accounts.user(token, audiences)
        if found is not None:
            if len(self._valid) >= MAX_CACHED_TOKENS:
                self._valid = {key: each for key, each in self._valid.items() if each[0] > current}
            self._valid[token, audiences] = current + TOKEN_SUCCESS_CACHE_TTL, found
        return found


def _bearer(header: str) -> str:
    """Return the bearer token of an Authorization header, split as by kube-apiserver; "" without one."""
    words = header.strip().split(" ")
    return words[1] if len(words) > 1 and words[0].lower() == "bearer" else ""


def read_token_file(lines: Iterable[str]) -> dict[str, User]:
    """Read kube-apiserver's CSV of static tokens: token, user, uid, and optionally groups in one quoted column.

    Raises:
        ValueError: A line is not CSV or has too few columns; the message has its number.
    """
    tokens: dict[str, User] = {}
    reader = csv.reader(lines, strict=True)
    try:
        for row in reader:
            if row:
                token, user = _entry(row)
                tokens[token] = user
    except (ValueError, csv.Error) as error:
        raise ValueError(f"line {reader.line_num}: {error}") from error
    return tokens


def _entry(row: list[str]) -> tuple[str, User]:
    columns = [column.strip() for column in row]
    if len(columns) < 3 or not all(columns[:2]):
        found = ",".join("..." if number == 0 and column else column for number, column in enumerate(columns))
        raise ValueError(f"expected the columns token,user,uid and optionally groups; got {found!r}")
    token, name, uid, *more = columns
    groups = [group.strip() for group in more[0].split(",")] if more else []  # an empty column is one group, ""
    return token, User(name=name, uid=uid, groups=(*groups, AUTHENTICATED))
