"""Token Secrets of service accounts."""

from __future__ import annotations

import asyncio
import base64

import pytest

from pyctrl.api import Key, ObjectMeta
from pyctrl.client import Client, Config, wait_for, wait_until_gone
from pyctrl.errors import Forbidden, Unauthorized
from pyctrl.kinds.core.v1 import ConfigMap, Secret, ServiceAccount
from tests.unit.cluster._rbac import BOT, cluster, make_bot


def secret_of(account: str, name: str = "token") -> Secret:
    annotations = {"kubernetes.io/service-account.name": account}
    metadata = ObjectMeta(name=name, namespace="default", annotations=annotations)
    return Secret(metadata=metadata, type="kubernetes.io/service-account-token")


async def test_a_token_secret_is_filled_and_lets_its_account_in() -> None:
    """The Secret gets token, CA and namespace; the token is valid until ten seconds after the Secret is deleted."""
    async with cluster() as running, running.client() as admin:
        await make_bot(admin)
        await admin.create(secret_of("bot"))
        secret = await wait_for(admin, Secret, Key("default", "token"), lambda secret: "token" in secret.data)
        assert base64.b64decode(secret.data["namespace"]) == b"default"
        assert base64.b64decode(secret.data["ca.crt"]).startswith(b"-----BEGIN CERTIFICATE-----")
        token = base64.b64decode(secret.data["token"]).decode()
        async with Client.connect(Config.in_process(running.server, token=token)) as bot:
            with pytest.raises(Forbidden, match="system:serviceaccount:default:bot"):
                await bot.list(ConfigMap)
            await admin.delete(secret)
            await asyncio.sleep(10)  # the server caches valid tokens, as kube-apiserver does
            with pytest.raises(Unauthorized):
                await bot.list(ConfigMap)


async def test_a_token_secret_goes_with_its_account() -> None:
    """A Secret of a missing account is deleted; a removed token is added again."""
    async with cluster() as running, running.client() as admin:
        await make_bot(admin)
        await admin.create(secret_of("nosuch", "orphan"))
        await wait_until_gone(admin, Secret, Key("default", "orphan"))
        secret = await admin.create(secret_of("bot"))
        secret = await wait_for(admin, Secret, secret.key, lambda secret: "token" in secret.data)
        del secret.data["token"]
        await admin.update(secret)
        await wait_for(admin, Secret, secret.key, lambda secret: "token" in secret.data)
        await admin.delete(ServiceAccount, BOT)
        await wait_until_gone(admin, Secret, secret.key)
