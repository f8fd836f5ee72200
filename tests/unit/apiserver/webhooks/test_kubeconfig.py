"""Kubeconfigs for webhooks: users by host, and the webhook of the current context."""

from __future__ import annotations

import base64
from typing import Any

import msgspec
import pytest

from pyctrl.apiserver._webhooks import WebhookTarget, read_webhook_target, read_webhook_users
from pyctrl.apiserver._webhooks.caller import WebhookCredentials

PATH = "/etc/hooks/config"


def text(*users: tuple[str, dict[str, Any]], **cluster: Any) -> bytes:
    """Return a kubeconfig whose current context has the cluster and the last user."""
    context = {"cluster": "c", **({"user": users[-1][0]} if users else {})}
    config = {
        "current-context": "x",
        "contexts": [{"name": "x", "context": context}],
        "clusters": [{"name": "c", "cluster": {"server": "https://hooks.invalid/review", **cluster}}],
        "users": [{"name": name, "user": user} for name, user in users],
    }
    return msgspec.json.encode(config)


def bearer(token: str) -> WebhookCredentials:
    return WebhookCredentials(headers=(("Authorization", f"Bearer {token}"),))


@pytest.mark.parametrize(
    ("target", "token"),
    [
        ("hooks.default.svc:443", "exact"),
        ("hooks.default.svc:8443", "port"),
        ("other.default.svc:443", "default"),
        ("other.default.svc:8443", "star"),
        ("hooks.example.com:443", "host"),
        ("hooks.example.com:8443", "star"),
        ("elsewhere:443", "star"),
    ],
)
def test_the_most_specific_user_is_chosen(target: str, token: str) -> None:
    """Host and port win over a suffix, a suffix over the host without the port 443, and all of them over the star."""
    names = {
        "hooks.default.svc:443": "exact",
        "hooks.default.svc:8443": "port",
        "*.default.svc": "default",
        "hooks.example.com": "host",
        "*": "star",
    }
    config = text(*((name, {"token": each}) for name, each in names.items()))
    assert read_webhook_users(PATH, {PATH: config}.__getitem__).find(target) == bearer(token)


def test_the_user_of_the_current_context_is_the_last_choice() -> None:
    """Without a star, a webhook without a user of its own gets the user of the context, and none without a context."""
    config = text(("a:443", {"token": "a"}), ("me", {"token": "mine"}))
    users = read_webhook_users(PATH, {PATH: config}.__getitem__)
    assert (users.find("a:443"), users.find("b:443")) == (bearer("a"), bearer("mine"))
    alone = msgspec.json.encode({"users": [{"name": "me", "user": {"token": "mine"}}]})
    assert read_webhook_users(PATH, {PATH: alone}.__getitem__).find("b:443") == WebhookCredentials()


def test_credentials_have_all_forms_of_a_kubeconfig() -> None:
    """Tokens, passwords, impersonation, and certificates as data or in files beside the kubeconfig are read."""
    files = {
        PATH: text(
            ("file", {"tokenFile": "token"}),
            ("basic", {"username": "u", "password": "p"}),
            ("as", {"as": "jane", "as-groups": ["a", "b"], "as-user-extra": {"k": ["v"]}}),
            ("pem", {"client-certificate": "cert.pem", "client-key-data": base64.b64encode(b"KEY").decode()}),
        ),
        "/etc/hooks/token": b"secret\n",
        "/etc/hooks/cert.pem": b"CERT",
    }
    users = read_webhook_users(PATH, files.__getitem__)
    assert users.find("file") == bearer("secret")
    assert users.find("basic").headers == (("Authorization", "Basic dTpw"),)
    assert users.find("as").headers == (
        ("Impersonate-User", "jane"),
        ("Impersonate-Group", "a"),
        ("Impersonate-Group", "b"),
        ("Impersonate-Extra-k", "v"),
    )
    assert users.find("pem") == WebhookCredentials(certificate=b"CERT", key=b"KEY")


def test_the_target_is_the_cluster_of_the_current_context() -> None:
    """A webhook of a kubeconfig has the server, the authority and the user of the current context."""
    config = text(("me", {"token": "mine"}), **{"certificate-authority-data": base64.b64encode(b"CA").decode()})
    found = read_webhook_target(PATH, {PATH: config}.__getitem__)
    assert found == WebhookTarget("https://hooks.invalid/review", b"CA", bearer("mine"))


@pytest.mark.parametrize(
    ("config", "why"),
    [
        (b"[]", "expected a kubeconfig"),
        (b"{}", "no configuration has been provided"),
        (text(**{"insecure-skip-tls-verify": True}), "insecure-skip-tls-verify is not supported"),
        (text(("me", {"exec": {"command": "x"}})), '"exec" of a user is not supported'),
    ],
)
def test_what_is_not_supported_is_an_error(config: bytes, why: str) -> None:
    """A file that is not a kubeconfig, and what this server does not do, are refused when the server starts."""
    with pytest.raises(ValueError, match=why):
        read_webhook_target(PATH, {PATH: config}.__getitem__)
