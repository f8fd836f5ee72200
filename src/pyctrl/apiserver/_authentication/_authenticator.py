"""Who is asking: a client certificate or a bearer token becomes a user."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from random import Random
from typing import NamedTuple

from pyctrl.apiserver._answers import unauthorized
from pyctrl.apiserver._authentication._account_tokens import ISSUER, AccountTokens, TokenInvalid
from pyctrl.apiserver._authentication._user import (
    ADMIN,
    ADMINISTRATORS,
    ANONYMOUS,
    AUTHENTICATED,
    Peer,
    User,
    authenticated,
)
from pyctrl.apiserver._authentication._webhook import TokenWebhook

LOOPBACK = User(name="system:apiserver", groups=(ADMINISTRATORS, AUTHENTICATED))


class Reviewed(NamedTuple):
    """What a token review has found out."""

    user: User | None = None
    audiences: tuple[str, ...] = ()
    error: str = ""


class Authenticator:
    """Turns a connection and the headers of a request into the request's user.

    Args:
        tokens: users by their tokens. None lets everybody but a service account be an administrator: the server of a
            test that does not care.
        webhook: is shown tokens that nobody else knows.
    """

    def __init__(
        self,
        tokens: Mapping[str, User] | None,
        accounts: AccountTokens,
        random: Random,
        webhook: TokenWebhook | None = None,
    ) -> None:
        self._is_open = tokens is None
        self._tokens = {token: authenticated(user) for token, user in (tokens or {}).items()}
        self._accounts = accounts
        self._random = random
        self._webhook = webhook
        self.loopback = self.issue(LOOPBACK)

    def issue(self, user: User) -> str:
        """Make a token for a user; it is good as long as the server."""
        token = f"{self._random.getrandbits(256):064x}"
        self._tokens[token] = authenticated(user)
        return token

    def user(self, headers: Mapping[str, str], peer: Peer | None = None) -> User:
        """Give the user of a request: that of the client certificate, else that of the token, else nobody.

        Raises:
            Refused: 401, the token is not known.
            Undecided: a webhook has to be asked.
        """
        if peer is not None and peer.user is not None:
            return peer.user
        token = _bearer(headers.get("authorization", ""))
        if not token:
            return ADMIN if self._is_open else ANONYMOUS
        user = self._tokens.get(token) or self._account(token)
        if user is None and self._webhook is not None:
            user = self._webhook.find(token, (ISSUER,)).user
        if user is None:
            if self._is_open:
                return ADMIN
            raise unauthorized()
        return user

    def _account(self, token: str) -> User | None:
        try:
            found = self._accounts.user(token, (ISSUER,))
        except TokenInvalid:
            return None
        return None if found is None else found[0]

    def review(self, token: str, audiences: Iterable[str]) -> Reviewed:
        """Say whose a token is, and for which of the audiences (none: this server) it is good.

        Raises:
            Undecided: a webhook has to be asked.
        """
        wanted = tuple(audiences) or (ISSUER,)
        static = self._tokens.get(token)
        if static is not None and ISSUER in wanted:
            return Reviewed(static, (ISSUER,))
        errors: list[str] = []
        try:
            if (found := self._accounts.user(token, wanted)) is not None:
                return Reviewed(found[0], tuple(found[1]))
        except TokenInvalid as invalid:
            errors.append(str(invalid))
        if self._webhook is not None:
            asked = self._webhook.find(token, wanted)
            if asked.user is not None:
                return Reviewed(asked.user, asked.audiences)
            errors += [asked.error] if asked.error else []
        return Reviewed(error=f"[{', '.join(['invalid bearer token', *errors])}]" if errors else "invalid bearer token")


def _bearer(header: str) -> str:
    """Read the token of an Authorization header; "" when it has none, as kube-apiserver splits it."""
    words = header.strip().split(" ")
    return words[1] if len(words) > 1 and words[0].lower() == "bearer" else ""
