"""The entries of kubeconfig files, merging of several files, and error messages."""

from __future__ import annotations

import base64
import errno
import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from pyctrl import _clock
from pyctrl.client._login.config import Config
from pyctrl.client._login.exec import ExecCredentials
from pyctrl.client._login.impersonation import Impersonation
from pyctrl.client._login.oidc import OidcCredentials
from pyctrl.errors import ConfigError
from tests.unit.client._authority import Authority, shake_hands

CLUSTER = Authority()
DEV = CLUSTER.client("dev")


@pytest.fixture(autouse=True)
def _empty_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in os.environ:
        if name.upper().endswith("_PROXY") or name in {"KUBECONFIG", "POD_NAMESPACE"}:
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))


def encoded(content: bytes) -> str:
    return base64.b64encode(content).decode()


def document(
    *, cluster: dict[str, Any] | None = None, user: dict[str, Any] | None = None, **context: Any
) -> dict[str, Any]:
    """A kubeconfig with one context, ``dev``."""
    return {
        "clusters": [{"name": "kind", "cluster": {"server": "https://kind:6443", **(cluster or {})}}],
        "users": [{"name": "jane", "user": user or {}}],
        "contexts": [{"name": "dev", "context": {"cluster": "kind", "user": "jane", **context}}],
        "current-context": "dev",
    }


def written(directory: Path, content: dict[str, Any] | str, name: str = "config") -> Path:
    path = directory / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else yaml.safe_dump(content))
    return path


def login(directory: Path, **parts: Any) -> Config:
    return Config.from_kubeconfig(written(directory, document(**parts)))


# --- contexts -------------------------------------------------------------------------------------------------------


def test_the_current_context_is_taken(tmp_path: Path) -> None:
    """The current context gives cluster, user and namespace; the login names its source."""
    config = login(tmp_path, namespace="shop")
    assert (config.server, config.namespace) == ("https://kind:6443", "shop")
    assert config.source == f"kubeconfig {tmp_path / 'config'}, context 'dev'"


def test_a_context_without_namespace_means_default(tmp_path: Path) -> None:
    """A context without namespace uses ``default``, as in kubectl."""
    assert login(tmp_path).namespace == "default"


def test_another_context_can_be_named(tmp_path: Path) -> None:
    """``context=`` wins over current-context."""
    content = document()
    content["clusters"].append({"name": "prod", "cluster": {"server": "https://prod/"}})
    content["contexts"].append({"name": "prod", "context": {"cluster": "prod", "user": "jane"}})
    assert Config.from_kubeconfig(written(tmp_path, content), context="prod").server == "https://prod"


def test_an_unknown_context_lists_those_there_are(tmp_path: Path) -> None:
    """The error about an unknown context has the file and the available contexts."""
    path = written(tmp_path, document())
    with pytest.raises(ConfigError, match=rf"context 'prod', and kubeconfig {path} has only: 'dev'"):
        Config.from_kubeconfig(path, context="prod")


def test_no_current_context_lists_those_there_are(tmp_path: Path) -> None:
    """Without current-context, the error lists the available contexts."""
    path = written(tmp_path, {**document(), "current-context": ""})
    with pytest.raises(ConfigError, match=rf"{path} has no current-context; pass context=…, one of: 'dev'"):
        Config.from_kubeconfig(path)


@pytest.mark.parametrize(("section", "key"), [("cluster", "clusters"), ("user", "users")])
def test_an_unknown_cluster_or_user_is_named(tmp_path: Path, section: str, key: str) -> None:
    """The error about a context's unknown cluster or user has the context, the file and the missing name."""
    path = written(tmp_path, {**document(), key: []})
    with pytest.raises(ConfigError, match=rf"context 'dev' in {path} names {section} '\w+', and .* has only: none"):
        Config.from_kubeconfig(path)


async def test_a_context_without_user_is_nobody(tmp_path: Path) -> None:
    """A context without user sends no credentials."""
    assert await login(tmp_path, user=None).credentials.authorization() is None


# --- several files --------------------------------------------------------------------------------------------------


def test_of_several_files_the_first_to_name_a_thing_wins(tmp_path: Path) -> None:
    """Of entries with one name the first file's is used whole; the first current context wins."""
    one = document(cluster={"server": "https://first"}, namespace="first")
    two = document(cluster={"server": "https://second", "tls-server-name": "x"}, namespace="second")
    two["contexts"].append({"name": "only-here", "context": {"cluster": "kind", "namespace": "third"}})
    two["current-context"] = "only-here"
    files = [written(tmp_path, one, "one"), written(tmp_path, two, "two")]
    config = Config.from_kubeconfig(files)
    assert (config.server, config.namespace, config.tls.server_name) == ("https://first", "first", None)
    assert Config.from_kubeconfig(files, context="only-here").namespace == "third"


def test_a_later_file_gives_the_current_context_if_the_first_has_none(tmp_path: Path) -> None:
    """An empty current-context does not count."""
    one = {**document(), "current-context": "", "contexts": []}
    config = Config.from_kubeconfig([written(tmp_path, one, "one"), written(tmp_path, document(), "two")])
    assert config.server == "https://kind:6443"


def test_missing_files_of_several_are_skipped(tmp_path: Path) -> None:
    """A missing file is skipped while another one exists, as in kubectl."""
    there = written(tmp_path, document())
    assert Config.from_kubeconfig([tmp_path / "missing", there]).server == "https://kind:6443"


def test_missing_files_are_named_when_nothing_remains(tmp_path: Path) -> None:
    """If no file exists, the error names each of them."""
    with pytest.raises(ConfigError, match=rf"no such file: {tmp_path}/one, {tmp_path}/two"):
        Config.from_kubeconfig([tmp_path / "one", tmp_path / "two"])


async def test_paths_are_relative_to_the_file_that_names_them(tmp_path: Path) -> None:
    """Relative paths of certificates, token files and plugins start at their kubeconfig's directory, merged or not."""
    (tmp_path / "one" / "pki").mkdir(parents=True)
    (tmp_path / "one" / "pki" / "ca.crt").write_bytes(CLUSTER.pem)
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / "token").write_text("t1")
    one, two = document(cluster={"certificate-authority": "pki/ca.crt"}), document(user={"tokenFile": "token"})
    one["users"] = two["clusters"] = two["contexts"] = []
    files = [written(tmp_path, one, "one/config"), written(tmp_path, two, "two/config")]
    config = Config.from_kubeconfig(files)
    shake_hands(config.tls.build(), CLUSTER.server_context())
    assert await config.credentials.authorization() == "Bearer t1"


# --- clusters -------------------------------------------------------------------------------------------------------


def test_the_authority_may_be_data(tmp_path: Path) -> None:
    """certificate-authority-data wins over a file; line breaks in the data do not matter."""
    data = encoded(CLUSTER.pem)
    broken = f"{data[:40]}\n{data[40:]}\n"
    config = login(tmp_path, cluster={"certificate-authority-data": broken, "certificate-authority": "/no/ca"})
    shake_hands(config.tls.build(), CLUSTER.server_context())


def test_the_options_of_a_cluster(tmp_path: Path) -> None:
    """tls-server-name, insecure-skip-tls-verify and proxy-url are used; disable-compression is ignored."""
    options = {
        "tls-server-name": "kubernetes",
        "insecure-skip-tls-verify": True,
        "proxy-url": "http://proxy:3128",
        "disable-compression": True,
    }
    config = login(tmp_path, cluster=options)
    assert (config.tls.server_name, config.tls.insecure, config.proxy) == ("kubernetes", True, "http://proxy:3128")


def test_the_environments_proxy_is_used_where_the_cluster_names_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """proxy-url wins over HTTPS_PROXY."""
    monkeypatch.setenv("HTTPS_PROXY", "http://environment")
    assert login(tmp_path).proxy == "http://environment"
    assert login(tmp_path, cluster={"proxy-url": "http://cluster"}).proxy == "http://cluster"


@pytest.mark.parametrize(
    ("cluster", "address"),
    [
        ({"server": "https://kind:6443/"}, "https://kind:6443"),
        ({"server": "https://rancher/k8s/clusters/c-1/"}, "https://rancher/k8s/clusters/c-1"),
        ({"server": "localhost:8080"}, "http://localhost:8080"),
        ({"server": "kind:6443", "insecure-skip-tls-verify": True}, "https://kind:6443"),
        ({"server": "https://[fd00::1]:6443"}, "https://[fd00::1]:6443"),
    ],
)
def test_the_address_of_a_cluster(tmp_path: Path, cluster: dict[str, Any], address: str) -> None:
    """The address keeps its prefix without a final slash; TLS settings imply https, as in client-go."""
    assert login(tmp_path, cluster=cluster).server == address


@pytest.mark.parametrize("server", ["", "ftp://x", "https://", "https://x:port", "https://x?y=1", "https://me:pw@x"])
def test_an_address_that_is_none_is_refused(tmp_path: Path, server: str) -> None:
    """The error about an invalid address has the cluster's name and the file."""
    with pytest.raises(ConfigError, match=rf"cluster 'kind' in {tmp_path}/config") as caught:
        login(tmp_path, cluster={"server": server})
    assert "pw" not in str(caught.value)


# --- users ----------------------------------------------------------------------------------------------------------


def test_client_certificates_inline_and_by_file(tmp_path: Path) -> None:
    """client-certificate and client-key may be files, data, or one of each; data wins."""
    (tmp_path / "tls.crt").write_bytes(DEV.certificate)
    (tmp_path / "tls.key").write_bytes(DEV.key)
    files = {"client-certificate": "tls.crt", "client-key": str(tmp_path / "tls.key")}
    data = {"client-certificate-data": encoded(DEV.certificate), "client-key-data": encoded(DEV.key)}
    mixed = {"client-certificate": "/no/such", **data}
    for user in (files, data, mixed):
        config = login(tmp_path, cluster={"certificate-authority-data": encoded(CLUSTER.pem)}, user=user)
        assert shake_hands(config.tls.build(), CLUSTER.server_context()) == "dev"


async def test_tokens_and_passwords(tmp_path: Path) -> None:
    """token, tokenFile, and username with password give the header."""
    (tmp_path / "token").write_text("from-file\n")
    for user, header in [
        ({"token": "t1"}, "Bearer t1"),
        ({"tokenFile": "token"}, "Bearer from-file"),
        ({"token": "t1", "tokenFile": "token"}, "Bearer from-file"),
        ({"token": "t1", "tokenFile": "not-there-yet"}, "Bearer t1"),
        ({"username": "jane", "password": "x"}, "Basic amFuZTp4"),
    ]:
        assert await login(tmp_path, user=user).credentials.authorization() == header


def test_impersonation(tmp_path: Path) -> None:
    """as, as-uid, as-groups and as-user-extra impersonate that user on every request."""
    user = {"as": "jane", "as-uid": "7", "as-groups": ["dev"], "as-user-extra": {"scope": ["a"]}}
    expected = Impersonation(user="jane", uid="7", groups=("dev",), extra={"scope": ("a",)})
    assert login(tmp_path, user=user).impersonate == expected
    assert login(tmp_path).impersonate is None


@pytest.mark.real_time
async def test_a_plugin_is_told_of_its_cluster(tmp_path: Path) -> None:
    """exec runs the program next to the kubeconfig, with args, env and, if configured, the cluster."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "plugin").write_text(
        "#!/bin/sh\n"
        f'echo "$KUBERNETES_EXEC_INFO" > {tmp_path}/info\n'
        'echo "{\\"apiVersion\\": \\"client.authentication.k8s.io/v1beta1\\", \\"kind\\": \\"ExecCredential\\",'
        ' \\"status\\": {\\"token\\": \\"$1-$STAGE\\"}}"\n'
    )
    (tmp_path / "bin" / "plugin").chmod(0o755)
    (tmp_path / "ca.crt").write_bytes(CLUSTER.pem)
    plugin = {
        "apiVersion": "client.authentication.k8s.io/v1beta1",
        "command": "bin/plugin",
        "args": ["token"],
        "env": [{"name": "STAGE", "value": "prod"}],
        "provideClusterInfo": True,
        "interactiveMode": "Never",
    }
    extension = {"name": "client.authentication.k8s.io/exec", "extension": {"audience": "shop"}}
    cluster = {"certificate-authority": "ca.crt", "extensions": [{"name": "other"}, extension]}
    config = login(tmp_path, cluster=cluster, user={"exec": plugin})
    assert await config.credentials.authorization() == "Bearer token-prod"
    assert json.loads((tmp_path / "info").read_text())["spec"]["cluster"] == {
        "server": "https://kind:6443",
        "certificate-authority-data": encoded(CLUSTER.pem),
        "config": {"audience": "shop"},
    }


def test_a_bare_command_is_found_in_the_path(tmp_path: Path) -> None:
    """A plugin without a slash in its name is searched in PATH, not next to the kubeconfig."""
    plugin = {"apiVersion": "client.authentication.k8s.io/v1", "command": "aws"}
    credentials = login(tmp_path, user={"exec": plugin}).credentials
    assert isinstance(credentials, ExecCredentials)
    assert repr(credentials) == "ExecCredentials('aws')"


async def test_openid_connect(tmp_path: Path) -> None:
    """auth-provider oidc uses the kubeconfig's id-token while it is valid; the file is not written."""
    claims = encoded(json.dumps({"exp": _clock.now().timestamp() + 3600}).encode()).rstrip("=")
    settings = {"idp-issuer-url": "https://issuer", "client-id": "me", "id-token": f"h.{claims}.s"}
    path = written(tmp_path, document(user={"auth-provider": {"name": "oidc", "config": settings}}))
    before = path.read_bytes()
    credentials = Config.from_kubeconfig(path).credentials
    assert isinstance(credentials, OidcCredentials)
    assert await credentials.authorization() == f"Bearer h.{claims}.s"
    assert path.read_bytes() == before


# --- mistakes -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("user", "why"),
    [
        ({"token": 12345}, "token is of type int for YAML; quote it"),
        ({"token": " "}, "token of user 'jane' in .* is empty"),
        ({"tokenFile": "no"}, "tokenFile of user 'jane' in .*: cannot read .*/no: No such file"),
        ({"token": "t", "username": "u"}, "it has a token and a username"),
        ({"exec": {"command": "x"}, "auth-provider": {"name": "oidc"}}, "it has exec and auth-provider"),
        ({"exec": {"command": "x"}}, "exec of user 'jane' in .*: command and apiVersion are required"),
        (
            {"exec": {"command": "x", "apiVersion": "client.authentication.k8s.io/v1", "interactiveMode": "Often"}},
            "interactiveMode 'Often' is not one of",
        ),
        (
            {"exec": {"command": "x", "apiVersion": "client.authentication.k8s.io/v1", "env": [{"name": "A"}]}},
            "env must be a list",
        ),
        (
            {"exec": {"command": "x", "apiVersion": "client.authentication.k8s.io/v1", "args": [1]}},
            "args must be a list of strings",
        ),
        ({"exec": {"command": "x", "apiVersion": "v0"}}, "apiVersion 'v0' is not one of"),
        ({"auth-provider": {"name": "gcp"}}, "auth-provider 'gcp' is not supported; use the exec plugin"),
        ({"auth-provider": {"name": "oidc"}}, "idp-issuer-url and client-id are required"),
        ({"client-certificate-data": "%"}, "client-certificate-data is not base64"),
        ({"client-certificate-data": encoded(DEV.certificate)}, r"client-key \(or client-key-data\) is missing"),
        (
            {"client-certificate-data": encoded(b"x"), "client-key-data": encoded(DEV.key)},
            "client-certificate-data of user 'jane' in .* has no certificate",
        ),
        (
            {"client-certificate-data": encoded(DEV.certificate), "client-key-data": encoded(b"x")},
            "client-key-data of user 'jane' in .* does not parse as a private key",
        ),
        (
            {"client-certificate": "no.crt", "client-key-data": encoded(DEV.key)},
            "client-certificate of user 'jane' in .*: cannot read .*/no.crt",
        ),
        ({"as-groups": ["dev"]}, "require 'as', the user to impersonate"),
        ({"as": "jane", "as-user-extra": {"scope": "a"}}, "scope must be a list of strings"),
        ({"exec": "aws"}, "exec must be a mapping, not a str"),
    ],
)
def test_a_mistake_in_a_user_names_file_and_entry(tmp_path: Path, user: dict[str, Any], why: str) -> None:
    """An invalid user is an error when the kubeconfig is read, with the file, the user and the field."""
    with pytest.raises(ConfigError, match=why) as caught:
        login(tmp_path, user=user)
    assert str(tmp_path / "config") in str(caught.value)
    assert "user 'jane'" in str(caught.value)


@pytest.mark.parametrize(
    ("cluster", "why"),
    [
        ({"certificate-authority": "no.crt"}, "cannot read .*/no.crt: No such file"),
        ({"certificate-authority-data": "?"}, "certificate-authority-data is not base64"),
        ({"certificate-authority-data": encoded(b"x")}, "has no certificate"),
        (
            {"certificate-authority-data": encoded(CLUSTER.pem), "insecure-skip-tls-verify": True},
            "verification is turned off as well",
        ),
        ({"insecure-skip-tls-verify": "yes please"}, "insecure-skip-tls-verify must be true or false"),
        ({"proxy-url": "socks5://proxy"}, "scheme 'socks5' are not supported"),
    ],
)
def test_a_mistake_in_a_cluster_names_file_and_entry(tmp_path: Path, cluster: dict[str, Any], why: str) -> None:
    """An invalid cluster is an error when the kubeconfig is read, with the file, the cluster and the field."""
    with pytest.raises(ConfigError, match=why) as caught:
        login(tmp_path, cluster=cluster)
    assert f"cluster 'kind' in {tmp_path / 'config'}" in str(caught.value)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("clusters: [", "is not YAML: .* at line"),
        ("clusters: 2020-99-99", "is not YAML"),
        ("token: s3cret: x", "is not YAML: .* at line 1, column 14"),
        ("- a list", "is not a kubeconfig: expected a mapping with 'clusters', not a list"),
        ("clusters: {}\nusers: 1", "users must be a list"),
        ("users: [{user: {}}]", "each of users must have a name"),
        ("users: [{name: 1}]", "each of users must have a name, which must be a string"),
        ("users: [{name: a}, {name: a}]", "two users have the name 'a'"),
        ("users: [{name: a, user: x}]", "user 'a' must be a mapping, not a str"),
    ],
)
def test_a_file_that_is_no_kubeconfig_is_named(tmp_path: Path, content: str, why: str) -> None:
    """An unparseable file is one error with its name and position, without its text, which may be secret."""
    path = written(tmp_path, content)
    with pytest.raises(ConfigError, match=why) as caught:
        Config.from_kubeconfig(path)
    assert str(path) in str(caught.value)
    assert "s3cret" not in str(caught.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """An unreadable kubeconfig is an error, also as one of several."""
    there = written(tmp_path, document())
    with pytest.raises(ConfigError, match=f"cannot read kubeconfig {tmp_path}: Is a directory"):
        Config.from_kubeconfig([tmp_path, there])
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match=f"kubeconfig {tmp_path}/binary is not text"):
        Config.from_kubeconfig(tmp_path / "binary")


def unreadable(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a file unreadable, also for root."""
    read = Path.read_text

    def refuse(self: Path, *arguments: Any, **options: Any) -> str:
        if self == path:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return read(self, *arguments, **options)

    monkeypatch.setattr(Path, "read_text", refuse)


def test_somebody_elses_kubeconfig_is_to_be_copied(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The error about an unreadable admin.conf of kubeadm names the file and the path for a copy."""
    monkeypatch.setenv("HOME", str(tmp_path))
    admin, own = Path("/etc/kubernetes/admin.conf"), tmp_path / ".kube" / "config"
    unreadable(admin, monkeypatch)
    with pytest.raises(ConfigError) as caught:
        Config.from_kubeconfig(admin)
    assert str(caught.value) == (
        f"cannot read kubeconfig {admin}: Permission denied; have a copy of your own at {own}: "
        f'mkdir -p {own.parent} && sudo cp {admin} {own} && sudo chown "$(id -u):$(id -g)" {own}'
    )


def test_a_kubeconfig_that_root_has_copied_is_to_be_given_away(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The error about an unreadable default kubeconfig recommends to change its owner."""
    monkeypatch.setenv("HOME", str(tmp_path))
    own = tmp_path / ".kube" / "config"
    unreadable(own, monkeypatch)
    with pytest.raises(ConfigError, match="make it yours: sudo chown") as caught:
        Config.from_kubeconfig(own)
    assert "sudo cp" not in str(caught.value)


# --- text, and writing ----------------------------------------------------------------------------------------------


def test_a_kubeconfig_may_be_given_as_text() -> None:
    """The text of a kubeconfig, as from a Secret, works like the file."""
    config = Config.from_kubeconfig_text(yaml.safe_dump(document(namespace="shop")))
    assert (config.server, config.namespace) == ("https://kind:6443", "shop")
    with pytest.raises(ConfigError, match="the given kubeconfig has no current-context; .* one of: none"):
        Config.from_kubeconfig_text("")


@pytest.mark.parametrize(
    "user",
    [
        {},
        {"token": "t1"},
        {"username": "jane", "password": "x"},
        {"client-certificate-data": encoded(DEV.certificate), "client-key-data": encoded(DEV.key)},
        {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "aws", "args": ["get-token"]}},
        {"auth-provider": {"name": "oidc", "config": {"idp-issuer-url": "https://i", "client-id": "me"}}},
        {"token": "t1", "as": "jane", "as-uid": "7", "as-groups": ["dev"], "as-user-extra": {"scope": ["a"]}},
    ],
    ids=["nobody", "token", "password", "certificate", "plugin", "oidc", "impersonation"],
)
def test_a_login_can_be_written_down(tmp_path: Path, user: dict[str, Any]) -> None:
    """A kubeconfig that pyctrl writes is equivalent to its source, with the given names."""
    cluster = {
        "certificate-authority-data": encoded(CLUSTER.pem),
        "tls-server-name": "kubernetes",
        "proxy-url": "http://proxy:3128",
    }
    config = login(tmp_path, cluster=cluster, user=user, namespace="shop")
    written_down = yaml.safe_load(config.to_kubeconfig(context_name="copy"))
    assert written_down["clusters"] == [{"name": "copy", "cluster": {"server": "https://kind:6443", **cluster}}]
    assert written_down["users"] == [{"name": "copy", "user": user}]
    context = {"cluster": "copy", "user": "copy", "namespace": "shop"}
    assert written_down["contexts"] == [{"name": "copy", "context": context}]
    assert written_down["current-context"] == "copy"


def test_what_is_written_down_stands_alone(tmp_path: Path) -> None:
    """A written kubeconfig contains certificates inline, and a token file by its absolute path."""
    (tmp_path / "ca.crt").write_bytes(CLUSTER.pem)
    (tmp_path / "token").write_text("t1")
    config = login(tmp_path, cluster={"certificate-authority": "ca.crt"}, user={"tokenFile": "token"})
    again = yaml.safe_load(config.to_kubeconfig())
    assert again["clusters"][0]["cluster"]["certificate-authority-data"] == encoded(CLUSTER.pem)
    assert again["users"][0]["user"] == {"tokenFile": str(tmp_path / "token")}
