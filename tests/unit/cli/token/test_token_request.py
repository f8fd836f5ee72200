"""`pyctrl token`: tokens of service accounts, and errors."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import timedelta
from random import Random

import pytest

from pyctrl import _clock
from pyctrl.api import Key, ObjectMeta
from pyctrl.cli._token.token_request import TokenOptions, account_key
from pyctrl.client import Client, Config
from pyctrl.cluster import Cluster
from pyctrl.errors import CommandFailed, Invalid, NotFound, Unauthorized
from pyctrl.kinds.authentication.v1 import SelfSubjectReview
from pyctrl.kinds.core.v1 import Secret, ServiceAccount

JENKINS = Key("default", "jenkins")


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    """A cluster with RBAC, and the service account jenkins."""
    async with Cluster(random=Random(1), rbac=True, kubelet=False) as running:
        async with running.client() as admin:
            await admin.create(ServiceAccount(metadata=ObjectMeta(name=JENKINS.name, namespace=JENKINS.namespace)))
        yield running


async def asked(config: Config, **wanted: object) -> str:
    """Return the output of the command."""
    request = TokenOptions(**{"account": "jenkins", **wanted})  # type: ignore[arg-type]
    async with Client.connect(config) as client:
        return request.shown(await request.get(client, config), "text")


async def user_of(cluster: Cluster, token: str) -> str | None:
    async with Client.connect(Config.in_process(cluster.server, token=token)) as client:
        return (await client.create(SelfSubjectReview())).status.user_info.username


@pytest.mark.parametrize("account", ["jenkins", "default:jenkins", "system:serviceaccount:default:jenkins"])
async def test_the_token_logs_in_as_the_account(cluster: Cluster, account: str) -> None:
    """The output is a token of the account, for each form of the account's name."""
    token = await asked(cluster.config, account=account)
    assert await user_of(cluster, token) == "system:serviceaccount:default:jenkins"


async def test_a_duration_is_kept(cluster: Cluster) -> None:
    """With --duration 15m the token expires after 15 minutes."""
    token = await asked(cluster.config, duration=timedelta(minutes=15))
    await asyncio.sleep(14 * 60)
    assert await user_of(cluster, token)
    await asyncio.sleep(2 * 60)
    with pytest.raises(Unauthorized):
        await user_of(cluster, token)


async def test_too_short_a_duration_is_the_servers_refusal(cluster: Cluster) -> None:
    """A duration below ten minutes is refused with the server's message."""
    with pytest.raises(Invalid, match="may not specify a duration less than 10 minutes"):
        await asked(cluster.config, duration=timedelta(minutes=1))


async def test_another_audience_is_not_the_server(cluster: Cluster) -> None:
    """A token for another audience does not authenticate to the server."""
    token = await asked(cluster.config, audiences=("vault",))
    with pytest.raises(Unauthorized):
        await user_of(cluster, token)


async def test_a_bound_token_ends_with_its_object(cluster: Cluster) -> None:
    """A token that is bound to a Secret is valid until the Secret is deleted."""
    async with cluster.client() as admin:
        secret = await admin.create(Secret(metadata=ObjectMeta(name="kept", namespace="default")))
        token = await asked(cluster.config, bound_kind="Secret", bound_name="kept", bound_uid=secret.metadata.uid)
        assert await user_of(cluster, token)
        await admin.delete(secret)
    await asyncio.sleep(11)  # until then the token that was used is not validated again
    with pytest.raises(Unauthorized):
        await user_of(cluster, token)


async def test_what_it_is_bound_to_has_to_be_there(cluster: Cluster) -> None:
    """The error names the missing object; --bound-object-kind and --bound-object-name require each other."""
    with pytest.raises(NotFound, match='secrets "none" not found'):
        await asked(cluster.config, bound_kind="Secret", bound_name="none")
    with pytest.raises(CommandFailed, match="--bound-object-kind and --bound-object-name must be set together"):
        await asked(cluster.config, bound_name="kept")


async def test_a_missing_account_is_answered_with_those_there_are(cluster: Cluster) -> None:
    """The error has the account, the accounts of the namespace, and the command that creates one."""
    with pytest.raises(CommandFailed) as missing:
        await asked(cluster.config, account="jenkin")
    assert str(missing.value) == (
        "no service account 'jenkin' in the namespace 'default', which has default, jenkins. "
        "Create it: kubectl create serviceaccount jenkin -n default"
    )


async def test_a_missing_namespace_is_told_as_that(cluster: Cluster) -> None:
    """The error for a missing namespace has the command that creates the namespace."""
    with pytest.raises(CommandFailed, match="no namespace 'ci'. Create it: kubectl create namespace ci"):
        await asked(cluster.config, account="ci:jenkins")


async def test_a_refusal_says_what_would_grant_it(cluster: Cluster) -> None:
    """The error without permission has the commands that grant tokens of this account only."""
    config = Config.in_process(cluster.server, token=cluster.server.issue_account_token(*JENKINS))
    with pytest.raises(CommandFailed, match='cannot create resource "serviceaccounts/token"') as refused:
        await asked(config, account="default")
    subject = "--role=default-token --serviceaccount=default:jenkins"
    role = "--verb=create --resource=serviceaccounts/token --resource-name=default"
    assert str(refused.value).splitlines()[1:] == [
        f"  kubectl create role default-token --namespace=default {role}",
        f"  kubectl create rolebinding default-token --namespace=default {subject}",
    ]


async def test_less_than_was_asked_for_is_told(capsys: pytest.CaptureFixture[str], cluster: Cluster) -> None:
    """If the server issues a shorter token, stderr has a warning, and stdout the token."""
    request = TokenOptions(account="jenkins", duration=timedelta(hours=1))
    async with cluster.client() as client:
        key, token = await request.get(client, cluster.config)
        assert capsys.readouterr().err == ""
        generous = TokenOptions(account="jenkins", duration=timedelta(days=2))
        generous._tell_if_shorter(token)
    assert capsys.readouterr().err == "pyctrl: requested 2d, but the server granted 1h\n"
    wire = json.loads(request.shown((key, token), "json"))
    assert wire["metadata"] == {"name": "jenkins", "namespace": "default"}
    assert wire["status"]["token"] == token.token
    assert wire["status"]["expirationTimestamp"] == f"{_clock.now() + timedelta(hours=1):%Y-%m-%dT%H:%M:%SZ}"


@pytest.mark.parametrize("text", ["", "ns/jenkins", "a:b:c", ":jenkins", "ns:"])
def test_what_is_no_account_is_refused(text: str) -> None:
    """An invalid account name is an error with the expected form."""
    with pytest.raises(CommandFailed, match="NAME or NAMESPACE:NAME was expected"):
        account_key(text, "default")
