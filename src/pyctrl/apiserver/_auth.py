"""Who is asking: bearer tokens become users, in kube-apiserver's token file format or from Python."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ._answers import unauthorized

AUTHENTICATED = "system:authenticated"
ANONYMOUS_GROUP = "system:unauthenticated"


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """The user of a request, as SelfSubjectReview tells it."""

    name: str
    uid: str = ""
    groups: tuple[str, ...] = ()


ANONYMOUS = User(name="system:anonymous", groups=(ANONYMOUS_GROUP,))
ADMIN = User(name="kubernetes-admin", groups=("system:masters", AUTHENTICATED))


class Authenticator:
    """Turns the headers of a request into its user.

    Without any token known, everybody is an administrator: the server of a test that does not care.
    """

    def __init__(self, tokens: Mapping[str, User] | None = None) -> None:
        self._tokens = dict(tokens) if tokens is not None else None

    def user(self, headers: Mapping[str, str]) -> User:
        """Give the user of a request.

        Raises:
            Refused: 401, the token is not known.
        """
        if self._tokens is None:
            return ADMIN
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if not scheme:
            return ANONYMOUS
        user = self.find(token.strip()) if scheme.lower() == "bearer" else None
        if user is None:
            raise unauthorized()
        return user

    def find(self, token: str) -> User | None:
        """Give the user of a token, None when it is not known."""
        return (self._tokens or {}).get(token)


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
