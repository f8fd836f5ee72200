"""`pyctrl apiserver` from the outside: what it prints, what it serves, how it ends."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import shutil
import signal
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from pyctrl.api import Key
from pyctrl.apiserver import CertificateAuthority
from pyctrl.cli._kubeconfig_file import write_kubeconfig
from pyctrl.client import Client, Config, wait_for
from pyctrl.kinds.core.v1 import Namespace, Pod, ServiceAccount
from tests.unit.cli._command import apiserver
from tests.unit.cli.conftest import Run

TOKENS = 'admin-token,admin,admin,system:masters\nplain-token,plain,plain\ntwo-token,two,2,"dev,ops"\n'
WHOAMI = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
ALONE = ("--insecure-http", "--no-controllers", "--no-kubelet")

pytestmark = pytest.mark.slow("starts a process, which takes up to a second")


@pytest.fixture
def tokens(tmp_path: Path) -> Path:
    file = tmp_path / "tokens.csv"
    file.write_text(TOKENS)
    return file


def test_the_kubeconfig_works(tmp_path: Path) -> None:
    """With TLS, which is the default, the kubeconfig is all that a client needs; the cluster's controllers run."""
    kubeconfig = tmp_path / "new" / "kubeconfig"

    async def look(config: Config) -> None:
        async with Client.connect(config) as client:
            assert (await client.get(Namespace, Key("", "default"))).metadata.name == "default"
            await wait_for(client, ServiceAccount, Key("default", "default"))

    with apiserver("--kubeconfig-out", kubeconfig) as served:
        assert kubeconfig.stat().st_mode & 0o077 == 0
        config = Config.from_kubeconfig(kubeconfig)
        assert served.url.startswith("https://127.0.0.1:")
        assert config.server == served.url
        asyncio.run(look(config))
        ended = served.stop()
    assert (ended.code, ended.out, ended.err) == (0, "", "")


def test_the_authority_is_kept(tmp_path: Path) -> None:
    """With --cert-dir the authority of one run is that of the next."""
    for _ in range(2):
        with apiserver("--cert-dir", tmp_path, "--no-controllers", "--no-kubelet") as served:
            assert served.ask("GET", "/version", ca=tmp_path / "ca.crt")[0] == 200


def test_users_objects_and_a_log_of_who_did_what(tmp_path: Path, tokens: Path) -> None:
    """Tokens are users, what is loaded is there when it is ready, and the audit log has each request."""
    crds, audit, kubeconfig = tmp_path / "crds", tmp_path / "audit.log", tmp_path / "kubeconfig"
    crds.mkdir()
    (crds / "a.yaml").write_text(WIDGET + "\n---\n" + NAMESPACE)
    (crds / "b.yml").write_text(DEFINITION)
    (crds / "c.txt").write_text("no manifest")
    one = tmp_path / "one.json"
    one.write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": [CONFIG_MAP]}))
    flags = ("--token-auth-file", tokens, "--audit", audit, "--audit-level", "Request", "--kubeconfig-out", kubeconfig)
    with apiserver(*ALONE, *flags, "--load", crds, "--load", one) as served:
        assert served.ask("GET", "/apis/example.org/v1/namespaces/shop/widgets/w", token="admin-token")[0] == 200
        code, review = served.ask("POST", WHOAMI, {}, token="two-token", headers={"User-Agent": "curl/8"})
        assert (code, review["status"]["userInfo"]["groups"]) == (201, ["dev", "ops", "system:authenticated"])
        assert served.ask("GET", "/api/v1/namespaces", token="wrong")[0] == 401
    assert stat.S_IMODE(audit.stat().st_mode) == 0o600  # it has what users sent
    events = [json.loads(line) for line in audit.read_text().splitlines()]
    assert [e["user"].get("username") for e in events[-3:]] == ["admin", "two", None]
    assert [e["verb"] for e in events[-3:]] == ["get", "create", "list"]
    assert events[-2]["sourceIPs"] == ["127.0.0.1"]
    assert events[-2]["requestObject"] == {}
    assert "token: admin-token" in kubeconfig.read_text()


def test_kubectl_reaches_it(tmp_path: Path) -> None:
    """A kubectl that is on PATH gets what there is with the kubeconfig that was written."""
    kubectl = shutil.which("kubectl") or str(_stand_in(tmp_path))
    kubeconfig = tmp_path / "kubeconfig"
    with apiserver("--kubeconfig-out", kubeconfig, "--no-controllers", "--no-kubelet"):
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
    """With a token file roles and bindings decide; AlwaysAllow lets everybody in who has a token."""
    with apiserver(*ALONE, "--token-auth-file", tokens, *mode) as served:
        asked = [served.ask("GET", "/api/v1/pods", token=token)[0] for token in ("admin-token", "plain-token")]
        assert tuple(asked) == codes


def test_roles_without_a_token_file(tmp_path: Path) -> None:
    """With RBAC and nobody known but the kubeconfig's administrator, everybody else is anonymous."""
    kubeconfig = tmp_path / "kubeconfig"
    with apiserver(*ALONE, "--authorization-mode", "RBAC", "--kubeconfig-out", kubeconfig) as served:
        token = yaml.safe_load(kubeconfig.read_text())["users"][0]["user"]["token"]
        assert served.ask("GET", "/api/v1/pods", token=token)[0] == 200
        assert served.ask("GET", "/api/v1/pods")[0] == 403


def test_admission_plugins_are_enabled_by_kube_apiserver_s_flag(tmp_path: Path) -> None:
    """With the plugin an owner of an unknown kind cannot be held back, even by an administrator."""
    owner = {"apiVersion": "v1", "kind": "Nope", "name": "x", "uid": "1", "blockOwnerDeletion": True}
    body = {"metadata": {"name": "a", "ownerReferences": [owner]}}
    path = "/api/v1/namespaces/default/configmaps"
    with apiserver(*ALONE, "--enable-admission-plugins", "OwnerReferencesPermissionEnforcement") as served:
        code, status = served.ask("POST", path, body)
    assert (code, "cannot set blockOwnerDeletion" in status["message"]) == (403, True)


def webhook(file: Path, **cluster: str) -> Path:
    config = {
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "w"}}],
        "clusters": [{"name": "w", "cluster": cluster}],
    }
    file.write_text(json.dumps(config))
    return file


def test_webhooks_are_asked_about_users(tmp_path: Path) -> None:
    """The flags and files are kube-apiserver's: unknown tokens are shown to one, another is asked who may."""
    authority = tmp_path / "ca.crt"
    authority.write_bytes(CertificateAuthority.new().certificate)
    file = webhook(tmp_path / "webhook", server="https://127.0.0.1:1/a", **{"certificate-authority": "ca.crt"})
    flags = ("--authentication-token-webhook-config-file", file, "--authorization-webhook-config-file", file)
    with apiserver(*ALONE, *flags, "--authorization-mode", "Webhook,RBAC") as served:
        assert served.ask("GET", "/api/v1/pods", token="jane")[0] == 401
        assert served.ask("GET", "/version")[0] == 200
        code, said = served.ask("GET", "/api/v1/pods")
    asked = 'Post "https://127.0.0.1:1/a?timeout=30s": dial tcp 127.0.0.1:1: connect: connection refused'
    assert (code, said) == (500, f'Internal Server Error: "/api/v1/pods": {asked}\n')


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "No such file or directory"),
        ("a: b: c", "a kubeconfig was expected, whose current context names a cluster that is the webhook"),
        ("{}", "a kubeconfig was expected"),
        ("[" * 60_000, "a kubeconfig was expected"),
        ('{"current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "gone"}}]}', "kubeconfig was exp"),
    ],
)
def test_a_file_of_a_webhook_that_is_none(run: Run, tmp_path: Path, content: str | None, said: str) -> None:
    """One line names the flag and the file, and says what was expected."""
    file = tmp_path / "webhook"
    if content is not None:
        file.write_text(content)
    told = run("apiserver", *ALONE, "--authentication-token-webhook-config-file", file)
    assert (told.code, told.err.startswith("pyctrl: --authentication-token-webhook-config-file")) == (1, True)
    assert said in told.err


def test_a_webhook_without_its_mode(run: Run, tmp_path: Path) -> None:
    """One line says which flag lacks the other."""
    file = webhook(tmp_path / "webhook", server="https://127.0.0.1:1/a")
    told = run("apiserver", *ALONE, "--authorization-webhook-config-file", file, "--authorization-mode", "RBAC")
    assert (told.code, "an authorization webhook needs Webhook" in told.err) == (1, True)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it(number: signal.Signals) -> None:
    """Ctrl-C and SIGTERM end it, although a client is watching, with exit code 0 and without a word."""
    with apiserver(*ALONE) as served:
        port = int(served.url.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port)) as watcher:
            watcher.sendall(b"GET /api/v1/namespaces?watch=1 HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert watcher.recv(8).startswith(b"HTTP/1.1")
            ended = served.stop(number)
    assert (ended.code, ended.out, ended.err) == (0, "", "")


def test_pods_are_pending_for_a_moment() -> None:
    """With the default flags a new pod is seen Pending, without a node, and runs in the end."""

    async def run() -> tuple[str | None, str | None]:
        async with Client.connect(Config.from_token(served.url, "admin")) as client:
            await wait_for(client, ServiceAccount, Key("default", "default"))
            made = await client.create(Pod.from_wire(POD))
            ran = await wait_for(client, Pod, made.key, lambda pod: pod.status.phase == "Running")
            return made.spec.node_name, ran.spec.node_name

    with apiserver("--insecure-http", "--pod-start-seconds", "0.2") as served:
        before, after = asyncio.run(run())
    assert (before, bool(after)) == (None, True)


def test_it_is_ready_within_a_second_of_work() -> None:
    """Less than a second of CPU goes by until it serves, all of the process included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with apiserver(*ALONE) as served:
        served.stop()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime) < 1.0


def test_a_port_that_is_taken(run: Run) -> None:
    """One line says that the port is taken, and what to do."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        told = run("apiserver", *ALONE, "--port", str(port))
    assert (told.code, told.out) == (1, "")
    assert told.err == f"pyctrl: 127.0.0.1 port {port} is taken by another program; --port 0 takes a free one\n"


def test_a_kubeconfig_of_somebody_else_is_left_alone(run: Run, tmp_path: Path) -> None:
    """A file that this command did not write stays as it is, until it is told to replace it; its own is replaced."""
    kubeconfig = tmp_path / "config"
    kubeconfig.write_text("precious: yes\n")
    told = run("apiserver", *ALONE, "--kubeconfig-out", kubeconfig)
    assert (told.code, kubeconfig.read_text()) == (1, "precious: yes\n")
    assert "--force" in told.err
    for force in (["--force"], []):
        with apiserver(*ALONE, "--kubeconfig-out", kubeconfig, *force) as served:
            assert served.url in kubeconfig.read_text()


def test_a_kubeconfig_is_written_to_a_device_as_it_is() -> None:
    """/dev/stdout and /dev/null are not replaced by a file, which root could do; a terminal stands for them."""
    ours, theirs = os.openpty()
    try:
        device = Path(os.ttyname(theirs))
        write_kubeconfig(device, "http://127.0.0.1:1", "token", None, force=False)
        assert os.read(ours, 1000).startswith(b"# Written by pyctrl")
        assert device.is_char_device()
    finally:
        os.close(ours)
        os.close(theirs)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: b: c", "m.yaml: yaml: mapping values are not allowed in this context"),
        ("a: 1\n", "m.yaml, document 1: the object has no apiVersion"),
        ("{apiVersion: v1, kind: ConfigMap}\n", "m.yaml, document 1: the ConfigMap has no metadata.name"),
        ("---\n- 1\n", "m.yaml, document 1: an object was expected, with apiVersion and kind; found list"),
        (
            "---\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: A_}}\n",
            "m.yaml, document 2 (ConfigMap default/A_): ",
        ),
        ("{apiVersion: no/v1, kind: Thing, metadata: {name: a}}\n", "m.yaml, document 1 (Thing a): "),
    ],
)
def test_what_cannot_be_loaded_is_told_with_its_place(run: Run, tmp_path: Path, text: str, message: str) -> None:
    """A manifest that is no object, or that the server refuses, is one line with file and document."""
    file = tmp_path / "m.yaml"
    file.write_text(text)
    told = run("apiserver", *ALONE, "--load", file)
    assert (told.code, told.out, len(told.err.splitlines())) == (1, "", 1)
    assert message in told.err


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--load", "no-such-file"], "no-such-file: No such file or directory"),
        (["--token-auth-file", "no-such-file"], "--token-auth-file no-such-file: No such file or directory"),
        (["--audit", "no/such/file"], "--audit no/such/file: No such file or directory"),
        (["--kubeconfig-out", "/"], "--kubeconfig-out /: Is a directory"),
        (["--bind-address", "192.0.2.1"], "cannot listen at 192.0.2.1 port 0"),
    ],
)
def test_what_cannot_be_served_is_one_line(run: Run, flags: list[str], message: str) -> None:
    """What a flag names and is not there is told with the flag."""
    told = run("apiserver", *ALONE, *flags)
    errors = [line for line in told.err.splitlines() if not line.startswith("warning: ")]
    assert (told.code, told.out, len(errors)) == (1, "", 1)
    assert message in told.err


OPEN, CLEAR = "everybody who reaches it is an administrator", "tokens and Secrets are sent unencrypted"


@pytest.mark.parametrize(
    ("flags", "risks"),
    [
        (["--bind-address", "0.0.0.0", "--insecure-http"], f"{OPEN}, and {CLEAR}"),
        (["--bind-address", "0.0.0.0"], OPEN),
        (["--bind-address", "::", "--authorization-mode", "RBAC", "--insecure-http"], CLEAR),
        (["--bind-address", "0.0.0.0", "--authorization-mode", "RBAC"], ""),
        (["--insecure-http"], ""),
        (["--bind-address", "localhost", "--insecure-http"], ""),
    ],
)
def test_an_address_that_others_reach_is_warned_of(run: Run, flags: list[str], risks: str) -> None:
    """One line on stderr says what others could do there, before anything is served."""
    told = run("apiserver", *flags, "--audit", "no/such/file")  # which ends it
    warnings = [line for line in told.err.splitlines() if line.startswith("warning: ")]
    cure = "use a loopback address, or --token-auth-file without --insecure-http"
    address = flags[1] if "--bind-address" in flags else ""
    assert warnings == ([f"warning: --bind-address {address}: {risks}; {cure}"] if risks else [])


def test_a_bad_token_file_is_told_with_its_line(run: Run, tmp_path: Path) -> None:
    """A line that is no user is named, with its number and without the token."""
    file = tmp_path / "tokens.csv"
    file.write_text(TOKENS + "\nsecret,lonely\n")
    told = run("apiserver", *ALONE, "--token-auth-file", file)
    expected = "expected the columns token,user,uid and optionally groups; got '...,lonely'"
    assert (told.code, told.err) == (1, f"pyctrl: --token-auth-file {file}: line 5: {expected}\n")


def test_without_cryptography_the_way_out_is_told() -> None:
    """Without the package for certificates one line says what to install, and how to do without."""
    code = "import sys; sys.modules['cryptography'] = None; from pyctrl.cli import main; sys.exit(main(['apiserver']))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (ran.returncode, len(ran.stderr.splitlines())) == (1, 1)
    assert "pip install 'pyctrl-runtime[apiserver]'" in ran.stderr
    assert "--insecure-http" in ran.stderr


def _stand_in(directory: Path) -> Path:
    """Make what stands in for kubectl where there is none: it reads the same kubeconfig."""
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
