"""Tokens of service accounts: what they claim, and whether that still holds.

A token is bound to its account and maybe to a pod, a secret or a node as well: it is good while those are there. One
kept in a Secret of type `kubernetes.io/service-account-token` never expires and is good while the Secret holds it.
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

ISSUER: Final = "https://kubernetes.default.svc"
LEGACY_ISSUER: Final = "kubernetes/serviceaccount"
WARN_SECONDS: Final = 3607  # what the kubelet asks for; pods get more and are warned after this
EXTENDED_SECONDS: Final = 365 * 24 * 3600  # of --service-account-extend-token-expiration
GRACE_SECONDS: Final = 60  # for what is being deleted
LAST_USED: Final = "kubernetes.io/legacy-token-last-used"

_LEGACY: Final = "kubernetes.io/serviceaccount"
_EXTRA: Final = "authentication.kubernetes.io"


class InvalidToken(Exception):
    """A token that this server made and that is no longer good; the message is TokenReview's."""


class BoundObject(NamedTuple):
    """What a token is bound to beside its account."""

    kind: str  # pod, secret or node, as claims name it
    name: str
    uid: str  # "" of the node of a pod that is not there


class ServiceAccountTokens:
    """Makes tokens of service accounts, and tells whose they are."""

    def __init__(self, storage: Storage, random: Random) -> None:
        self.signer = TokenSigner(random)
        self._storage = storage
        self._random = random

    # -- making ------------------------------------------------------------------------------------------------

    def make(
        self,
        account: StoredObject,
        *,
        seconds: int,
        audiences: Iterable[str] = (ISSUER,),
        bound: Iterable[BoundObject] = (),
    ) -> str:
        """Make a token that expires; one for the pod of a kubelet gets a year and a warning, as in every cluster."""
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
        """Make the token that a Secret keeps: it does not expire."""
        claims = {
            "iss": LEGACY_ISSUER,
            f"{_LEGACY}/namespace": namespace,
            f"{_LEGACY}/secret.name": secret,
            f"{_LEGACY}/service-account.name": name,
            f"{_LEGACY}/service-account.uid": uid,
            "sub": _name(namespace, name),
        }
        return self.signer.sign(claims)

    # -- checking ----------------------------------------------------------------------------------------------

    def user(self, token: str, audiences: Iterable[str]) -> tuple[User, list[str]] | None:
        """Give the user of a token, and for which of the audiences it is good; None when it is none of this server.

        Raises:
            InvalidToken: it was made here, and is not good or not for these audiences.
        """
        read = self.signer.read(token)
        if read is None or read.issuer not in (ISSUER, LEGACY_ISSUER):
            return None
        if not read.is_genuine:
            raise InvalidToken("go-jose/go-jose: error in cryptographic primitive")
        own = read.claims.get("aud") or [ISSUER]
        good = [audience for audience in own if audience in audiences]
        if not good:
            wanted = " ".join(map(quoted, audiences))
            raise InvalidToken(
                f"token audiences [{' '.join(map(quoted, own))}] is invalid for the target audiences [{wanted}]"
            )
        is_lasting = read.issuer == LEGACY_ISSUER
        return (self._lasting(read.claims, token) if is_lasting else self._bound(read.claims)), good

    def _bound(self, claims: Mapping[str, Any]) -> User:
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
            if kind != "node" or "pod" not in private:  # the node of a pod is told, not checked
                self._check_bound(plural, namespace if kind != "node" else "", bound)
            if kind != "secret":
                extra |= {f"{_EXTRA}/{kind}-{key}": (value,) for key, value in bound.items()}
        return _account(namespace, account["name"], account["uid"], dict(sorted(extra.items())))

    def _lasting(self, claims: Mapping[str, Any], token: str) -> User:
        namespace, name = claims[f"{_LEGACY}/namespace"], claims[f"{_LEGACY}/service-account.name"]
        secret = self._storage.collection("", "secrets").find(namespace, claims[f"{_LEGACY}/secret.name"])
        if secret is None or _is_gone(secret):
            raise InvalidToken("Token has been invalidated")
        kept = (secret.decode().get("data") or {}).get("token", "")
        if kept != base64.b64encode(token.encode()).decode():
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
    """Whether an object has been deleted, and its grace is over."""
    if b'"deletionTimestamp"' not in stored.data:
        return False
    deleted = stored.decode()["metadata"].get("deletionTimestamp")
    return deleted is not None and now().timestamp() > datetime.fromisoformat(deleted).timestamp() + GRACE_SECONDS


def _name(namespace: str, name: str) -> str:
    return f"system:serviceaccount:{namespace}:{name}"


def _account(namespace: str, name: str, uid: str, extra: Mapping[str, tuple[str, ...]]) -> User:
    groups = (*service_account_groups(namespace), AUTHENTICATED)
    return User(name=_name(namespace, name), uid=uid, groups=groups, extra=extra)
