"""Issuing and validation of service account tokens.

A token is bound to its account and optionally to a pod, secret or node, and valid while they exist. A legacy token
is in a Secret of type `kubernetes.io/service-account-token`. It does not expire and is valid while the Secret has it.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from datetime import datetime
from random import Random
from typing import Any, Final, NamedTuple

from pyctrl._clock import now
from pyctrl._go.text import quoted
from pyctrl.apiserver._authn.token_signing import TokenSigner
from pyctrl.apiserver._meta.system_fields import new_uid
from pyctrl.apiserver._storage.storage import Storage, StoredObject
from pyctrl.apiserver._user import AUTHENTICATED, User, service_account_groups

__all__ = ["ISSUER", "BoundObject", "InvalidToken", "ServiceAccountTokens"]


ISSUER: Final = "https://kubernetes.default.svc"
LEGACY_ISSUER: Final = "kubernetes/serviceaccount"
WARN_SECONDS: Final = 3607  # requested by the kubelet; pods get an extended token and a warning after this time
EXTENDED_SECONDS: Final = 365 * 24 * 3600  # of --service-account-extend-token-expiration
GRACE_SECONDS: Final = 60  # tokens stay valid this long after the deletionTimestamp of a bound object

_LEGACY: Final = "kubernetes.io/serviceaccount"
_EXTRA: Final = "authentication.kubernetes.io"


class InvalidToken(Exception):
    """Raised for a token of this server that is not valid. The message is TokenReview's."""


class BoundObject(NamedTuple):
    """An object that a token is bound to, in addition to its account."""

    kind: str  # pod, secret or node, as in the claims
    name: str
    uid: str  # "" for the node of a pod if the node does not exist


class ServiceAccountTokens:
    """Issuer and validator of service account tokens."""

    def __init__(self, storage: Storage, random: Random) -> None:
        self.signer = TokenSigner(storage, random)
        self._storage = storage
        self._random = random

    # -- issuing -----------------------------------------------------------------------------------------------

    def make(
        self,
        account: StoredObject,
        *,
        seconds: int,
        audiences: Iterable[str] = (ISSUER,),
        bound: Iterable[BoundObject] = (),
    ) -> str:
        """Issue a token that expires; the kubelet's tokens for pods are extended to a year, as in kube-apiserver."""
        issued, objects = int(now().timestamp()), tuple(bound)
        private: dict[str, Any] = {
            "namespace": account.namespace,
            "serviceaccount": {"name": account.name, "uid": account.uid},
        }
        for each in objects:
            private[each.kind] = {"name": each.name, **({"uid": each.uid} if each.uid else {})}
        if seconds == WARN_SECONDS and "pod" in private and list(audiences) == [ISSUER]:
            private["warnafter"], seconds = issued + seconds, EXTENDED_SECONDS
        claims = {
            "aud": list(audiences),
            "exp": issued + seconds,
            "iat": issued,
            "iss": ISSUER,
            "jti": new_uid(self._random),
            "kubernetes.io": private,
            "nbf": issued,
            "sub": _name(account.namespace, account.name),
        }
        return self.signer.sign(claims)

    def issue_long_lived(self, namespace: str, name: str, uid: str, secret: str) -> str:
        """Issue the legacy token of a Secret, which does not expire."""
        claims = {
            "iss": LEGACY_ISSUER,
            f"{_LEGACY}/namespace": namespace,
            f"{_LEGACY}/secret.name": secret,
            f"{_LEGACY}/service-account.name": name,
            f"{_LEGACY}/service-account.uid": uid,
            "sub": _name(namespace, name),
        }
        return self.signer.sign(claims)

    # -- validation --------------------------------------------------------------------------------------------

    def user(self, token: str, audiences: Iterable[str]) -> tuple[User, list[str]] | None:
        """Return the user of a token and its valid audiences; None for a token of another issuer.

        Raises:
            InvalidToken: It is a token of this server that is not valid, or not for these audiences.
        """
        parsed = self.signer.parse(token)
        if parsed is None or parsed.issuer not in (ISSUER, LEGACY_ISSUER):
            return None
        if not parsed.is_genuine:
            raise InvalidToken("go-jose/go-jose: error in cryptographic primitive")
        own = parsed.claims.get("aud") or [ISSUER]
        good = [audience for audience in own if audience in audiences]
        if not good:
            wanted = " ".join(map(quoted, audiences))
            raise InvalidToken(
                f"token audiences [{' '.join(map(quoted, own))}] is invalid for the target audiences [{wanted}]"
            )
        is_legacy = parsed.issuer == LEGACY_ISSUER
        return (self._validate_legacy(parsed.claims, token) if is_legacy else self._validate(parsed.claims)), good

    def _validate(self, claims: Mapping[str, Any]) -> User:
        moment, private = now().timestamp(), claims["kubernetes.io"]
        if claims["exp"] <= moment:
            raise InvalidToken("service account token has expired")
        namespace, account = private["namespace"], private["serviceaccount"]
        self._check_account(namespace, account["name"], account["uid"])
        extra = {f"{_EXTRA}/credential-id": (f"JTI={claims['jti']}",)}
        for kind, plural in (("pod", "pods"), ("secret", "secrets"), ("node", "nodes")):
            bound = private.get(kind)
            if bound is None:
                continue
            if kind != "node" or "pod" not in private:  # the node of a pod is reported, not validated
                self._check_bound(plural, namespace if kind != "node" else "", bound)
            if kind != "secret":
                extra |= {f"{_EXTRA}/{kind}-{key}": (value,) for key, value in bound.items()}
        return _account(namespace, account["name"], account["uid"], dict(sorted(extra.items())))

    def _validate_legacy(self, claims: Mapping[str, Any], token: str) -> User:
        namespace, name = claims[f"{_LEGACY}/namespace"], claims[f"{_LEGACY}/service-account.name"]
        secret = self._storage.collection("", "secrets").find(namespace, claims[f"{_LEGACY}/secret.name"])
        if secret is None or _is_gone(secret):
            raise InvalidToken("Token has been invalidated")
        stored_token = (secret.decode().get("data") or {}).get("token", "")
        if stored_token != base64.b64encode(token.encode()).decode():
            raise InvalidToken("Token does not match server's copy")
        self._check_account(namespace, name, claims[f"{_LEGACY}/service-account.uid"])
        return _account(namespace, name, claims[f"{_LEGACY}/service-account.uid"], {})

    def _check_account(self, namespace: str, name: str, uid: str) -> None:
        found = self._storage.collection("", "serviceaccounts").find(namespace, name)
        if found is None:
            raise InvalidToken(f"serviceaccounts {quoted(name)} not found")
        if _is_gone(found):
            raise InvalidToken(f"service account {namespace}/{name} has been deleted")
        if found.uid != uid:
            raise InvalidToken(f"service account UID ({found.uid}) does not match claim ({uid})")

    def _check_bound(self, plural: str, namespace: str, bound: Mapping[str, str]) -> None:
        found = self._storage.collection("", plural).find(namespace, bound["name"])
        if found is None or found.uid != bound.get("uid") or _is_gone(found):
            raise InvalidToken("service account token has been invalidated")


def _is_gone(stored: StoredObject) -> bool:
    """Return whether the deletionTimestamp of an object is older than the grace period."""
    if b'"deletionTimestamp"' not in stored.data:
        return False
    deleted = stored.decode()["metadata"].get("deletionTimestamp")
    return deleted is not None and now().timestamp() > datetime.fromisoformat(deleted).timestamp() + GRACE_SECONDS


def _name(namespace: str, name: str) -> str:
    return f"system:serviceaccount:{namespace}:{name}"


def _account(namespace: str, name: str, uid: str, extra: Mapping[str, tuple[str, ...]]) -> User:
    groups = (*service_account_groups(namespace), AUTHENTICATED)
    return User(name=_name(namespace, name), uid=uid, groups=groups, extra=extra)
