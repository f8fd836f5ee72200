"""Tests of `pyctrl apiserver` as a process: output, requests, exit codes."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from pyctrl.api import Key
from pyctrl.apiserver import CertificateAuthority
from pyctrl.client import Client, Config, wait_for
from pyctrl.kinds.core.v1 import Namespace, Node, Pod, ServiceAccount
from tests.unit.cli._command import apiserver
from tests.unit.cli.apiserver._served import ALONE, TOKENS
from tests.unit.cli.conftest import Run

SPEC = {"containers": [{"name": "main", "image": "busybox"}]}
WHOAMI = "/apis/authentication.k8s.io/v1/selfsubjectreviews"

pytestmark = pytest.mark.slow("starts a process, which takes up to a second")


@pytest.fixture
def tokens(tmp_path: Path) -> Path:
    file = tmp_path / "tokens.csv"
    file.write_text(TOKENS)
    return file


def test_the_kubeconfig_works(tmp_path: Path) -> None:
    """With TLS, the default, a client needs only the kubeconfig, and the cluster's controllers run."""
    kubeconfig = tmp_path / "new" / "kubeconfig"

    async def look(config: Config) -> None:
        async with Client.connect(config) as client:
            assert (await client.get(Namespace, Key("", "default"))).metadata.name == "default"
            await wait_for(client, ServiceAccount, Key("default", "default"))

    with apiserver("--write-kubeconfig", kubeconfig) as served:
        assert kubeconfig.stat().st_mode & 0o077 == 0
        config = Config.from_kubeconfig(kubeconfig)
        assert served.url.startswith("https://127.0.0.1:")
        assert config.server == served.url
        asyncio.run(look(config))
        ended = served.stop()
    assert (ended.code, ended.out, ended.err) == (0, "", "")


def test_pods_are_distributed_among_the_nodes(tmp_path: Path) -> None:
    """With `--nodes 3` there are three nodes, and the scheduler uses all of them."""
    kubeconfig = tmp_path / "kubeconfig"

    async def place(config: Config) -> set[str | None]:
        async with Client.connect(config) as client:
            await wait_for(client, ServiceAccount, Key("default", "default"))
            for number in (1, 2, 3):
                await wait_for(client, Node, Key("", f"node-{number}"), lambda node: not node.spec.taints)
            pods = [{"metadata": {"name": f"p{each}", "namespace": "default"}, "spec": SPEC} for each in range(3)]
            made = [await client.create(Pod.from_wire(each)) for each in pods]
            bound = [await wait_for(client, Pod, each.key, lambda pod: bool(pod.spec.node_name)) for each in made]
            return {each.spec.node_name for each in bound}

    with apiserver("--write-kubeconfig", kubeconfig, "--nodes", "3", "--pod-start-seconds", "0"):
        assert asyncio.run(place(Config.from_kubeconfig(kubeconfig))) == {"node-1", "node-2", "node-3"}


def test_the_authority_is_kept(tmp_path: Path) -> None:
    """Two runs with the same --cert-dir have the same certificate authority."""
    for _ in range(2):
        with apiserver("--cert-dir", tmp_path, "--no-controllers", "--no-kubelet") as served:
            assert served.ask("GET", "/version", ca=tmp_path / "ca.crt")[0] == 200


def test_users_objects_and_a_log_of_who_did_what(tmp_path: Path, tokens: Path) -> None:
    """Tokens authenticate users, --apply creates objects before the server is ready, and each request is audited."""
    crds, audit, kubeconfig = tmp_path / "crds", tmp_path / "audit.log", tmp_path / "kubeconfig"
    crds.mkdir()
    (crds / "a.yaml").write_text(WIDGET + "\n---\n" + NAMESPACE)
    (crds / "b.yml").write_text(DEFINITION)
    (crds / "c.txt").write_text("no manifest")
    one = tmp_path / "one.json"
    one.write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": [CONFIG_MAP]}))
    flags = (
        "--token-auth-file",
        tokens,
        "--audit",
        audit,
        "--audit-level",
        "Request",
        "--write-kubeconfig",
        kubeconfig,
    )
    with apiserver(*ALONE, *flags, "--apply", crds, "--apply", one) as served:
        assert served.ask("GET", "/apis/example.org/v1/namespaces/shop/widgets/w", token="admin-token")[0] == 200
        code, review = served.ask("POST", WHOAMI, {}, token="two-token", headers={"User-Agent": "curl/8"})
        assert (code, review["status"]["userInfo"]["groups"]) == (201, ["dev", "ops", "system:authenticated"])
        assert served.ask("GET", "/api/v1/namespaces", token="wrong")[0] == 401
    assert stat.S_IMODE(audit.stat().st_mode) == 0o600  # the audit log contains objects that users sent
    events = [json.loads(line) for line in audit.read_text().splitlines()]
    assert [e["user"].get("username") for e in events[-3:]] == ["admin", "two", None]
    assert [e["verb"] for e in events[-3:]] == ["get", "create", "list"]
    assert events[-2]["sourceIPs"] == ["127.0.0.1"]
    assert events[-2]["requestObject"] == {}
    assert "token: admin-token" in kubeconfig.read_text()


def test_kubectl_reaches_it(tmp_path: Path) -> None:
    """kubectl can use the kubeconfig."""
    kubectl = shutil.which("kubectl") or str(_stand_in(tmp_path))
    kubeconfig = tmp_path / "kubeconfig"
    with apiserver("--write-kubeconfig", kubeconfig, "--no-controllers", "--no-kubelet"):
        told = subprocess.run(
            [kubectl, "--kubeconfig", kubeconfig, "get", "namespaces", "-o", "name"],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "HOME": str(tmp_path)},
        )
    assert "namespace/default" in told.stdout.splitlines()


@pytest.mark.parametrize(("mode", "codes"), [([], (200, 403)), (["--authorization-mode", "AlwaysAllow"], (200, 200))])
def test_users_may_what_roles_let_them(tokens: Path, mode: list[str], codes: tuple[int, int]) -> None:
    """With a token file RBAC decides; AlwaysAllow permits every request with a valid token."""
    with apiserver(*ALONE, "--token-auth-file", tokens, *mode) as served:
        asked = [served.ask("GET", "/api/v1/pods", token=token)[0] for token in ("admin-token", "plain-token")]
        assert tuple(asked) == codes


@pytest.mark.parametrize(
    ("flags", "code", "warning"),
    [
        (["--token-auth-file", "TOKENS", "--authorization-mode", "AlwaysAllow"], 401, True),
        (["--token-auth-file", "TOKENS", "--authorization-mode", "RBAC,AlwaysAllow"], 401, True),
        (["--authorization-mode", "Node,AlwaysAllow"], 401, True),
        (["--client-ca-file", "CA", "--authorization-mode", "AlwaysAllow"], 401, True),
        (["--client-ca-file", "CA"], 403, False),
        (["--token-auth-file", "TOKENS"], 403, False),
        (["--authorization-mode", "AlwaysAllow"], 200, False),
        ([], 200, False),
    ],
)
def test_what_clients_without_credentials_may(tokens: Path, flags: list[str], code: int, warning: bool) -> None:
    """If clients authenticate, AlwaysAllow refuses others with 401 and a warning, as kube-apiserver does."""
    authority = tokens.with_name("ca.crt")
    authority.write_bytes(CertificateAuthority.new().certificate)
    files = {"TOKENS": tokens, "CA": authority}
    serving = tokens.with_name("certificates")
    with apiserver(*ALONE[1:], "--cert-dir", serving, *(files.get(flag, flag) for flag in flags)) as served:
        assert served.ask("GET", "/api/v1/pods", ca=serving / "ca.crt")[0] == code
        assert ("requests without credentials get 401" in served.stop().err) == warning


def test_roles_without_a_token_file(tmp_path: Path) -> None:
    """With RBAC and no token file, all clients but the kubeconfig's administrator are anonymous."""
    kubeconfig = tmp_path / "kubeconfig"
    with apiserver(*ALONE, "--authorization-mode", "RBAC", "--write-kubeconfig", kubeconfig) as served:
        token = yaml.safe_load(kubeconfig.read_text())["users"][0]["user"]["token"]
        assert served.ask("GET", "/api/v1/pods", token=token)[0] == 200
        assert served.ask("GET", "/api/v1/pods")[0] == 403


def test_admission_plugins_are_enabled_by_kube_apiserver_s_flag(tmp_path: Path) -> None:
    """With the plugin, blockOwnerDeletion for an owner of an unknown kind is forbidden, even for an administrator."""
    owner = {"apiVersion": "v1", "kind": "Nope", "name": "x", "uid": "1", "blockOwnerDeletion": True}
    body = {"metadata": {"name": "a", "ownerReferences": [owner]}}
    path = "/api/v1/namespaces/default/configmaps"
    with apiserver(*ALONE, "--enable-admission-plugins", "OwnerReferencesPermissionEnforcement") as served:
        code, status = served.ask("POST", path, body)
    assert (code, "cannot set blockOwnerDeletion" in status["message"]) == (403, True)


def test_alpha_features_are_enabled_by_kube_apiserver_s_flag(run: Run) -> None:
    """With the feature a list applies its shard selector; a feature that the server lacks ends it with one line."""
    shard = "shardRange(object.metadata.uid,'0x0000000000000000','0x8000000000000000')"
    with apiserver(*ALONE, "--feature-gates", "ShardedListAndWatch=true") as served:
        _, services = served.ask("GET", f"/api/v1/services?shardSelector={shard}")
    assert "shardInfo" in services["metadata"]
    told = run("apiserver", *ALONE, "--feature-gates", "Sharding=true")
    assert (told.code, told.err) == (1, "pyctrl: --feature-gates: unrecognized feature gate: Sharding\n")


def test_pods_are_pending_for_a_moment() -> None:
    """With the default flags a new pod is first Pending without a node, and later Running."""

    async def run() -> tuple[str | None, str | None]:
        async with Client.connect(Config.from_token(served.url, "admin")) as client:
            await wait_for(client, ServiceAccount, Key("default", "default"))
            made = await client.create(Pod.from_wire(POD))
            ran = await wait_for(client, Pod, made.key, lambda pod: pod.status.phase == "Running")
            return made.spec.node_name, ran.spec.node_name

    with apiserver("--insecure-http", "--pod-start-seconds", "0.2") as served:
        before, after = asyncio.run(run())
    assert (before, bool(after)) == (None, True)


def test_a_bad_token_file_is_told_with_its_line(run: Run, tmp_path: Path) -> None:
    """The error for an invalid line has the line number, but not the token."""
    file = tmp_path / "tokens.csv"
    file.write_text(TOKENS + "\nsecret,lonely\n")
    told = run("apiserver", *ALONE, "--token-auth-file", file)
    expected = "expected the columns token,user,uid and optionally groups; got '...,lonely'"
    assert (told.code, told.err) == (1, f"pyctrl: --token-auth-file {file}: line 5: {expected}\n")


def _stand_in(directory: Path) -> Path:
    """Write a script that replaces kubectl where it is not installed, and reads the same kubeconfig."""
    script = directory / "kubectl"
    script.write_text(
        f"#!{sys.executable}\n"
        "import asyncio, sys\n"
        "from pyctrl import Client, Config\n"
        "from pyctrl.kinds.core.v1 import Namespace\n"
        "async def main():\n"
        "    async with Client.connect(Config.from_kubeconfig(sys.argv[2])) as client:\n"
        "        for namespace in await client.list(Namespace):\n"
        "            print('namespace/' + namespace.metadata.name)\n"
        "asyncio.run(main())\n"
    )
    script.chmod(0o700)
    return script


POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p", "namespace": "default"},
    "spec": {"containers": [{"name": "main", "image": "nginx"}]},
}
CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "shop"}}
NAMESPACE = "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}"
WIDGET = "{apiVersion: example.org/v1, kind: Widget, metadata: {name: w, namespace: shop}, spec: {size: 1}}"
DEFINITION = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.org}
spec:
  group: example.org
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties: {spec: {type: object, properties: {size: {type: integer}}}}
"""
