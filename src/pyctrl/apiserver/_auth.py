"""Who is asking: bearer tokens become users, in kube-apiserver's token file format or from Python."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ._answers import unauthorized
from ._tokens import TokenSigner

ADMINISTRATORS = "system:masters"
AUTHENTICATED = "system:authenticated"
ANONYMOUS_GROUP = "system:unauthenticated"


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """The user of a request, as SelfSubjectReview tells it."""

    name: str
    uid: str = ""
    groups: tuple[str, ...] = ()


class Peer(NamedTuple):
    """The other end of a connection, and as whom its client certificate identifies it, if it has shown one."""

    address: str
    user: User | None = None


ANONYMOUS = User(name="system:anonymous", groups=(ANONYMOUS_GROUP,))
ADMIN = User(name="kubernetes-admin", groups=(ADMINISTRATORS, AUTHENTICATED))


def user_of_certificate(certificate: Mapping[str, Any]) -> User | None:
    """Give the user that a verified client certificate is: the common name, in its organizations as groups.

    Args:
        certificate: as `ssl.SSLSocket.getpeercert` gives it.
    """
    subject = [pair for names in certificate.get("subject", ()) for pair in names]
    name = next((value for key, value in subject if key == "commonName"), "")
    groups = tuple(value for key, value in subject if key == "organizationName")
    return User(name=name, groups=(*groups, AUTHENTICATED)) if name else None


class Authenticator:
    """Turns the headers of a request into its user.

    Without any static token known, everybody but a service account is an administrator: the server of a test that does
    not care.

    Args:
        is_live: Whether a service account is still there, by namespace, name and uid.
    """

    def __init__(
        self,
        tokens: Mapping[str, User] | None,
        signer: TokenSigner,
        is_live: Callable[[str, str, str], bool],
    ) -> None:
        self._tokens = dict(tokens) if tokens is not None else None
        self._signer = signer
        self._is_live = is_live

    def user(self, headers: Mapping[str, str], peer: Peer | None = None) -> User:
        """Give the user of a request: that of the client certificate, else that of the token.

        Raises:
            Refused: 401, the token is not known.
        """
        if peer is not None and peer.user is not None:
            return peer.user
        scheme, _, token = headers.get("authorization", "").partition(" ")
        user = self.find(token.strip()) if scheme.lower() == "bearer" else ANONYMOUS
        if user in (None, ANONYMOUS) and self._tokens is None:
            return ADMIN
        if user is None:
            raise unauthorized()
        return user

    def find(self, token: str) -> User | None:
        """Give the user of a token, None when it is not known."""
        static = (self._tokens or {}).get(token)
        return static or self._service_account(token)

    def _service_account(self, token: str) -> User | None:
        claims = self._signer.read(token)
        if claims is None:
            return None
        namespace, account = claims["kubernetes.io"]["namespace"], claims["kubernetes.io"]["serviceaccount"]
        if not self._is_live(namespace, account["name"], account["uid"]):
            return None
        groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}", AUTHENTICATED)
        return User(name=claims["sub"], uid=account["uid"], groups=groups)


def read_token_file(lines: Iterable[str]) -> dict[str, User]:
    """Read kube-apiserver's CSV of static tokens: token, user, uid, and optionally groups in one quoted column."""
    tokens: dict[str, User] = {}
    for row in csv.reader(line for line in lines if line.strip()):
        if len(row) < 3:
            raise ValueError(f"a token file has the columns token,user,uid[,groups]; found {len(row)} in {row!r}")
        token, name, uid = (column.strip() for column in row[:3])
        groups = tuple(group.strip() for group in row[3].split(",")) if len(row) > 3 else ()
        tokens[token] = User(name=name, uid=uid, groups=(*groups, AUTHENTICATED))
    return tokens
