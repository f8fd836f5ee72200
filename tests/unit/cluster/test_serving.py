"""The cluster over sockets, with and without TLS, from an event loop or a thread."""

from __future__ import annotations

import json
import ssl
import urllib.error
import urllib.request

import pytest

from pyctrl.api import Key
from pyctrl.apiserver import ApiServer, CertificateAuthority, User
from pyctrl.client import Client, Config, wait_for
from pyctrl.cluster import Cluster, serving_cluster
from pyctrl.kinds.authentication.v1 import SelfSubjectReview
from pyctrl.kinds.core.v1 import ConfigMap, Namespace

pytestmark = pytest.mark.real_time  # sockets

DEFAULT = Key("", "default")


async def whoami(config: Config) -> tuple[str | None, list[str]]:
    async with Client.connect(config) as client:
        found = await client.create(SelfSubjectReview())
    assert found.status.user_info is not None
    return found.status.user_info.username, found.status.user_info.groups


async def test_https_in_one_line() -> None:
    """The Config trusts the certificate and is an administrator; clients without the CA are refused."""
    async with Cluster(controllers=False, kubelet=False) as cluster, cluster.serve(tls=True) as config:
        assert config.server.startswith("https://127.0.0.1:")
        async with Client.connect(config) as client:
            assert (await client.get(Namespace, DEFAULT)).metadata.name == "default"
        assert "system:masters" in (await whoami(config))[1]
        assert "certificate-authority-data" in config.to_kubeconfig()


async def test_a_client_certificate_logs_in() -> None:
    """A client certificate of the cluster's CA authenticates its user, before any token."""
    authority = CertificateAuthority.new()
    jane = authority.client("jane", ["dev"])
    server = ApiServer(tokens={"secret": User(name="admin", groups=("system:masters",))})
    cluster = Cluster(server=server, token="secret", authority=authority, controllers=False, kubelet=False)
    async with cluster, cluster.serve(tls=True) as config:
        shown = Config.from_client_cert(config.server, jane.certificate, jane.key, ca=authority.certificate)
        assert await whoami(shown) == ("jane", ["dev", "system:authenticated"])
        assert (await whoami(config))[0] == "kubernetes-admin"


async def test_pods_find_the_authority_as_their_root() -> None:
    """With an authority, kube-root-ca.crt has the CA of the serving certificate."""
    authority = CertificateAuthority.new()
    async with Cluster(authority=authority, kubelet=False) as cluster, cluster.client() as client:
        root = await wait_for(client, ConfigMap, Key("default", "kube-root-ca.crt"))
        assert root.data["ca.crt"] == authority.certificate.decode()


@pytest.mark.parametrize("tls", [False, True])
def test_a_program_without_a_loop_has_a_cluster(tls: bool) -> None:
    """A blocking client can use a cluster in a `with` block; after the block the server is down."""
    with serving_cluster(lambda: Cluster(kubelet=False), tls=tls) as config:
        context = None
        if config.tls.ca is not None:
            context = ssl.create_default_context(cadata=config.tls.ca.read().decode())
        with urllib.request.urlopen(f"{config.server}/api/v1/namespaces/default", context=context) as answer:
            assert json.load(answer)["kind"] == "Namespace"
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(config.server, context=context)


def test_a_cluster_that_does_not_start_says_why() -> None:
    """An error in the thread is raised at the start of the block."""

    def broken() -> Cluster:
        raise ValueError("no cluster today")

    with pytest.raises(ValueError, match="no cluster today"), serving_cluster(broken):
        pass
