"""Authenticator: static tokens, service accounts, anonymous requests."""

from __future__ import annotations

from datetime import timedelta
from random import Random

import pytest

from pyctrl import _clock
from pyctrl.apiserver import ApiServer, User, read_token_file
from tests.unit.apiserver._kit import CONFIGMAPS, Asker

ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"
WHOAMI = "/apis/authentication.k8s.io/v1/selfsubjectreviews"


@pytest.fixture
def ask() -> Asker:
    tokens = {"secret": User(name="jane", uid="1", groups=("team", "system:authenticated"))}
    return Asker(ApiServer(random=Random(1), tokens=tokens, authorization="AlwaysAllow"))


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def test_a_known_token_is_its_user(ask: Asker) -> None:
    """A SelfSubjectReview returns the user of a static token."""
    code, review = ask("POST", WHOAMI, {}, headers=bearer("secret"))
    assert code == 201
    assert review["status"]["userInfo"] == {
        "username": "jane", "uid": "1", "groups": ["team", "system:authenticated"]
    }  # fmt: skip


def test_an_unknown_token_is_refused(ask: Asker) -> None:
    """An invalid token is a 401 on every path; without a token the user is anonymous."""
    code, status = ask("GET", CONFIGMAPS, headers=bearer("wrong"))
    assert (code, status["reason"]) == (401, "Unauthorized")
    _, review = ask("POST", WHOAMI, {})
    assert review["status"]["userInfo"]["username"] == "system:anonymous"


def test_anonymous_requests_may_be_refused() -> None:
    """With anonymous_auth=False, a request without credentials is a 401, and one with a token is as before."""
    server = ApiServer(random=Random(1), tokens={"secret": User(name="jane")}, anonymous_auth=False)
    ask = Asker(server)
    assert ask("GET", "/healthz")[0] == 401
    assert ask("POST", WHOAMI, {}, headers=bearer("secret"))[0] == 201


def test_without_tokens_everybody_is_an_administrator() -> None:
    """A server without tokens accepts requests without a token and with any token."""
    ask = Asker()
    for headers in ({}, bearer("anything")):
        _, review = ask("POST", WHOAMI, {}, headers=headers)
        assert "system:masters" in review["status"]["userInfo"]["groups"]


def test_a_service_account_is_known_by_its_token_while_it_lives(ask: Asker) -> None:
    """A requested token is valid until it expires or its account is deleted."""
    ask("POST", ACCOUNTS, {"metadata": {"name": "bot"}})
    code, made = ask("POST", f"{ACCOUNTS}/bot/token", {"spec": {"expirationSeconds": 600}})
    headers = bearer(made["status"]["token"])
    assert code == 201
    _, review = ask("POST", WHOAMI, {}, headers=headers)
    assert review["status"]["userInfo"]["username"] == "system:serviceaccount:default:bot"
    assert "system:serviceaccounts:default" in review["status"]["userInfo"]["groups"]
    later = _clock.now() + timedelta(seconds=601)
    with _clock.use(lambda: later):
        assert ask("GET", CONFIGMAPS, headers=headers)[0] == 401
    assert ask("GET", CONFIGMAPS, headers=headers)[0] == 200
    ask("DELETE", f"{ACCOUNTS}/bot")
    after = _clock.now() + timedelta(seconds=11)
    with _clock.use(lambda: after):
        assert ask("GET", CONFIGMAPS, headers=headers)[0] == 401


def test_a_used_token_outlives_its_account_by_ten_seconds(ask: Asker) -> None:
    """A token that was valid less than ten seconds ago is not validated again, as in kube-apiserver."""
    ask("POST", ACCOUNTS, {"metadata": {"name": "bot"}})
    used, unused = (ask("POST", f"{ACCOUNTS}/bot/token", {})[1]["status"]["token"] for _ in range(2))
    start = _clock.now()
    with _clock.use(lambda: start):
        assert ask("GET", CONFIGMAPS, headers=bearer(used))[0] == 200
        ask("DELETE", f"{ACCOUNTS}/bot")
    with _clock.use(lambda: start + timedelta(seconds=9)):
        assert ask("GET", CONFIGMAPS, headers=bearer(used))[0] == 200
        assert ask("GET", CONFIGMAPS, headers=bearer(unused))[0] == 401
    with _clock.use(lambda: start + timedelta(seconds=10)):
        assert ask("GET", CONFIGMAPS, headers=bearer(used))[0] == 401


def test_a_token_that_was_tampered_with_is_refused(ask: Asker) -> None:
    """Changed claims invalidate the signature."""
    for name in ("a", "b"):
        ask("POST", ACCOUNTS, {"metadata": {"name": name}})
    first, second = (ask("POST", f"{ACCOUNTS}/{name}/token", {})[1]["status"]["token"].split(".") for name in "ab")
    assert ask("GET", CONFIGMAPS, headers=bearer(".".join(first)))[0] == 200
    assert ask("GET", CONFIGMAPS, headers=bearer(".".join([first[0], second[1], first[2]])))[0] == 401


def test_a_token_lasts_at_least_ten_minutes(ask: Asker) -> None:
    """A shorter duration is rejected, as in kube-apiserver."""
    ask("POST", ACCOUNTS, {"metadata": {"name": "bot"}})
    assert ask("POST", f"{ACCOUNTS}/bot/token", {"spec": {"expirationSeconds": 1}})[0] == 422


def test_a_token_is_reviewed(ask: Asker) -> None:
    """A TokenReview returns the user of a token, or an error."""
    path = "/apis/authentication.k8s.io/v1/tokenreviews"
    assert ask("POST", path, {"spec": {"token": "secret"}})[1]["status"]["user"]["username"] == "jane"
    assert ask("POST", path, {"spec": {"token": "none"}})[1]["status"]["error"] == "invalid bearer token"


def test_the_token_file_of_kube_apiserver() -> None:
    """The columns are token, user, uid and quoted groups; the error of a short line has its number."""
    tokens = read_token_file(['t1,jane,1,"a,b"', "", "t2,bob,2", 't3,eve,3,""'])
    assert tokens["t1"] == User(name="jane", uid="1", groups=("a", "b", "system:authenticated"))
    assert tokens["t2"].groups == ("system:authenticated",)
    assert tokens["t3"].groups == ("", "system:authenticated"), "as kube-apiserver reads an empty column"
    with pytest.raises(ValueError, match="line 1: expected the columns token,user,uid"):
        read_token_file(["oops,jane"])
