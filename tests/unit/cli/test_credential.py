"""Credentials of a login, and printing one part of them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from random import Random

import pytest

from pyctrl import _clock
from pyctrl.api import ObjectMeta
from pyctrl.apiserver import CertificateAuthority
from pyctrl.cli._credential import auth_info_of, part_of
from pyctrl.client import (
    ClientCertificate,
    Config,
    Pem,
    Tls,
)
from pyctrl.cluster import Cluster
from pyctrl.errors import CommandFailed
from pyctrl.kinds.core.v1 import ServiceAccount
from tests.unit.cli.conftest import Run
from tests.unit.cli.whoami._logins import JENKINS, jwt


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    """A cluster with RBAC, and the service account jenkins."""
    async with Cluster(random=Random(1), rbac=True, kubelet=False) as running:
        async with running.client() as admin:
            await admin.create(ServiceAccount(metadata=ObjectMeta(name=JENKINS.name, namespace=JENKINS.namespace)))
        yield running


async def test_a_certificate_tells_whose_it_is_and_until_when() -> None:
    """A client certificate is described by name, issuer and expiration; its key is printed only on request."""
    authority = CertificateAuthority.new("cluster")
    issued = authority.client("jane", ["people"])
    pair = ClientCertificate(Pem("jane.crt", data=issued.certificate), Pem("jane.key", data=issued.key))
    config = Config(server="https://cluster", tls=Tls(ca=Pem("ca", data=authority.certificate), certificate=pair))
    (sent,) = (await auth_info_of(config)).credentials
    assert (sent.kind, sent.origin) == ("certificate", "jane.crt")
    assert "CN=jane" in sent.subject
    assert "CN=cluster" in sent.issuer
    assert sent.expires_at is not None
    assert sent.expires_at > _clock.now()
    assert (await part_of(config, "certificate")).encode() == issued.certificate
    assert (await part_of(config, "key")).encode() == issued.key
    assert (await part_of(config, "ca")).encode() == authority.certificate
    with pytest.raises(CommandFailed, match="the login has no token: it sends jane.crt"):
        await part_of(config, "token")


async def test_a_part_that_is_not_there_is_an_error() -> None:
    """The error for a missing part has the source of the login."""
    config = Config.from_token("https://cluster", "t1")
    assert await part_of(config, "token") == "t1"
    with pytest.raises(CommandFailed, match=r"no certificate authority \(a token given in code\)"):
        await part_of(config, "ca")
    with pytest.raises(CommandFailed, match=r"no client certificate: it sends the token \(a token given in code\)"):
        await part_of(config, "key")


@pytest.mark.parametrize("token", ["opaque", "a.b.c", "e30.W10.x", "e30.!.x", jwt({"exp": "soon", "aud": "a"})])
async def test_tokens_of_any_kind_are_read_without_harm(token: str) -> None:
    """A token that is no JSON Web Token, or an unusual one, has no expiration and is no error."""
    (sent,) = (await auth_info_of(Config.from_token("https://cluster", token))).credentials
    assert (sent.kind, sent.expires_at) == ("token", None)


def test_a_part_is_printed_without_a_cluster(run: Run, tmp_path: Path) -> None:
    """`whoami -o token` prints only the token, without a request."""
    file = tmp_path / "config"
    file.write_text(Config.from_token("https://127.0.0.1:1", "t1").to_kubeconfig())
    printed = run("whoami", "--kubeconfig", file, "-o", "token")
    assert (printed.code, printed.out, printed.err) == (0, "t1\n", "")
    missing = run("whoami", "--kubeconfig", file, "-o", "key")
    assert (missing.code, missing.out) == (1, "")
    assert missing.err.startswith("pyctrl: the login has no client certificate")
