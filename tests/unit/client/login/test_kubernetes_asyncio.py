"""Logins by kubernetes_asyncio's own loaders, with the real library."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from kubernetes_asyncio import client, config

from pyctrl import _clock
from pyctrl.client import Config
from pyctrl.client._login.tls import CertificateSource, TlsContexts
from pyctrl.errors import ConfigError, NoConfiguration
from tests.unit.client._authority import Authority, Issued, shake_hands

pytestmark = pytest.mark.real_time  # plugins are real processes, and contexts are built in a thread

V1 = "client.authentication.k8s.io/v1"
CLUSTER = Authority()


class Machine:
    """A home directory with kubeconfigs, a plugin and the files that kubelet mounts."""

    def __init__(self, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.directory = directory
        self.account = directory / "serviceaccount"
        self.set = monkeypatch.setenv
        for name in os.environ:
            if name.upper().endswith("_PROXY") or name in {"KUBECONFIG", "POD_NAMESPACE"} or "KUBERNETES" in name:
                monkeypatch.delenv(name)
        monkeypatch.setenv("HOME", str(directory))
        (directory / "ca.crt").write_bytes(CLUSTER.pem)

    def kubeconfig(self, user: dict[str, Any], name: str = "config", current: str = "dev", **cluster: Any) -> Path:
        path = self.directory / name
        path.parent.mkdir(exist_ok=True)
        cluster = {"server": "https://api:6443", "certificate-authority": str(self.directory / "ca.crt"), **cluster}
        contexts = {"dev": ("c", "shop"), "prod": ("p", "bank")}
        content = {
            "clusters": [
                {"name": "c", "cluster": cluster},
                {"name": "p", "cluster": {**cluster, "server": "https://prod:6443"}},
            ],
            "users": [{"name": "u", "user": user}],
            "contexts": [
                {"name": name, "context": {"cluster": cluster, "user": "u", "namespace": namespace}}
                for name, (cluster, namespace) in contexts.items()
            ],
            "current-context": current,
        }
        path.write_text(json.dumps(content))  # JSON is YAML
        return path

    def writes(self, issued: Issued, name: str = "dev") -> tuple[str, str]:
        certificate, key = self.directory / f"{name}.crt", self.directory / f"{name}.key"
        certificate.write_bytes(issued.certificate)
        key.write_bytes(issued.key)
        return str(certificate), str(key)

    def becomes_a_pod(self) -> None:
        self.set("KUBERNETES_SERVICE_HOST", "10.0.0.1")
        self.set("KUBERNETES_SERVICE_PORT", "443")
        self.account.mkdir()
        (self.account / "token").write_text("pod-token\n")
        (self.account / "ca.crt").write_bytes(CLUSTER.pem)
        (self.account / "namespace").write_text("operators\n")


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path, monkeypatch)


class Plugin:
    """An exec plugin that prints a given output, or fails, and counts its runs."""

    def __init__(self, directory: Path) -> None:
        self._path, self._answer, self._runs = directory / "plugin", directory / "answer", directory / "runs"
        self._path.write_text(f"#!/bin/sh\necho run >> {self._runs}\nsleep 0.05\ncat {self._answer}\n")
        self._path.chmod(self._path.stat().st_mode | stat.S_IXUSR)

    def answers(self, **status: str) -> None:
        self._answer.write_text(json.dumps({"apiVersion": V1, "kind": "ExecCredential", "status": status}))

    def breaks(self) -> None:
        self._answer.unlink()

    @property
    def user(self) -> dict[str, Any]:
        return {"exec": {"apiVersion": V1, "command": str(self._path)}}

    @property
    def runs(self) -> int:
        return len(self._runs.read_text().splitlines()) if self._runs.exists() else 0


@pytest.fixture
def plugin(tmp_path: Path) -> Plugin:
    return Plugin(tmp_path)


class Wall:
    """A wall clock that the test advances."""

    def __init__(self) -> None:
        self.time = datetime.now(UTC)

    def after(self, seconds: float) -> str:
        return (self.time + timedelta(seconds=seconds)).isoformat(timespec="seconds").replace("+00:00", "Z")

    def moves(self, seconds: float) -> None:
        self.time += timedelta(seconds=seconds)


@pytest.fixture
def wall() -> Iterator[Wall]:
    wall = Wall()
    with _clock.use(lambda: wall.time):
        yield wall


async def loaded(path: Path, **options: Any) -> client.Configuration:
    """Load a kubeconfig with the library, as a program without pyctrl does."""
    configuration = client.Configuration()
    await config.load_kube_config(str(path), client_configuration=configuration, persist_config=False, **options)
    return configuration


async def header(login: Config) -> str | None:
    return await login.credentials.authorization()


async def shown(login: Config) -> str | None:
    """Return the name in the client's certificate."""
    assert isinstance(login.credentials, CertificateSource)
    context = await TlsContexts(login.tls, login.credentials).current()
    return shake_hands(context, CLUSTER.server_context())


# --- a loaded Configuration ---


async def test_a_loaded_configuration(machine: Machine) -> None:
    """Address, authority, names, proxy and token are those of the loaded Configuration."""
    path = machine.kubeconfig({"token": "t1"}, **{"tls-server-name": "localhost", "proxy-url": "http://proxy:3128"})
    login = Config.from_kubernetes_asyncio(await loaded(path), namespace="shop")
    assert (login.server, login.namespace, login.proxy) == ("https://api:6443", "shop", "http://proxy:3128")
    assert login.tls.server_name == "localhost"
    assert await header(login) == "Bearer t1"
    assert shake_hands(login.tls.build(), CLUSTER.server_context()) is None
    assert "t1" not in repr(login)


async def test_basic(machine: Machine) -> None:
    """Name and password are sent as Basic."""
    login = Config.from_kubernetes_asyncio(await loaded(machine.kubeconfig({"username": "jane", "password": "p"})))
    assert await header(login) == "Basic amFuZTpw"


async def test_client_certificate(machine: Machine) -> None:
    """A client certificate is used without a header, and its replacement in the files is used next."""
    certificate, key = machine.writes(CLUSTER.client("dev"))
    path = machine.kubeconfig({"client-certificate": certificate, "client-key": key})
    login = Config.from_kubernetes_asyncio(await loaded(path))
    assert isinstance(login.credentials, CertificateSource)
    contexts = TlsContexts(login.tls, login.credentials)
    assert await header(login) is None
    assert shake_hands(await contexts.current(), CLUSTER.server_context()) == "dev"
    machine.writes(CLUSTER.client("new"))
    assert await contexts.refresh()
    assert shake_hands(await contexts.current(), CLUSTER.server_context()) == "new"


async def test_one_file_for_certificate_and_key(machine: Machine) -> None:
    """A cert_file without a key_file contains both, as in the library."""
    issued, both = CLUSTER.client("dev"), machine.directory / "both.pem"
    both.write_bytes(issued.certificate + issued.key)
    configuration = client.Configuration(host="https://api")
    configuration.cert_file = str(both)
    configuration.ssl_ca_cert = str(machine.directory / "ca.crt")
    assert await shown(Config.from_kubernetes_asyncio(configuration)) == "dev"


async def test_verification_switched_off(machine: Machine) -> None:
    """verify_ssl=False wins over an authority, since programs switch verification off after loading."""
    configuration = await loaded(machine.kubeconfig({"token": "t"}))
    configuration.verify_ssl = False
    login = Config.from_kubernetes_asyncio(configuration)
    assert shake_hands(login.tls.build(), Authority("other").server_context(), "whoever") is None


@pytest.mark.parametrize("is_disabled", [True, False])
def test_strictness(is_disabled: bool) -> None:
    """Certificates are checked strictly where Python's default is strict, unless the Configuration disables that."""
    configuration = client.Configuration(host="https://api")
    configuration.disable_strict_ssl_verification = is_disabled
    login = Config.from_kubernetes_asyncio(configuration)
    assert login.tls.strict == (sys.version_info >= (3, 13) and not is_disabled)


@pytest.mark.parametrize("is_async", [True, False])
async def test_refresh_hook(is_async: bool) -> None:
    """The Configuration's hook is called for each request, and again after a 401."""
    tokens = iter(["Bearer 1", "Bearer 2\n", "Bearer 3", "Bearer 3"])

    def hook(configuration: client.Configuration) -> None:
        configuration.api_key["BearerToken"] = next(tokens)

    async def async_hook(configuration: client.Configuration) -> None:
        await asyncio.sleep(0)
        hook(configuration)

    configuration = client.Configuration(host="https://api", api_key={"BearerToken": "Bearer 0"})
    configuration.refresh_api_key_hook = async_hook if is_async else hook
    credentials = Config.from_kubernetes_asyncio(configuration).credentials
    assert await credentials.authorization() == "Bearer 1"
    assert await credentials.authorization() == "Bearer 2"  # without the line break
    assert await credentials.refresh("Bearer 1")  # renewed meanwhile: the hook is not called
    assert await credentials.refresh("Bearer 2")
    assert not await credentials.refresh("Bearer 3")


async def test_hook_runs_once_for_many() -> None:
    """Concurrent requests share one call of a hook."""
    running = 0

    async def hook(configuration: client.Configuration) -> None:
        nonlocal running
        running += 1
        assert running == 1
        await asyncio.sleep(0)
        running -= 1

    configuration = client.Configuration(host="https://api", api_key={"BearerToken": "Bearer 0"})
    configuration.refresh_api_key_hook = hook
    login = Config.from_kubernetes_asyncio(configuration)
    assert await asyncio.gather(*(header(login) for _ in range(5))) == ["Bearer 0"] * 5


async def test_failing_hook() -> None:
    """An exception in a hook is a ConfigError with its message."""

    def hook(configuration: client.Configuration) -> None:
        raise KeyError("vault")

    configuration = client.Configuration(host="https://api", api_key={"BearerToken": "Bearer 0"})
    configuration.refresh_api_key_hook = hook
    with pytest.raises(ConfigError, match="refresh hook failed: KeyError: 'vault'"):
        await header(Config.from_kubernetes_asyncio(configuration))


async def test_token_that_is_none() -> None:
    """A token with a line break inside is refused, and not shown."""
    configuration = client.Configuration(host="https://api", api_key={"BearerToken": "Bearer a\nX-Evil: b"})
    with pytest.raises(ConfigError, match="characters that are invalid in a header") as caught:
        await header(Config.from_kubernetes_asyncio(configuration))
    assert "Evil" not in str(caught.value)


def no_host(configuration: client.Configuration) -> None:
    configuration.host = None


def proxy_headers(configuration: client.Configuration) -> None:
    configuration.proxy_headers = {"Proxy-Authorization": "x"}


@pytest.mark.parametrize(("change", "words"), [(no_host, "load it first"), (proxy_headers, "proxy_headers")])
def test_configurations_that_cannot_be_used(change: Callable[[client.Configuration], None], words: str) -> None:
    """A Configuration that is empty or not supported by pyctrl is an error with the next step."""
    configuration = client.Configuration(host="https://api")
    change(configuration)
    with pytest.raises(ConfigError, match=words):
        Config.from_kubernetes_asyncio(configuration)


def test_proxy_of_the_environment(machine: Machine) -> None:
    """A Configuration without a proxy uses the environment's proxy, as in the library."""
    machine.set("HTTPS_PROXY", "http://proxy:3128")
    assert Config.from_kubernetes_asyncio(client.Configuration(host="https://api")).proxy == "http://proxy:3128"


# --- found by pyctrl, loaded by the library -------------------------------------------------------------------------


async def test_namespace_and_context(machine: Machine) -> None:
    """The namespace of the context is used, and another context can be selected."""
    path = machine.kubeconfig({"token": "t1"})
    login = await Config.load_with_kubernetes_asyncio(kubeconfig=path)
    assert (login.namespace, login.source) == ("shop", f"kubeconfig {path}, context 'dev', through kubernetes_asyncio")
    assert await header(login) == "Bearer t1"
    other = await Config.load_with_kubernetes_asyncio(kubeconfig=path, context="prod")
    assert (other.server, other.namespace) == ("https://prod:6443", "bank")


async def test_first_current_context_wins(machine: Machine) -> None:
    """The first current context of several files wins, and an empty file is ignored."""
    paths = [machine.kubeconfig({"token": "t"}, name=name, current=name) for name in ("dev", "prod")]
    (machine.directory / "empty").touch()
    machine.set("KUBECONFIG", os.pathsep.join(map(str, [machine.directory / "empty", *paths])))
    login = await Config.load_with_kubernetes_asyncio()
    assert (login.server, login.namespace) == ("https://api:6443", "shop")


async def test_impersonation(machine: Machine) -> None:
    """A kubeconfig's impersonation is applied, which the library would ignore."""
    path = machine.kubeconfig({"token": "t", "as": "jane", "as-groups": ["viewers"]})
    login = await Config.load_with_kubernetes_asyncio(kubeconfig=path)
    assert login.impersonate is not None
    assert (login.impersonate.user, login.impersonate.groups) == ("jane", ("viewers",))


async def test_plugin_with_expiry(machine: Machine, plugin: Plugin, wall: Wall) -> None:
    """A plugin's token is used until shortly before its expiry; then all requests share one run."""
    plugin.answers(token="t1", expirationTimestamp=wall.after(120))
    login = await Config.load_with_kubernetes_asyncio(kubeconfig=machine.kubeconfig(plugin.user))
    assert [await header(login) for _ in range(3)] == ["Bearer t1"] * 3
    assert plugin.runs == 1
    plugin.answers(token="t2", expirationTimestamp=wall.after(240))
    wall.moves(100)
    assert set(await asyncio.gather(*(header(login) for _ in range(5)))) == {"Bearer t2"}
    assert plugin.runs == 2


async def test_plugin_whose_token_is_refused(machine: Machine, plugin: Plugin, wall: Wall) -> None:
    """A 401 runs the plugin again, even before the token's expiry."""
    plugin.answers(token="t1", expirationTimestamp=wall.after(3600))
    login = await Config.load_with_kubernetes_asyncio(kubeconfig=machine.kubeconfig(plugin.user))
    plugin.answers(token="t2", expirationTimestamp=wall.after(3600))
    assert await login.credentials.refresh("Bearer t1")
    assert await header(login) == "Bearer t2"


async def test_plugin_without_expiry(machine: Machine, plugin: Plugin, wall: Wall) -> None:
    """Without expiry, a plugin runs again only after a 401, once for all refused requests."""
    plugin.answers(token="t1")
    login = await Config.load_with_kubernetes_asyncio(kubeconfig=machine.kubeconfig(plugin.user))
    wall.moves(86400)
    assert await header(login) == "Bearer t1"
    assert plugin.runs == 1
    plugin.answers(token="t2")
    assert all(await asyncio.gather(*(login.credentials.refresh("Bearer t1") for _ in range(5))))
    assert (await header(login), plugin.runs) == ("Bearer t2", 2)


async def test_plugin_with_certificates(machine: Machine, plugin: Plugin) -> None:
    """A plugin's client certificate is used, and renewed after a 401."""

    def issues(name: str) -> None:
        issued = CLUSTER.client(name)
        plugin.answers(clientCertificateData=issued.certificate.decode(), clientKeyData=issued.key.decode())

    issues("one")
    login = await Config.load_with_kubernetes_asyncio(kubeconfig=machine.kubeconfig(plugin.user))
    assert (await header(login), await shown(login)) == (None, "one")
    issues("two")
    assert await login.credentials.refresh(None)
    assert await shown(login) == "two"


async def test_failing_plugin(machine: Machine, plugin: Plugin, wall: Wall, caplog: pytest.LogCaptureFixture) -> None:
    """A failed plugin is an error when it is first needed; later the last token stays in use."""
    path = machine.kubeconfig(plugin.user)
    with pytest.raises(ConfigError, match=r"config, context 'dev'.*exec: process returned 1"):
        await Config.load_with_kubernetes_asyncio(kubeconfig=path)
    plugin.answers(token="t1", expirationTimestamp=wall.after(120))
    login = await Config.load_with_kubernetes_asyncio(kubeconfig=path)
    plugin.breaks()
    wall.moves(100)
    with caplog.at_level(logging.WARNING, "pyctrl.client"):
        assert [await header(login) for _ in range(3)] == ["Bearer t1"] * 3
    assert plugin.runs == 3  # not once for each request
    assert "keeping the current login" in caplog.text
    with pytest.raises(ConfigError, match="exec: process returned 1"):
        await login.credentials.refresh("Bearer t1")


# The library reads the time in a way that Python 3.12 and later warn about.
@pytest.mark.filterwarnings("ignore:datetime.datetime.utcnow:DeprecationWarning:kubernetes_asyncio.config.kube_config")
async def test_the_gcp_provider(machine: Machine, wall: Wall) -> None:
    """The old gcp provider works: an expired token is fetched again, and the kubeconfig is not rewritten."""
    answer = machine.directory / "gcp.json"
    settings = {"cmd-path": "/bin/cat", "cmd-args": str(answer)}
    path = machine.kubeconfig({"auth-provider": {"name": "gcp", "config": settings}})
    before = path.read_bytes()
    answer.write_text(json.dumps({"credential": {"access_token": "g1", "token_expiry": "2020-01-01T00:00:00Z"}}))
    login = await Config.load_with_kubernetes_asyncio(kubeconfig=path)
    assert await header(login) == "Bearer g1"
    answer.write_text(json.dumps({"credential": {"access_token": "g2", "token_expiry": "2099-01-01T00:00:00Z"}}))
    wall.moves(61)
    assert await header(login) == "Bearer g2"
    assert path.read_bytes() == before


async def test_token_file(machine: Machine) -> None:
    """A token file is read again after a 401."""
    token = machine.directory / "token"
    token.write_text("t1\n")
    login = await Config.load_with_kubernetes_asyncio(kubeconfig=machine.kubeconfig({"tokenFile": str(token)}))
    assert await header(login) == "Bearer t1"
    assert not await login.credentials.refresh("Bearer t1")
    token.write_text("t2\n")
    assert await login.credentials.refresh("Bearer t1")
    assert await header(login) == "Bearer t2"


async def test_in_a_pod(machine: Machine) -> None:
    """In a pod the login is the service account, with address, authority, namespace, and token without line break."""
    machine.kubeconfig({"token": "t"}, ".kube/config")
    machine.becomes_a_pod()
    login = await Config.load_with_kubernetes_asyncio(service_account=machine.account)
    assert (login.server, login.namespace) == ("https://10.0.0.1:443", "operators")
    assert await header(login) == "Bearer pod-token"
    assert shake_hands(login.tls.build(), CLUSTER.server_context()) is None
    home = await Config.load_with_kubernetes_asyncio(service_account=machine.account, context="dev")
    assert home.server == "https://api:6443"


async def test_nothing_there(machine: Machine) -> None:
    """Without any source, the error lists each one."""
    with pytest.raises(NoConfiguration) as caught:
        await Config.load_with_kubernetes_asyncio()
    assert [source for source, _ in caught.value.attempts] == ["KUBECONFIG", "in-cluster", "~/.kube/config"]


async def test_what_the_library_cannot_load(machine: Machine) -> None:
    """An exception in the loader is a ConfigError with the kubeconfig's name."""
    path = machine.kubeconfig({"client-certificate": "missing.crt", "client-key": "missing.key"})
    with pytest.raises(ConfigError, match=r"config, context 'dev', through kubernetes_asyncio: .*missing.crt"):
        await Config.load_with_kubernetes_asyncio(kubeconfig=path)


@pytest.mark.slow(reason="starts an interpreter, and imports the library")
def test_the_library_is_optional(machine: Machine) -> None:
    """Only one constructor needs the library, and its error without the library has the install command."""
    program = """
import asyncio, sys
import pyctrl.client
assert "kubernetes_asyncio" not in sys.modules
sys.modules["kubernetes_asyncio"] = None  # as if it were not installed
asyncio.run(pyctrl.client.Config.load_with_kubernetes_asyncio())
"""
    ended = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True)
    assert "ConfigError" in ended.stderr
    assert "pip install kubernetes_asyncio" in ended.stderr
