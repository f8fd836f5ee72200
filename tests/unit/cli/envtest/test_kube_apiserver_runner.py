"""envtest's kube-apiserver serves with envtest's certificates, users, and options of the environment."""

from __future__ import annotations

import json
import ssl
import subprocess
import sys
import urllib.error
import urllib.request
from http.client import HTTPResponse
from pathlib import Path

import pytest

from tests.unit.cli._command import PATIENCE
from tests.unit.cli.conftest import Run
from tests.unit.cli.envtest._control_plane import flags_of_envtest, free_port, listening, write_certificates

pytestmark = pytest.mark.slow("starts processes, each of which takes half a second")


def test_a_suite_of_envtest(assets: Path, tmp_path: Path) -> None:
    """With envtest's flags it is healthy without a login, and an administrator's client certificate may do everything.

    SIGTERM ends it with exit code 0, and nothing was written but the flags that have no effect.
    """
    authority, port = write_certificates(tmp_path), free_port()
    admin = authority.client("admin", ["system:masters"])
    (tmp_path / "admin.pem").write_bytes(admin.certificate + admin.key)
    context = ssl.create_default_context(cafile=tmp_path / "client-cert-auth-ca.crt")
    context.load_cert_chain(tmp_path / "admin.pem")
    with listening(assets / "kube-apiserver", flags_of_envtest(tmp_path, port), port) as served:
        ca = tmp_path / "client-cert-auth-ca.crt"
        with urllib.request.urlopen(
            f"{served.url}/healthz", context=ssl.create_default_context(cafile=ca), timeout=PATIENCE
        ) as healthy:
            assert healthy.read() == b"ok"
        assert served.ask("GET", "/api/v1/namespaces", ca=ca)[0] == 403
        url = f"{served.url}/api/v1/namespaces/default"
        with urllib.request.urlopen(url, context=context, timeout=PATIENCE) as found:
            assert json.load(found)["kind"] == "Namespace"
        ended = served.stop()
    assert (ended.code, ended.out) == (0, "")
    assert all(line.endswith("has no effect on pyctrl's API server") for line in ended.err.splitlines())


def test_its_own_certificate(assets: Path, tmp_path: Path) -> None:
    """Without a certificate in --cert-dir it writes one there, as kube-apiserver does."""
    port, tokens = free_port(), tmp_path / "tokens.csv"
    tokens.write_text('secret,admin,admin,"system:masters"\n')
    flags = [
        f"--cert-dir={tmp_path / 'certs'}",
        "--bind-address=127.0.0.1",
        f"--secure-port={port}",
        f"--token-auth-file={tokens}",
        "--anonymous-auth=false",
        "--authorization-mode=Node,ABAC,RBAC",
        "--oidc-issuer-url=https://issuer.example",
        "--service-cluster-ip-range=10.9.0.0/16,fd00::/108",
        "--service-node-port-range=20000+10",
        "--enable-admission-plugins=NodeRestriction,OwnerReferencesPermissionEnforcement",
        "--feature-gates=ShardedListAndWatch=true,MutableCSINodeAllocatableCount=true",
    ]
    with listening(assets / "kube-apiserver", flags, port) as served:
        assert (tmp_path / "certs" / "apiserver.key").stat().st_mode & 0o077 == 0
        context = ssl._create_unverified_context()
        assert _code(f"{served.url}/healthz", context) == 401
        assert _code(f"{served.url}/api/v1/nodes", context, "secret") == 200
        ca = tmp_path / "certs" / "apiserver.crt"
        code, service = served.ask("GET", "/api/v1/namespaces/default/services/kubernetes", token="secret", ca=ca)
        assert (code, service["spec"]["clusterIP"]) == (200, "10.9.0.1")
        shard = "shardRange(object.metadata.uid,'0x0000000000000000','0x8000000000000000')"
        _, services = served.ask("GET", f"/api/v1/services?shardSelector={shard}", token="secret", ca=ca)
        assert "shardInfo" in services["metadata"]
        ended = served.stop()
    assert ended.err == (
        "kube-apiserver: --oidc-issuer-url has no effect on pyctrl's API server\n"
        "kube-apiserver: --authorization-mode ABAC has no effect on pyctrl's API server\n"
        "kube-apiserver: the feature gate MutableCSINodeAllocatableCount has no effect on pyctrl's API server\n"
    )


def test_users_without_credentials_are_not_allowed_everything(assets: Path, tmp_path: Path) -> None:
    """With AlwaysAllow among the authorization modes requests without a valid login get 401, as from kube-apiserver."""
    port, tokens = free_port(), tmp_path / "tokens.csv"
    tokens.write_text("secret,jane,jane\n")
    flags = [
        f"--cert-dir={tmp_path / 'certs'}",
        "--bind-address=127.0.0.1",
        f"--secure-port={port}",
        f"--token-auth-file={tokens}",
        "--authorization-mode=RBAC,AlwaysAllow",
    ]
    with listening(assets / "kube-apiserver", flags, port) as served:
        context = ssl._create_unverified_context()
        assert _code(f"{served.url}/api/v1/nodes", context) == 401
        assert _code(f"{served.url}/api/v1/nodes", context, "secret") == 200
        warning = "AnonymousAuth is not allowed with the AlwaysAllow authorizer. Resetting AnonymousAuth to false."
        assert warning in served.stop().err


def test_the_start_imports_little() -> None:
    """The start imports none of the packages that take long and that an API server alone does not need."""
    slow = (
        "aiohttp",
        "cel_expr_python",
        "cryptography",
        "cyclopts",
        "pyctrl.client",
        "pyctrl.cluster",
        "pyctrl.kinds",
        "yaml",
    )
    code = "import sys, pyctrl.cli._envtest.kube_apiserver_runner; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {*slow} & {*ran.stdout.split()}


def test_a_script_of_the_containers(run: Run, tmp_path: Path) -> None:
    """With --pod-script, pods run on a simulated node whose containers follow the script, in each directory."""
    (tmp_path / "containers.py").write_text(
        "from pyctrl.cluster import Script\ndef fail(pod, container): return Script(run_seconds=0, exit_code=7)\n"
    )
    told = run("envtest", "--pod-script", tmp_path / "containers.py:fail", "--bin-dir", tmp_path / "assets")
    assert told.code == 0, told.err
    tokens, port = tmp_path / "tokens.csv", free_port()
    tokens.write_text('secret,admin,admin,"system:masters"\n')
    write_certificates(tmp_path)
    flags = [*flags_of_envtest(tmp_path, port), f"--token-auth-file={tokens}"]
    pod = {
        "metadata": {"name": "failing", "namespace": "default"},
        "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "none"}]},
    }
    with listening(tmp_path / "assets" / "kube-apiserver", flags, port) as served:
        context = ssl._create_unverified_context()
        url = f"{served.url}/api/v1/namespaces/default/pods"
        with _request(url, context, "secret", json.dumps(pod).encode()):
            pass
        with _request(f"{url}?watch=true", context, "secret") as events:
            states = (json.loads(line)["object"]["status"] for line in events)
            status = next(status for status in states if status.get("phase") == "Failed")
    assert status["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 7


def _code(url: str, context: ssl.SSLContext, token: str = "") -> int:
    try:
        with _request(url, context, token) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code


def _request(url: str, context: ssl.SSLContext, token: str, body: bytes | None = None) -> HTTPResponse:
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
    request = urllib.request.Request(url, headers=headers, data=body)
    response: HTTPResponse = urllib.request.urlopen(request, context=context, timeout=PATIENCE)
    return response
