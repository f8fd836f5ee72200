"""Service account tokens: claims, bound objects, expiration."""

from __future__ import annotations

import base64
import json
from datetime import timedelta
from random import Random
from typing import Any

import pytest

from pyctrl import _clock
from pyctrl.apiserver import ApiServer
from tests.unit.apiserver._kit import Asker

ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"


PODS = "/api/v1/namespaces/default/pods"


REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews"


@pytest.fixture
def ask() -> Asker:
    ask = Asker(ApiServer(random=Random(1), tokens={}, authorization="AlwaysAllow"))
    ask("POST", ACCOUNTS, {"metadata": {"name": "bot"}})
    return ask


def token(ask: Asker, **spec: Any) -> str:
    code, made = ask("POST", f"{ACCOUNTS}/bot/token", {"spec": spec})
    assert code == 201, made
    found: str = made["status"]["token"]
    return found


def part(token: str, index: int) -> dict[str, Any]:
    text = token.split(".")[index]
    found: dict[str, Any] = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    return found


def review(ask: Asker, token: str, *audiences: str) -> dict[str, Any]:
    status: dict[str, Any] = ask("POST", REVIEWS, {"spec": {"token": token, "audiences": list(audiences)}})[1]["status"]
    return status


def test_a_token_is_good_for_its_audiences(ask: Asker) -> None:
    """A token for another audience is rejected; a review returns the audiences that it is valid for."""
    made = token(ask, audiences=["vault"])
    assert review(ask, made, "vault", "other")["audiences"] == ["vault"]
    assert "is invalid for the target audiences" in review(ask, made)["error"]
    assert ask("GET", PODS, headers={"Authorization": f"Bearer {made}"})[0] == 401


def test_a_token_ends_when_it_says(ask: Asker) -> None:
    """A token is invalid after its expiration."""
    made = token(ask, expirationSeconds=600)
    later = _clock.now() + timedelta(seconds=600)
    with _clock.use(lambda: later):
        assert review(ask, made)["error"] == "[invalid bearer token, service account token has expired]"


@pytest.mark.parametrize("kind", ["Pod", "Secret", "Node"])
def test_a_bound_token_ends_with_what_it_is_bound_to(ask: Asker, kind: str) -> None:
    """A token is invalid after its pod, secret or node is deleted, also if one of the same name is created."""
    paths = {"Pod": PODS, "Secret": "/api/v1/namespaces/default/secrets", "Node": "/api/v1/nodes"}
    spec = {"serviceAccountName": "bot", "containers": [{"name": "c", "image": "i"}]} if kind == "Pod" else {}
    body = {"metadata": {"name": "x"}, **({"spec": spec} if spec else {})}
    ask("POST", paths[kind], body)
    made = token(ask, boundObjectRef={"kind": kind, "apiVersion": "v1", "name": "x"})
    assert review(ask, made)["authenticated"]
    ask("DELETE", f"{paths[kind]}/x", gracePeriodSeconds="0")
    ask("POST", paths[kind], body)
    after = _clock.now() + timedelta(seconds=11)  # until then the token that was reviewed is not validated again
    with _clock.use(lambda: after):
        assert "has been invalidated" in review(ask, made)["error"]


def test_the_kubelets_token_lasts_a_year(ask: Asker) -> None:
    """A token of 3607 seconds for a pod is extended to a year, with a warning after the hour."""
    spec = {"serviceAccountName": "bot", "containers": [{"name": "c", "image": "i"}]}
    ask("POST", PODS, {"metadata": {"name": "x"}, "spec": spec})
    made = token(ask, expirationSeconds=3607, boundObjectRef={"kind": "Pod", "apiVersion": "v1", "name": "x"})
    claims = part(made, 1)
    assert claims["exp"] - claims["iat"] == 365 * 24 * 3600
    assert claims["kubernetes.io"]["warnafter"] - claims["iat"] == 3607


def test_a_token_names_its_account_by_uid(ask: Asker) -> None:
    """Tokens are not valid for a new account of the same name."""
    made = token(ask)
    ask("DELETE", f"{ACCOUNTS}/bot")
    assert review(ask, made)["error"] == '[invalid bearer token, serviceaccounts "bot" not found]'
    ask("POST", ACCOUNTS, {"metadata": {"name": "bot"}})
    assert "does not match claim" in review(ask, made)["error"]
