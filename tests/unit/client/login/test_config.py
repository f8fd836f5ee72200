"""The sources of a login: their order, the flags, and logins in code."""

from __future__ import annotations

import logging
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pyctrl.client._login.config import Config
from pyctrl.client._transport.transport import ApplicationResponse
from pyctrl.errors import ConfigError, NoConfiguration
from tests.unit.client._authority import Authority, shake_hands

CLUSTER = Authority()
DEV = CLUSTER.client("dev")


class Machine:
    """A machine with environment variables, a home directory and a mounted service account."""

    def __init__(self, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.directory = directory
        self.account = directory / "serviceaccount"
        self.set = monkeypatch.setenv
        for name in os.environ:
            if name.upper().endswith("_PROXY") or name in {"KUBECONFIG", "POD_NAMESPACE"} or "KUBERNETES" in name:
                monkeypatch.delenv(name)
        monkeypatch.setenv("HOME", str(directory))

    def writes_kubeconfig(self, name: str, server: str = "https://from-file", current: str = "dev") -> Path:
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            f"clusters: [{{name: c, cluster: {{server: '{server}'}}}}]\n"
            "users: [{name: u, user: {token: t1}}]\n"
            "contexts: [{name: dev, context: {cluster: c, user: u}}]\n"
            f"current-context: '{current}'\n"
        )
        return path

    def becomes_a_pod(self, *, token: str = "pod-token\n") -> None:
        self.set("KUBERNETES_SERVICE_HOST", "10.0.0.1")
        self.set("KUBERNETES_SERVICE_PORT", "443")
        self.account.mkdir()
        (self.account / "token").write_text(token)
        (self.account / "ca.crt").write_bytes(CLUSTER.pem)
        (self.account / "namespace").write_text("operators\n")

    def load(self, **options: Any) -> Config:
        return Config.load(service_account=self.account, **options)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path, monkeypatch)


# --- the order ------------------------------------------------------------------------------------------------------


def test_the_sources_have_an_order(machine: Machine) -> None:
    """An argument wins over KUBECONFIG, that over the pod's service account, that over ~/.kube/config."""
    explicit = machine.writes_kubeconfig("explicit", "https://explicit")
    machine.writes_kubeconfig(".kube/config", "https://home")
    assert machine.load().server == "https://home"
    machine.becomes_a_pod()
    assert machine.load().server == "https://10.0.0.1:443"
    machine.set("KUBECONFIG", str(machine.writes_kubeconfig("variable", "https://variable")))
    assert machine.load().server == "https://variable"
    assert machine.load(kubeconfig=explicit).server == "https://explicit"


def test_kubeconfig_variable_may_be_a_list(machine: Machine) -> None:
    """KUBECONFIG may name several files; empty parts and missing files are skipped."""
    there = machine.writes_kubeconfig("there")
    machine.set("KUBECONFIG", os.pathsep.join(["", str(machine.directory / "missing"), str(there), ""]))
    assert machine.load().server == "https://from-file"


def test_a_tilde_in_the_variable_is_the_home_directory(machine: Machine) -> None:
    """A quoted ~ in KUBECONFIG, which the shell does not expand, is expanded."""
    machine.writes_kubeconfig("mine")
    machine.set("KUBECONFIG", "~/mine")
    assert machine.load().server == "https://from-file"


def test_every_source_is_named_when_none_is_there(machine: Machine) -> None:
    """Without any source, the error lists each source with its reason, and the next step."""
    with pytest.raises(NoConfiguration) as caught:
        machine.load()
    attempts = dict(caught.value.attempts)
    assert attempts["KUBECONFIG"] == "not set"
    assert "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set" in attempts["in-cluster"]
    assert attempts["~/.kube/config"] == f"no such file: {machine.directory}/.kube/config"
    assert list(attempts) == ["KUBECONFIG", "in-cluster", "~/.kube/config"]
    assert all(reason in str(caught.value) for reason in attempts.values())


def test_a_user_without_a_home_has_no_kubeconfig_there(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """A container user without a name and HOME has no default kubeconfig: the source is skipped."""
    monkeypatch.delenv("HOME")
    monkeypatch.setattr("os.getuid", lambda: 2**31 - 7)
    with pytest.raises(NoConfiguration) as caught:
        machine.load()
    assert dict(caught.value.attempts)["~/.kube/config"].startswith("there is no home directory")


def test_a_variable_without_files_never_means_the_home_directory(machine: Machine) -> None:
    """A KUBECONFIG that names missing files does not fall back to ~/.kube/config."""
    machine.writes_kubeconfig(".kube/config", "https://production")
    machine.set("KUBECONFIG", f"/no/one{os.pathsep}/no/two")
    with pytest.raises(NoConfiguration, match="no such file: /no/one, /no/two") as caught:
        machine.load()
    assert "not tried, because KUBECONFIG is set" in str(caught.value)


@pytest.mark.parametrize("content", ["", "apiVersion: v1\nkind: Config\n"])
def test_an_empty_kubeconfig_is_no_source(machine: Machine, content: str) -> None:
    """With KUBECONFIG=/dev/null or an empty file, the pod's service account is used."""
    (machine.directory / "empty").write_text(content)
    machine.set("KUBECONFIG", str(machine.directory / "empty"))
    machine.becomes_a_pod()
    assert machine.load().server == "https://10.0.0.1:443"


def test_a_broken_source_is_not_passed_over(machine: Machine) -> None:
    """An invalid kubeconfig is an error, even if the next source is valid."""
    machine.becomes_a_pod()
    machine.set("KUBECONFIG", str(machine.writes_kubeconfig("variable", current="gone")))
    with pytest.raises(ConfigError, match="current-context names context 'gone'") as caught:
        machine.load()
    assert not isinstance(caught.value, NoConfiguration)


def test_a_context_means_a_kubeconfig(machine: Machine) -> None:
    """A context argument selects a kubeconfig, also in a pod."""
    machine.becomes_a_pod()
    machine.writes_kubeconfig(".kube/config", "https://home")
    assert machine.load(context="dev").server == "https://home"


def test_a_pod_without_a_token_is_no_source(machine: Machine) -> None:
    """A pod without a mounted token is skipped, and the error has the reason."""
    machine.becomes_a_pod()
    (machine.account / "token").unlink()
    with pytest.raises(NoConfiguration, match=f"cannot read {machine.account}/token: No such file"):
        machine.load()
    machine.writes_kubeconfig(".kube/config", "https://home")
    assert machine.load().server == "https://home"


def test_a_login_knows_which_sources_were_passed_over(machine: Machine) -> None:
    """Skipped sources before the used one are kept with their reasons; later sources are not."""
    home = machine.writes_kubeconfig(".kube/config")
    assert [source for source, _ in machine.load().passed_over] == ["KUBECONFIG", "in-cluster"]
    assert dict(machine.load().passed_over)["KUBECONFIG"] == "not set"
    assert [source for source, _ in Config.from_flags().passed_over] == ["in-cluster", "KUBECONFIG"]
    assert machine.load(kubeconfig=home).passed_over == ()
    machine.becomes_a_pod()
    assert [source for source, _ in machine.load().passed_over] == ["KUBECONFIG"]
    assert Config.from_flags(service_account=machine.account).passed_over == ()


def test_the_log_says_which_source_won(machine: Machine, caplog: pytest.LogCaptureFixture) -> None:
    """Loading logs one line with the source and the server."""
    path = machine.writes_kubeconfig(".kube/config")
    with caplog.at_level(logging.INFO, "pyctrl.client"):
        machine.load()
    facts = caplog.records[-1].__dict__
    assert (facts["source"], facts["server"]) == (f"kubeconfig {path}, context 'dev'", "https://from-file")


# --- in a pod -------------------------------------------------------------------------------------------------------


async def test_a_pod_logs_in_as_its_service_account(machine: Machine) -> None:
    """In a pod: the service's address, the mounted authority and namespace, and the token without its line break."""
    machine.becomes_a_pod()
    config = Config.in_cluster(service_account=machine.account)
    assert (config.server, config.namespace) == ("https://10.0.0.1:443", "operators")
    assert await config.credentials.authorization() == "Bearer pod-token"
    shake_hands(config.tls.build(), CLUSTER.server_context())


async def test_a_pods_token_is_read_again_as_it_is_renewed(machine: Machine) -> None:
    """The pod's token is read again after a 401."""
    machine.becomes_a_pod()
    config = Config.in_cluster(service_account=machine.account)
    header = await config.credentials.authorization()
    (machine.account / "token").write_text("renewed")
    assert await config.credentials.refresh(header) is True
    assert await config.credentials.authorization() == "Bearer renewed"


def test_a_pod_in_an_ipv6_cluster(machine: Machine) -> None:
    """An IPv6 service address is enclosed in brackets."""
    machine.becomes_a_pod()
    machine.set("KUBERNETES_SERVICE_HOST", "fd00::1")
    assert Config.in_cluster(service_account=machine.account).server == "https://[fd00::1]:443"


def test_the_namespace_of_a_pod(machine: Machine) -> None:
    """POD_NAMESPACE wins over the mounted file; without both it is ``default``."""
    machine.becomes_a_pod()
    (machine.account / "namespace").unlink()
    assert Config.in_cluster(service_account=machine.account).namespace == "default"
    machine.set("POD_NAMESPACE", "told")
    assert Config.in_cluster(service_account=machine.account).namespace == "told"


def test_a_pod_without_authority_trusts_the_systems(machine: Machine, caplog: pytest.LogCaptureFixture) -> None:
    """A missing ca.crt logs a warning and uses the system's authorities, as in client-go."""
    machine.becomes_a_pod()
    (machine.account / "ca.crt").unlink()
    with caplog.at_level(logging.WARNING, "pyctrl.client"):
        assert Config.in_cluster(service_account=machine.account).tls.ca is None
    assert "No certificate authority is mounted" in caplog.text


@pytest.mark.parametrize(
    ("file", "content", "why"),
    [("token", "", "token is empty"), ("ca.crt", "x", "has no certificate")],
)
def test_a_broken_mount_is_named(machine: Machine, file: str, content: str, why: str) -> None:
    """The error about an invalid token or authority file has its path."""
    machine.becomes_a_pod()
    (machine.account / file).write_text(content)
    with pytest.raises(ConfigError, match=why) as caught:
        Config.in_cluster(service_account=machine.account)
    assert str(machine.account / file) in str(caught.value)


# --- flags ----------------------------------------------------------------------------------------------------------


def warnings_of(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.message for record in caplog.records if record.levelno == logging.WARNING]


def test_without_flags_the_pod_is_used_with_a_warning(machine: Machine, caplog: pytest.LogCaptureFixture) -> None:
    """Without flags, the pod's login is used, even before KUBECONFIG, with client-go's warning."""
    machine.becomes_a_pod()
    machine.set("KUBECONFIG", str(machine.writes_kubeconfig("variable")))
    assert Config.from_flags(service_account=machine.account).server == "https://10.0.0.1:443"
    (warning,) = warnings_of(caplog)
    assert warning == (
        "Neither --kubeconfig nor --master was specified.  Using the inClusterConfig.  This might not work."
    )


def test_without_flags_outside_of_pods_a_second_warning_is_logged(
    machine: Machine, caplog: pytest.LogCaptureFixture
) -> None:
    """Outside of a pod, client-go's second warning has the reason, and the default kubeconfigs are read."""
    machine.writes_kubeconfig(".kube/config", "https://home")
    assert Config.from_flags("", "").server == "https://home"
    first, second = warnings_of(caplog)
    assert first.startswith("Neither --kubeconfig nor --master was specified.  Using the inClusterConfig.")
    assert second.startswith("error creating inClusterConfig, falling back to default config: ")
    assert "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set" in second


def test_without_flags_and_without_anything_every_source_is_named(machine: Machine) -> None:
    """Without flags and any source, the error also has the reason of the failed in-cluster login."""
    with pytest.raises(NoConfiguration) as caught:
        Config.from_flags()
    assert [source for source, _ in caught.value.attempts] == ["in-cluster", "KUBECONFIG", "~/.kube/config"]


async def test_a_kubeconfig_flag_is_read_without_warnings(machine: Machine, caplog: pytest.LogCaptureFixture) -> None:
    """The file of --kubeconfig is used without warnings, also in a pod."""
    machine.becomes_a_pod()
    config = Config.from_flags("", machine.writes_kubeconfig("flag"))
    assert config.server == "https://from-file"
    assert await config.credentials.authorization() == "Bearer t1"
    assert warnings_of(caplog) == []


def test_a_missing_kubeconfig_of_the_flag_is_named(machine: Machine) -> None:
    """A missing file of --kubeconfig is an error: no other source replaces the file."""
    machine.becomes_a_pod()
    with pytest.raises(ConfigError, match="no such file: /no/config"):
        Config.from_flags(None, "/no/config")


async def test_master_replaces_the_address_of_the_kubeconfig(machine: Machine) -> None:
    """With both flags, the user is from the kubeconfig and the server is --master."""
    config = Config.from_flags("https://elsewhere:6443/", machine.writes_kubeconfig("flag"))
    assert config.server == "https://elsewhere:6443"
    assert await config.credentials.authorization() == "Bearer t1"


async def test_master_alone_is_asked_as_nobody(machine: Machine, caplog: pytest.LogCaptureFixture) -> None:
    """--master alone sends no kubeconfig's token to the server; the default scheme is http, as in client-go."""
    machine.writes_kubeconfig(".kube/config")
    config = Config.from_flags("localhost:8080")
    assert config.server == "http://localhost:8080"
    assert await config.credentials.authorization() is None
    assert warnings_of(caplog) == []


# --- in code --------------------------------------------------------------------------------------------------------


async def test_a_token_in_code(machine: Machine) -> None:
    """Address, token and authority make a login; the default scheme is https."""
    config = Config.from_token("cluster:6443", "t1", ca=CLUSTER.pem, namespace="shop")
    assert (config.server, config.namespace) == ("https://cluster:6443", "shop")
    assert await config.credentials.authorization() == "Bearer t1"
    shake_hands(config.tls.build(), CLUSTER.server_context())
    assert Config.from_token("cluster", "t1", insecure=True).tls.insecure


async def test_a_token_file_in_code(machine: Machine) -> None:
    """A Path as token is read again when the file changes."""
    path = machine.directory / "token"
    path.write_text("t1")
    config = Config.from_token("https://cluster", path)
    assert await config.credentials.authorization() == "Bearer t1"
    path.write_text("t2")
    assert await config.credentials.refresh("Bearer t1") is True


def test_a_client_certificate_in_code(machine: Machine) -> None:
    """Certificate, key and authority may be paths or PEM."""
    files = {"crt": DEV.certificate, "key": DEV.key, "ca": CLUSTER.pem}
    for name, content in files.items():
        (machine.directory / name).write_bytes(content)
    by_path = [machine.directory / name for name in files]
    for parts in (by_path, list(files.values()), [content.decode() for content in files.values()]):
        config = Config.from_client_cert("https://cluster", *parts)
        assert shake_hands(config.tls.build(), CLUSTER.server_context()) == "dev"


def test_files_that_are_not_there_are_all_named_at_once(machine: Machine) -> None:
    """A login with missing files fails when it is created, and the error lists all of them."""
    authority, certificate, key = (machine.directory / ".minikube" / name for name in ("ca.crt", "c.crt", "c.key"))
    with pytest.raises(ConfigError) as caught:
        Config.from_client_cert("https://cluster", certificate, str(key), ca=authority)
    assert str(caught.value) == (
        f"a client certificate given in code: cannot read the client certificate {certificate} "
        f"(No such file or directory), the client key {key} (No such file or directory), "
        f"the certificate authority {authority} (No such file or directory); in a container, are they mounted?"
    )
    with pytest.raises(ConfigError, match=r"the certificate authority .*ca.crt \(No .*, the token .*token \(No such"):
        Config.from_token("https://cluster", machine.directory / "token", ca=authority)
    with pytest.raises(ConfigError, match=f"the client key {machine.directory} \\(Is a directory\\); in a container"):
        Config.from_client_cert("https://cluster", DEV.certificate, machine.directory, ca=CLUSTER.pem)


async def test_logins_in_code_use_the_environments_proxy(machine: Machine) -> None:
    """Every kind of login uses HTTPS_PROXY, which is read when the login is created."""
    machine.becomes_a_pod()
    machine.set("HTTPS_PROXY", "http://proxy:3128")
    machine.set("NO_PROXY", "10.0.0.0/8")
    assert Config.from_token("https://cluster", "t1").proxy == "http://proxy:3128"
    assert Config.from_flags("https://cluster").proxy == "http://proxy:3128"
    assert Config.in_cluster(service_account=machine.account).proxy is None


@pytest.mark.parametrize("server", ["", "https://", "unix:///socket", "https://cluster?x=1"])
def test_an_address_that_is_none_is_refused(server: str) -> None:
    """An invalid address is an error before any request."""
    with pytest.raises(ConfigError, match="is not the address of a server"):
        Config(server=server)


def test_a_config_can_be_changed_and_shown(machine: Machine) -> None:
    """A copy with one field changed keeps the rest; the text shows no secret."""
    config = Config.from_token("https://cluster", "s3cret", ca=CLUSTER.pem)
    changed = replace(config, namespace="shop", proxy="http://me:s3cret@proxy")
    assert (changed.server, changed.namespace) == ("https://cluster", "shop")
    assert changed.credentials is config.credentials
    assert "s3cret" not in repr(changed)
    assert "BEGIN" not in repr(changed)


def test_the_user_agent_says_version_and_system() -> None:
    """The user agent has pyctrl's version, and system and processor in Go's terms."""
    assert re.fullmatch(r"pyctrl/\d+\.\d+\S* \([a-z]+/[a-z0-9_]+\)", Config(server="https://x").user_agent)


class Application:
    """Stands in for the embedded API server."""

    async def handle(
        self, method: str, path: str, query: Sequence[tuple[str, str]], headers: Mapping[str, str], body: bytes
    ) -> ApplicationResponse:
        raise NotImplementedError


async def test_a_server_in_this_process(machine: Machine) -> None:
    """A login to an application in this process has no proxy and no kubeconfig, and may have a token."""
    machine.set("HTTP_PROXY", "http://proxy")
    application = Application()
    config = Config.in_process(application, token="t1", namespace="shop")
    assert (config.application, config.namespace, config.proxy) == (application, "shop", None)
    assert await config.credentials.authorization() == "Bearer t1"
    assert await Config.in_process(application).credentials.authorization() is None
    with pytest.raises(ConfigError, match="serve it over HTTP"):
        config.to_kubeconfig()


def test_credentials_of_ones_own_are_not_written_down() -> None:
    """Custom credentials without kubeconfig support raise an error when written to a kubeconfig."""

    class Mine:
        async def authorization(self) -> str:
            return "Mine x"

        async def refresh(self, rejected: str | None = None) -> bool:
            return False

    with pytest.raises(ConfigError, match="cannot be written to a kubeconfig"):
        Config(server="https://x", credentials=Mine()).to_kubeconfig()


def test_logging_in_does_not_import_kubernetes_asyncio(machine: Machine) -> None:
    """Logging in does not import kubernetes_asyncio, whose generated models take 37 MB."""
    path = machine.writes_kubeconfig("config")
    program = f"""
import sys
from pyctrl.client._login.config import Config
Config.from_kubeconfig({str(path)!r})
sys.exit("kubernetes_asyncio" in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
