"""The curl lines of `pyctrl url`, pasted into bash, log in like pyctrl does, for every kind of credentials."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml

from pyctrl.api import ObjectMeta
from pyctrl.apiserver import CertificateAuthority
from pyctrl.client import Client, Config
from pyctrl.cluster import Cluster
from pyctrl.kinds.core.v1 import ConfigMap, Namespace, ServiceAccount
from pyctrl.testing import ClusterUnderTest
from tests.integration._commands import Outcome, Shell, guarded

pytestmark = [
    pytest.mark.real_time,  # sockets and processes
    pytest.mark.slow("each line starts bash, curl and pyctrl"),
    pytest.mark.timeout(60),
]


async def pasted(shell: Shell, *arguments: str | Path) -> tuple[str, Outcome]:
    """Return the curl line for these arguments, and its outcome in bash."""
    printed = await shell.pyctrl("url", *arguments)
    assert printed.code == 0, printed.err
    _, url, line = printed.out.splitlines()
    ran = await shell.bash(line)
    assert ran.code == 0, f"{line}\n{ran.err}"
    assert url.startswith("https://")
    return line, ran


async def test_the_line_gets_the_object(cluster: ClusterUnderTest, tmp_path: Path) -> None:
    """The printed line returns the object; for a service account, that account's Forbidden."""
    async with guarded(cluster) as admin, Client.connect(admin) as client:
        (tmp_path / "admin").write_text(admin.to_kubeconfig(context_name="admin"))
        shell = Shell(tmp_path, {"KUBECONFIG": str(tmp_path / "admin")})
        namespace = await client.create(Namespace(metadata=ObjectMeta(generate_name="who-")))
        place = namespace.metadata.name
        await client.create(ServiceAccount(metadata=ObjectMeta(name="jenkins", namespace=place)))

        _, got = await pasted(shell, "serviceaccount", "jenkins", "-n", place)
        assert json.loads(got.out)["metadata"]["name"] == "jenkins"
        _, refused = await pasted(shell, "cm", "-n", place, "--service-account", "jenkins")
        assert json.loads(refused.out)["message"].startswith(
            f'configmaps is forbidden: User "system:serviceaccount:{place}:jenkins" cannot list resource "configmaps"'
        )
        await client.delete(namespace)


# --- every form of credentials ---------------------------------------------------------------------------------------


class Site:
    """A cluster behind TLS with its authority in a file, and a ConfigMap to request."""

    def __init__(self, config: Config, authority: CertificateAuthority, directory: Path) -> None:
        self.config, self.authority, self.directory = config, authority, directory
        self.shell = Shell(directory, {"KUBECONFIG": str(directory / "kubeconfig")})
        (directory / "ca.crt").write_bytes(authority.certificate)

    def writes(self, user: dict[str, Any], **cluster: Any) -> None:
        """Write the kubeconfig."""
        cluster = {"server": self.config.server, "certificate-authority": "ca.crt", **cluster}
        document = {
            "clusters": [{"name": "c", "cluster": {name: value for name, value in cluster.items() if value}}],
            "users": [{"name": "u", "user": user}],
            "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
            "current-context": "x",
        }
        (self.directory / "kubeconfig").write_text(yaml.safe_dump(document))

    async def gets_it(self, *arguments: str) -> str:
        """Paste the line for the ConfigMap, check that it succeeds, and return the line."""
        line, ran = await pasted(self.shell, "cm/wanted", *arguments)
        assert json.loads(ran.out)["data"] == {"found": "yes"}, ran.out
        return line


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    """A cluster with RBAC behind TLS."""
    authority = CertificateAuthority.new()
    running = Cluster(random=Random(1), rbac=True, kubelet=False, authority=authority)
    async with running, running.serve(tls=True) as config:
        async with running.client() as admin:
            wanted = ConfigMap(metadata=ObjectMeta(name="wanted", namespace="default"), data={"found": "yes"})
            await admin.create(wanted)
        yield Site(config, authority, tmp_path)


async def token_of(config: Config) -> str:
    return str(await config.credentials.authorization()).removeprefix("Bearer ")


async def test_a_token_in_the_kubeconfig(site: Site) -> None:
    """The line contains no token and at most the file name of the authority, given as file or as data."""
    token = await token_of(site.config)
    site.writes({"token": token})
    line = await site.gets_it()
    assert token not in line
    assert f"--cacert {site.directory}/ca.crt" in line
    (site.directory / "kubeconfig").write_text(site.config.to_kubeconfig())
    assert "--cacert <(" in await site.gets_it()


async def test_a_token_file_and_no_verification(site: Site) -> None:
    """The shell reads a tokenFile; without verification curl does not verify either."""
    (site.directory / "my token").write_text(await token_of(site.config))
    site.writes({"tokenFile": "my token"}, **{"certificate-authority": "", "insecure-skip-tls-verify": True})
    line = await site.gets_it()
    assert "--insecure" in line
    assert f"$(cat '{site.directory}/my token')" in line


async def test_a_client_certificate(site: Site) -> None:
    """A client certificate and key work as files and as data in the kubeconfig."""
    issued = site.authority.client("jane", ["system:masters"])
    (site.directory / "jane.crt").write_bytes(issued.certificate)
    (site.directory / "jane.key").write_bytes(issued.key)
    site.writes({"client-certificate": "jane.crt", "client-key": "jane.key"})
    assert f"--cert {site.directory}/jane.crt --key {site.directory}/jane.key" in await site.gets_it()
    config = Config.from_client_cert(site.config.server, issued.certificate, issued.key, site.authority.certificate)
    (site.directory / "kubeconfig").write_text(config.to_kubeconfig())
    assert "--key <(" in await site.gets_it()


async def test_an_exec_plugin(site: Site) -> None:
    """The line runs an exec plugin to get its token."""
    credential = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "kind": "ExecCredential",
        "status": {"token": await token_of(site.config)},
    }
    plugin = ["-c", f"print({json.dumps(json.dumps(credential))})"]
    fields = {"apiVersion": "client.authentication.k8s.io/v1", "command": sys.executable, "args": plugin}
    site.writes({"exec": {**fields, "interactiveMode": "Never"}})
    assert credential["status"]["token"] not in await site.gets_it()  # type: ignore[index]


async def test_acting_as_somebody_under_another_name_of_the_server(site: Site) -> None:
    """--as becomes headers, and tls-server-name is verified although the address differs."""
    site.writes({"token": await token_of(site.config)}, **{"tls-server-name": "kubernetes.default"})
    assert "--connect-to" in await site.gets_it()
    line, ran = await pasted(site.shell, "cm/wanted", "--as", "jane doe")
    assert 'User "jane doe" cannot get resource' in json.loads(ran.out)["message"]
    assert "-H 'Impersonate-User: jane doe'" in line


async def test_a_watch_shows_what_is_there(site: Site) -> None:
    """The line of --watch keeps running, and prints each event as it arrives."""
    site.writes({"token": await token_of(site.config)})
    printed = await site.shell.pyctrl("url", "cm/wanted", "--watch", "-o", "curl")
    async with site.shell.lines(printed.out) as lines:
        event = json.loads(await lines.readline())
    assert (event["type"], event["object"]["metadata"]["name"]) == ("ADDED", "wanted")
