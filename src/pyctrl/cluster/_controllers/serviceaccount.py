"""Service accounts: the controller of the default ones, and the tokens controller.

By the rules of upstream's `pkg/controller/serviceaccount`. The first creates the account `default` of each namespace.
The other fills Secrets of type `kubernetes.io/service-account-token`, and deletes them with their account.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import TypeAlias

from pyctrl.api import Key, ObjectMeta, is_deleting
from pyctrl.client import Preconditions
from pyctrl.controller import Builder, Controller, ManagedCluster, Reconciler, Request, Result, mapped
from pyctrl.errors import AlreadyExists, Conflict, Forbidden, NotFound
from pyctrl.kinds.core.v1 import Namespace, Secret, ServiceAccount

__all__ = ["MakeToken", "add_account_tokens", "add_service_accounts"]

DEFAULT_SERVICE_ACCOUNT = "default"
TYPE = "kubernetes.io/service-account-token"
ACCOUNT_NAME = "kubernetes.io/service-account.name"
ACCOUNT_UID = "kubernetes.io/service-account.uid"

#: Returns a signed token. Arguments: namespace, name and uid of the account, name of the Secret.
MakeToken: TypeAlias = Callable[[str, str, str, str], str]


def add_service_accounts(host: ManagedCluster) -> Controller:
    """Run the controller of default service accounts in a manager."""
    return (
        Builder(host)
        .reconciles(Namespace)
        .watches(ServiceAccount, mapped(_namespace_of_default))
        .options(name="serviceaccount", workers=2)
        .build(ServiceAccountReconciler())
    )


def _namespace_of_default(account: ServiceAccount) -> list[Request]:
    return [Request("", account.metadata.namespace)] if account.metadata.name == DEFAULT_SERVICE_ACCOUNT else []


class ServiceAccountReconciler(Reconciler[Namespace]):
    """Creates the account `default` in active namespaces, again when it is deleted."""

    async def reconcile(self, request: Request) -> Result | None:
        namespace = await self.client.find(Namespace, request.key)
        if namespace is None or is_deleting(namespace):
            return None
        key = Key(request.name, DEFAULT_SERVICE_ACCOUNT)
        if await self.client.find(ServiceAccount, key) is None:
            try:
                await self.client.create(ServiceAccount(metadata=ObjectMeta(name=key.name, namespace=key.namespace)))
            except (AlreadyExists, Forbidden, NotFound):
                return None  # created by another client, or the namespace is terminating
        return None


def add_account_tokens(host: ManagedCluster, *, make_token: MakeToken, root_ca: str) -> Controller:
    """Run the tokens controller in a manager."""
    return (
        Builder(host)
        .reconciles(ServiceAccount)
        .watches(Secret, mapped(_account_of))
        .options(name="serviceaccount-tokens", workers=2)
        .build(ServiceAccountTokenReconciler(make_token, root_ca))
    )


def _account_of(secret: Secret) -> list[Request]:
    name = (secret.metadata.annotations or {}).get(ACCOUNT_NAME, "")
    return [Request(secret.metadata.namespace, name)] if secret.type == TYPE and name else []


class ServiceAccountTokenReconciler(Reconciler[ServiceAccount]):
    """Fills or deletes the token Secrets of one service account."""

    def __init__(self, make_token: MakeToken, root_ca: str) -> None:
        self._make_token = make_token
        self._root_ca = _base64(root_ca)

    async def reconcile(self, request: Request) -> Result | None:
        found = await self.client.list(Secret, namespace=request.namespace)
        secrets = [secret for secret in found if request in _account_of(secret) and not is_deleting(secret)]
        if not secrets:
            return None
        # A live read: with a cache that has not seen a new account yet, its Secrets would be deleted.
        account = await self.client.live.find(ServiceAccount, request.key)
        for secret in secrets:
            try:
                await self._sync_secret(secret, account)
            except (NotFound, Conflict):
                continue  # changed or deleted meanwhile: its next event triggers a reconcile
        return None

    async def _sync_secret(self, secret: Secret, account: ServiceAccount | None) -> None:
        annotations = secret.metadata.annotations
        uid = account.metadata.uid if account else ""
        if account is None or annotations.get(ACCOUNT_UID, uid) != uid:
            await self.client.delete(secret, preconditions=Preconditions(uid=secret.metadata.uid))
            return
        filled = secret.deep_copy()
        filled.metadata.annotations = {**annotations, ACCOUNT_UID: uid}
        filled.data = {"namespace": _base64(secret.metadata.namespace), **secret.data, "ca.crt": self._root_ca}
        if not secret.data.get("token"):
            filled.data["token"] = _base64(self._make_token(*account.key, uid, secret.metadata.name))
        if filled.data != secret.data or filled.metadata.annotations != annotations:
            await self.client.update(filled)


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
