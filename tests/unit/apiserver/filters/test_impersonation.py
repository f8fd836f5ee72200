"""Impersonation by the headers of `kubectl --as`."""

from __future__ import annotations

from random import Random

import pytest

from pyctrl.apiserver import ApiServer, User
from pyctrl.client import Headers
from tests.unit.apiserver._kit import Asker

WHOAMI = "/apis/authentication.k8s.io/v1/selfsubjectreviews"


def whoami(ask: Asker, *headers: tuple[str, str]) -> dict[str, object]:
    code, review = ask("POST", WHOAMI, {}, headers=Headers(headers))
    assert code == 201, review
    user: dict[str, object] = review["status"]["userInfo"]
    return user


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ([("Impersonate-User", "jane")], {"username": "jane", "groups": ["system:authenticated"]}),
        (
            [("impersonate-user", "jane"), ("Impersonate-Group", "a,b"), ("Impersonate-Group", "c")],
            {"username": "jane", "groups": ["a,b", "c", "system:authenticated"]},
        ),
        (
            [("Impersonate-User", "jane"), ("Impersonate-Uid", "7"), ("Impersonate-Group", "system:authenticated")],
            {"username": "jane", "uid": "7", "groups": ["system:authenticated"]},
        ),
        (
            [("Impersonate-User", "system:serviceaccount:dev:robot")],
            {
                "username": "system:serviceaccount:dev:robot",
                "groups": ["system:serviceaccounts", "system:serviceaccounts:dev", "system:authenticated"],
            },
        ),
        (
            [("Impersonate-User", "system:anonymous")],
            {"username": "system:anonymous", "groups": ["system:unauthenticated"]},
        ),
    ],
)
def test_an_administrator_acts_as_anybody(headers: list[tuple[str, str]], expected: dict[str, object]) -> None:
    """The request has the impersonated user with the given and the implicit groups."""
    assert whoami(Asker(), *headers) == expected


def test_others_may_not() -> None:
    """A user without permission cannot impersonate."""
    ask = Asker(ApiServer(random=Random(1), tokens={"secret": User(name="bob", groups=("team",))}))
    code, status = ask("POST", WHOAMI, {}, headers={"Authorization": "Bearer secret", "Impersonate-User": "jane"})
    assert (code, status["reason"]) == (403, "Forbidden")
    assert 'User "bob" cannot impersonate-on:user-info:create resource "selfsubjectreviews"' in status["message"]


def test_groups_of_nobody() -> None:
    """Groups without a user name are an error."""
    code, status = Asker()("POST", WHOAMI, {}, headers={"Impersonate-Group": "a"})
    assert (code, status["reason"]) == (400, "BadRequest")
