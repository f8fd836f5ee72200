"""`pyctrl whoami`: the identity according to the server and the login, and errors."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml

from pyctrl import _clock
from pyctrl.api import Key, ObjectMeta
from pyctrl.apiserver import User
from pyctrl.cli._durations import shown_duration, shown_end
from pyctrl.cli._login_errors import explain_login_error
from pyctrl.cli._whoami.identity import identify, shown
from pyctrl.client import (
    BasicAuth,
    BearerToken,
    Client,
    Config,
    Impersonation,
    create_token,
)
from pyctrl.cluster import Cluster
from pyctrl.errors import ConnectionFailed, Unauthorized
from pyctrl.kinds.core.v1 import ServiceAccount
from pyctrl.kinds.rbac.v1 import ClusterRoleBinding
from tests.unit.cli.conftest import Run
from tests.unit.cli.whoami._logins import JENKINS, jwt


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    """A cluster with RBAC, and the service account jenkins."""
    async with Cluster(random=Random(1), rbac=True, kubelet=False) as running:
        async with running.client() as admin:
            await admin.create(ServiceAccount(metadata=ObjectMeta(name=JENKINS.name, namespace=JENKINS.namespace)))
        yield running


async def told(config: Config) -> dict[str, Any]:
    """Return the output of `whoami -o json` for a login."""
    async with Client.connect(config) as client:
        wire = json.loads(shown(await identify(client, config), "json"))
    assert isinstance(wire, dict)
    return wire


async def test_a_service_account_is_told_who_it_is(cluster: Cluster) -> None:
    """User, uid and groups are the server's; namespace, TLS, skipped sources and expiration are the login's."""
    async with cluster.client() as admin:
        uid = (await admin.get(ServiceAccount, JENKINS)).metadata.uid
        made = await create_token(admin, JENKINS)
    config = replace(
        Config.in_process(cluster.server, token=made.token, namespace="shop"), passed_over=(("KUBECONFIG", "not set"),)
    )
    wire = await told(config)
    assert wire["user"]["username"] == "system:serviceaccount:default:jenkins"
    assert wire["user"]["uid"] == uid
    assert "system:serviceaccounts:default" in wire["user"]["groups"]
    assert wire["login"]["passedOver"] == [{"source": "KUBECONFIG", "reason": "not set"}]
    assert (wire["namespace"], wire["tls"]) == ("shop", {"verified": False})
    (sent,) = wire["credentials"]
    assert (sent["kind"], sent["subject"]) == ("token", "system:serviceaccount:default:jenkins")
    assert sent["expiresAt"] == f"{made.expires_at:%Y-%m-%dT%H:%M:%SZ}"
    assert made.token not in json.dumps(wire)


async def test_it_reads_as_lines_and_as_yaml(cluster: Cluster) -> None:
    """Text output has a label and a value per line, and repeats no label; YAML has the same data."""
    config = cluster.config_for(User(name="jane", groups=("people", "system:authenticated")))
    config = replace(config, passed_over=(("KUBECONFIG", "not set"), ("in-cluster", "this is not a pod")))
    async with Client.connect(config) as client:
        identity = await identify(client, config)
    assert shown(identity, "text").splitlines() == [
        "user         jane",
        "groups       people",
        "             system:authenticated",
        "server       http://in-process",
        "tls          none: anyone on the network can read and change everything",
        "namespace    default",
        "login        an API server in this process",
        "skipped      KUBECONFIG: not set",
        "             in-cluster: this is not a pod",
        "sent         the token",
    ]
    assert yaml.safe_load(shown(identity, "yaml")) == identity.to_wire()


async def test_who_acts_as_somebody_else_is_told_both(cluster: Cluster) -> None:
    """With --as the output has the impersonated user, and a note of the impersonation."""
    acting = Impersonation(user="system:serviceaccount:default:jenkins", groups=("system:authenticated",))
    config = replace(cluster.config, impersonate=acting)
    wire = await told(config)
    assert wire["user"]["username"] == "system:serviceaccount:default:jenkins"
    assert wire["actingAs"] == {"user": acting.user, "groups": ["system:authenticated"]}


async def test_nobody_is_told_by_the_refusal(cluster: Cluster) -> None:
    """Without permission for a review, the user name is taken from the refusal, with a note."""
    async with cluster.client() as admin:
        await admin.delete(ClusterRoleBinding, Key("", "system:basic-user"))
    wire = await told(Config.in_process(cluster.server, token=cluster.server.issue_account_token(*JENKINS)))
    assert wire["user"]["username"] == "system:serviceaccount:default:jenkins"
    assert "more needs system:basic-user" in wire["user"]["note"]


async def test_an_expired_token_is_told_with_its_end(cluster: Cluster) -> None:
    """The error after a 401 has the sent credential, its source and expiration, and what to do."""
    async with cluster.client() as admin:
        made = await create_token(admin, JENKINS, expiration_seconds=600)
    config = replace(
        Config.in_process(cluster.server),
        credentials=BearerToken(made.token, origin="the token of user 'jane' in /home/jane/.kube/config"),
        passed_over=(("KUBECONFIG", "not set"),),
    )
    await asyncio.sleep(600 + 3600)
    with pytest.raises(Unauthorized) as refused:
        await told(config)
    said = str(await explain_login_error(refused.value, config))
    ended = f"which expired {made.expires_at:%Y-%m-%d %H:%M:%S} UTC, 1h ago"
    assert said.splitlines() == [
        "the API server at http://in-process rejected the credentials (401 Unauthorized)",
        f"  sent: the token of user 'jane' in /home/jane/.kube/config, {ended}",
        "  login: an API server in this process",
        "  skipped: KUBECONFIG: not set",
        "Log in again; for a service account: pyctrl token NAME, as a user with the permission.",
    ]
    assert made.token not in said


@pytest.mark.parametrize(
    ("credentials", "sent", "advice"),
    [
        (None, "no token and no certificate", "choose another context with --context"),
        (
            BearerToken("opaque", origin="the token of user 'x'"),
            "the token of user 'x'",
            "Check that the credentials are for this cluster",
        ),
        (BearerToken(jwt({"iss": "https://other"}), origin="t"), "t", "Check that https://other is for this cluster"),
        (BasicAuth("joe", "s3cret"), "the password of 'joe'", "Check that the credentials are for this cluster"),
    ],
)
async def test_a_401_names_what_was_sent(credentials: Any, sent: str, advice: str) -> None:
    """The error describes the sent credential without its secret, and gives matching advice."""
    config = Config(server="https://cluster:6443", source="the kubeconfig /home/jane/.kube/config, context 'dev'")
    config = replace(config, credentials=credentials) if credentials else config
    said = str(await explain_login_error(Unauthorized("Unauthorized"), config))
    assert f"\n  sent: {sent}\n" in said
    assert "\n  login: the kubeconfig /home/jane/.kube/config, context 'dev'\n" in said
    assert advice in said
    assert "s3cret" not in said
    assert "opaque" not in said


async def test_a_server_that_is_not_there_is_told_with_the_login() -> None:
    """The error for an unreachable server has the login that named the server."""
    config = Config(server="https://cluster:6443", source="kubeconfig dev, context 'a'", passed_over=(("X", "no"),))
    said = str(await explain_login_error(ConnectionFailed("cannot connect"), config))
    assert said == "cannot connect\n  login: kubeconfig dev, context 'a'\n  skipped: X: no"


def test_lengths_of_time_have_two_units() -> None:
    """A duration shows its two largest units of days, hours, minutes and seconds."""
    lengths = [0, 45, 90, 3600, 5400, 86_400 + 7200, 90 * 86_400 + 5]
    assert [shown_duration(timedelta(seconds=each)) for each in lengths] == [
        "0s", "45s", "1m30s", "1h", "1h30m", "1d2h", "90d",
    ]  # fmt: skip
    assert shown_end(_clock.now() + timedelta(hours=2)).endswith("UTC, in 2h")
    assert shown_end(_clock.now() - timedelta(minutes=3)).endswith("UTC, 3m ago")


def test_an_unreachable_server_is_one_message(run: Run, tmp_path: Path) -> None:
    """The error names the server and its kubeconfig, and the exit code is 1."""
    file = tmp_path / "config"
    file.write_text(Config.from_token("http://127.0.0.1:1", "t1").to_kubeconfig(context_name="dev"))
    failed = run("whoami", "--kubeconfig", file)
    assert (failed.code, failed.out) == (1, "")
    assert failed.err.splitlines()[0].startswith("pyctrl: cannot connect to the API server at http://127.0.0.1:1")
    assert failed.err.splitlines()[1] == f"  login: kubeconfig {file}, context 'dev'"
