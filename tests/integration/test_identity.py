"""`pyctrl whoami`, `token` and `url` as processes, with a kubeconfig, against a server with RBAC behind TLS."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from pyctrl.api import ObjectMeta
from pyctrl.client import Client, Config, HttpRequest
from pyctrl.kinds.core.v1 import Namespace, ServiceAccount
from pyctrl.testing import ClusterUnderTest
from tests.integration._commands import Shell, guarded, with_token

pytestmark = [
    pytest.mark.real_time,  # sockets and processes
    pytest.mark.slow("each command is a process"),
    pytest.mark.timeout(60),
]


@pytest.fixture
async def admin(cluster: ClusterUnderTest) -> AsyncIterator[Config]:
    """The login of an administrator."""
    async with guarded(cluster) as config:
        yield config


@pytest.fixture
async def place(admin: Config) -> AsyncIterator[str]:
    """A namespace with the service account jenkins."""
    async with Client.connect(admin) as client:
        created = await client.create(Namespace(metadata=ObjectMeta(generate_name="who-")))
        name = created.metadata.name
        await client.create(ServiceAccount(metadata=ObjectMeta(name="jenkins", namespace=name)))
        yield name
        await client.delete(created)


@pytest.fixture
def shell(tmp_path: Path, admin: Config) -> Shell:
    """A shell with the administrator's KUBECONFIG."""
    (tmp_path / "admin").write_text(admin.to_kubeconfig(context_name="admin"))
    return Shell(tmp_path, {"KUBECONFIG": str(tmp_path / "admin")})


def login_of(shell: Shell, admin: Config, token: str, namespace: str) -> Path:
    """Write a kubeconfig for a token."""
    file = shell.home / "account"
    file.write_text(replace(with_token(admin, token), namespace=namespace).to_kubeconfig(context_name="account"))
    return file


async def answer(config: Config, path: str) -> tuple[int, str, bytes]:
    async with Client.connect(config) as client:
        response = await client.transport.request(HttpRequest(method="GET", path=path))
    return response.status, response.headers["Content-Type"], response.body


async def test_whoami_names_the_source_that_won_and_the_user(shell: Shell, admin: Config) -> None:
    """whoami prints name, groups, server, verification and the source of the credentials."""
    told = await shell.pyctrl("whoami", "-o", "json")
    assert (told.code, told.err) == (0, "")
    wire = json.loads(told.out)
    assert wire["login"] == {"source": f"kubeconfig {shell.home}/admin, context 'admin'", "passedOver": []}
    assert (wire["server"], wire["tls"]["verified"]) == (admin.server, True)
    assert "system:masters" in wire["user"]["groups"]


async def test_whoami_without_a_login_says_what_was_tried(shell: Shell) -> None:
    """Without credentials whoami lists each source, why it failed and what to do; the code is 1."""
    told = await Shell(shell.home, {"KUBECONFIG": "", "KUBERNETES_SERVICE_HOST": ""}).pyctrl("whoami")
    assert (told.code, told.out) == (1, "")
    assert told.err.splitlines() == [
        "pyctrl: no configuration of a cluster found; tried:",
        "  - KUBECONFIG: not set",
        "  - in-cluster: this is not a pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set",
        f"  - ~/.kube/config: no such file: {shell.home}/.kube/config",
        told.err.splitlines()[-1],
    ]
    assert "name one with --kubeconfig FILE" in told.err


async def test_a_token_is_alone_on_stdout_and_logs_in(shell: Shell, admin: Config, place: str) -> None:
    """`TOKEN=$(pyctrl token jenkins)` logs in as jenkins, and whoami shows its expiry and groups."""
    made = await shell.pyctrl("token", "jenkins", "-n", place, "--duration", "1h")
    assert (made.code, made.err, made.out.count("\n")) == (0, "", 1)
    account = login_of(shell, admin, made.out.strip(), place)
    wire = json.loads((await shell.pyctrl("whoami", "--kubeconfig", account, "-o", "json")).out)
    assert wire["user"]["username"] == f"system:serviceaccount:{place}:jenkins"
    assert f"system:serviceaccounts:{place}" in wire["user"]["groups"]
    assert wire["credentials"][0]["subject"] == wire["user"]["username"]
    assert wire["credentials"][0]["expiresAt"]
    assert wire["namespace"] == place


async def test_a_missing_account_is_one_clear_error(shell: Shell, place: str) -> None:
    """The error for an unknown account lists the existing ones and the command to create it."""
    refused = await shell.pyctrl("token", "jenkinz", "-n", place)
    assert (refused.code, refused.out) == (1, "")
    assert refused.err.startswith(f"pyctrl: no service account 'jenkinz' in the namespace '{place}', which has")
    assert "jenkins" in refused.err
    assert f"kubectl create serviceaccount jenkinz -n {place}" in refused.err


async def test_a_refused_token_is_told_with_its_origin(shell: Shell, admin: Config, place: str) -> None:
    """The error for a 401 names the kind of credentials and its file, never the token."""
    account = login_of(shell, admin, "s3cret-of-another-cluster", place)
    refused = await shell.pyctrl("whoami", "--kubeconfig", account)
    assert (refused.code, refused.out) == (1, "")
    assert f"the API server at {admin.server} rejected the credentials (401 Unauthorized)" in refused.err
    assert f"sent: the token of user 'account' in {account}" in refused.err
    assert "s3cret" not in refused.err


async def test_url_finds_what_is_served(shell: Shell, admin: Config, place: str) -> None:
    """url prints the path of an object; for an unknown kind it lists similar ones, with code 1."""
    path = (await shell.pyctrl("url", "sa/jenkins", "-n", place, "-o", "path")).out.strip()
    assert path == f"/api/v1/namespaces/{place}/serviceaccounts/jenkins"
    code, _, body = await answer(admin, path)
    assert (code, yaml.safe_load(body)["metadata"]["name"]) == (200, "jenkins")
    unknown = await shell.pyctrl("url", "serviceaccont", "-n", place)
    assert (unknown.code, unknown.out) == (1, "")
    assert "it serves serviceaccounts (sa)" in unknown.err
