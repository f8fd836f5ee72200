"""Signing of tokens, with and without `cryptography`."""

from __future__ import annotations

import base64
import json
import sys
from random import Random
from typing import Any

import pytest

from pyctrl.apiserver import ApiServer
from pyctrl.apiserver._authn import token_signing
from tests.unit.apiserver._kit import Asker

ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"


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


def test_a_token_is_signed_by_the_key_that_is_published(ask: Asker) -> None:
    """The header has the id of the key in /openid/v1/jwks, and the claims are those of kube-apiserver."""
    made = token(ask)
    header, claims = part(made, 0), part(made, 1)
    keys = ask("GET", "/openid/v1/jwks")[1]["keys"]
    assert header == {"alg": "RS256", "kid": keys[0]["kid"]}
    assert claims["aud"] == ["https://kubernetes.default.svc"]
    assert claims["exp"] - claims["iat"] == 3600
    assert claims["sub"] == "system:serviceaccount:default:bot"
    configuration = ask("GET", "/.well-known/openid-configuration")[1]
    assert configuration["id_token_signing_alg_values_supported"] == ["RS256"]


def test_without_cryptography_tokens_are_signed_all_the_same(ask: Asker, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tokens without `cryptography` are signed with a symmetric key, which is not published."""
    token_signing._rsa_key.cache_clear()
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.asymmetric.rsa", None)
    try:
        made = token(ask)
        assert part(made, 0)["alg"] == "HS256"
        assert review(ask, made)["authenticated"]
        assert ask("GET", "/openid/v1/jwks")[1] == {"keys": []}
    finally:
        token_signing._rsa_key.cache_clear()
