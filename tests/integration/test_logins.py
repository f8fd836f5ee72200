"""The credentials that the seed's author tried, with RBAC and TLS: each works or names what is missing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from pyctrl.api import Key, ObjectMeta
from pyctrl.client import Client, Config, create_token
from pyctrl.errors import ConnectionFailed
from pyctrl.kinds.authentication.v1 import SelfSubjectReview
from pyctrl.kinds.core.v1 import Namespace, ServiceAccount
from pyctrl.testing import ClusterUnderTest
from tests.integration._commands import guarded

pytestmark = pytest.mark.real_time  # sockets


@dataclass(frozen=True, slots=True)
class Jenkins:
    """A service account, and the data needed to log in as it."""

    server: str
    namespace: str
    token: str
    ca: bytes

    @property
    def user(self) -> str:
        """The user name of the account."""
        return f"system:serviceaccount:{self.namespace}:jenkins"


@pytest.fixture
async def jenkins(cluster: ClusterUnderTest) -> AsyncIterator[Jenkins]:
    """A service account in its own namespace."""
    async with guarded(cluster) as config, Client.connect(config) as admin:
        created = await admin.create(Namespace(metadata=ObjectMeta(generate_name="login-")))
        key = Key(created.metadata.name, "jenkins")
        await admin.create(ServiceAccount(metadata=ObjectMeta(name=key.name, namespace=key.namespace)))
        assert config.tls.ca is not None
        yield Jenkins(config.server, key.namespace, (await create_token(admin, key)).token, config.tls.ca.read())
        await admin.delete(created)


async def user_of(config: Config) -> str | None:
    async with Client.connect(config) as client:
        return (await client.create(SelfSubjectReview())).status.user_info.username


async def test_a_pod_needs_nothing_but_what_is_mounted(
    jenkins: Jenkins, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a pod `Config.in_cluster()` logs in as its service account, in its namespace."""
    address = urlsplit(jenkins.server)
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", address.hostname or "")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", str(address.port))
    monkeypatch.delenv("POD_NAMESPACE", raising=False)
    (tmp_path / "token").write_text(jenkins.token)
    (tmp_path / "ca.crt").write_bytes(jenkins.ca)
    (tmp_path / "namespace").write_text(jenkins.namespace)
    config = Config.in_cluster(service_account=tmp_path)
    assert (await user_of(config), config.namespace) == (jenkins.user, jenkins.namespace)


async def test_a_token_and_the_authority_are_a_login(jenkins: Jenkins, tmp_path: Path) -> None:
    """Address, token and ca.crt suffice, as PEM or as files; `insecure` replaces the authority."""
    assert await user_of(Config.from_token(jenkins.server, jenkins.token, ca=jenkins.ca)) == jenkins.user
    (tmp_path / "token").write_text(f"{jenkins.token}\n")
    (tmp_path / "ca.crt").write_bytes(jenkins.ca)
    assert await user_of(Config.from_token(jenkins.server, tmp_path / "token", ca=tmp_path / "ca.crt")) == jenkins.user
    assert await user_of(Config.from_token(jenkins.server, jenkins.token, insecure=True)) == jenkins.user


async def test_a_token_alone_is_told_what_it_lacks(jenkins: Jenkins) -> None:
    """Without the cluster's authority nothing is sent, and the error says what to add and where."""
    with pytest.raises(ConnectionFailed, match=r"is not trusted: .* has no certificate authority.*; add its ca.crt"):
        await user_of(Config.from_token(jenkins.server, jenkins.token))
