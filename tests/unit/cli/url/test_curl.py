"""`pyctrl url --curl`: commands with the credentials of a login."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
import yaml

from pyctrl.cli._client_flags import ClientFlags
from pyctrl.cli._url.curl import CurlCommand
from pyctrl.client import BasicAuth, Client, ClientCertificate, Config, Impersonation, Pem, Tls
from pyctrl.cluster import Cluster
from pyctrl.errors import CommandFailed
from pyctrl.kinds.apiextensions.v1 import CustomResourceDefinition
from tests.unit.cli.url._cluster import EVC


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    """A cluster that serves the kind EphemeralVolumeClaim."""
    async with Cluster(random=Random(1), rbac=True, kubelet=False) as running, running.client() as admin:
        await admin.create(CustomResourceDefinition.from_wire(yaml.safe_load(EVC)))
        yield running


@pytest.fixture
def pyctrl_on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the pyctrl script on PATH."""
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")


async def curl(config: Config, *, login: ClientFlags | None = None, account: str | None = None, **options: bool) -> str:
    """Return the command for `/version` without its first words and the URL."""
    login = login or ClientFlags()
    show_secrets = options.pop("show_secrets", False)
    async with Client.connect(config) as client:
        line = CurlCommand(login=login, config=config, account=account, show_secrets=show_secrets)
        words = await line.line("/version", client, **options)
    return words.removeprefix("curl ").removesuffix(" https://cluster:6443/version")


KEY = ClientCertificate(Pem("c", path=Path("/pki/c.crt")), Pem("k", path=Path("/pki/c key")))


INLINE = ClientCertificate(Pem("c", data=b"c"), Pem("k", data=b"k"))


PLAIN = Config(server="https://cluster:6443", tls=Tls(ca=Pem("ca", path=Path("/pki/ca.crt"))))


OWN = '-H "Authorization: Bearer $(pyctrl whoami -o token)"'


@pytest.mark.parametrize(
    ("config", "line"),
    [
        (PLAIN, "-sS --cacert /pki/ca.crt"),
        (replace(PLAIN, tls=Tls()), "-sS"),
        (replace(PLAIN, tls=Tls(insecure=True)), "-sS --insecure"),
        (replace(PLAIN, tls=Tls(ca=Pem("ca", data=b"x"))), "-sS --cacert <(pyctrl whoami -o ca)"),
        (replace(PLAIN, tls=Tls(certificate=KEY)), "-sS --cert /pki/c.crt --key '/pki/c key'"),
        (
            replace(PLAIN, tls=Tls(certificate=INLINE)),
            "-sS --cert <(pyctrl whoami -o certificate) --key <(pyctrl whoami -o key)",
        ),
        (Config.from_token("https://cluster:6443", "s3cret"), f"-sS {OWN}"),
        (replace(PLAIN, tls=Tls(), credentials=BasicAuth("joe smith", "s3cret")), "-sS --user 'joe smith'"),
        (
            replace(PLAIN, tls=Tls(), impersonate=Impersonation(user="it's me", groups=("a", "b"))),
            "-sS -H 'Impersonate-User: it'\"'\"'s me' -H 'Impersonate-Group: a' -H 'Impersonate-Group: b'",
        ),
        (replace(PLAIN, tls=Tls(), proxy="http://proxy:3128"), "-sS --proxy http://proxy:3128"),
    ],
)
@pytest.mark.usefixtures("pyctrl_on_path")
async def test_the_line_has_what_the_login_has(config: Config, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are passed by path, pyctrl prints other credentials when the command runs, and no secret is shown."""
    for name in ("HTTPS_PROXY", "https_proxy", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    assert await curl(config) == line
    assert "s3cret" not in await curl(config)


@pytest.mark.usefixtures("pyctrl_on_path")
async def test_a_token_file_is_read_by_the_shell(tmp_path: Path) -> None:
    """A token from a file is read when the command runs, so that a renewed token is used."""
    file = tmp_path / "my token"
    file.write_text("t1")
    header = f'-H "Authorization: Bearer $(cat {shlex.quote(str(file))})"'
    assert await curl(Config.from_token("https://cluster:6443", file)) == f"-sS {header}"


@pytest.mark.usefixtures("pyctrl_on_path")
async def test_pyctrl_in_the_line_logs_in_as_it_did(tmp_path: Path) -> None:
    """The pyctrl call inside the command has the flags of the login, with absolute paths."""
    config, login = (
        Config.from_token("https://cluster:6443", "t"),
        ClientFlags(kubeconfig=tmp_path / "k", context="a b"),
    )
    assert f"$(pyctrl whoami -o token --kubeconfig {tmp_path}/k --context 'a b')" in await curl(config, login=login)


async def test_without_a_script_the_module_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without pyctrl on PATH the command uses the Python that has the module."""
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert "-m pyctrl whoami -o token" in await curl(Config.from_token("https://cluster:6443", "t"))


@pytest.mark.usefixtures("pyctrl_on_path")
async def test_the_line_may_be_another_accounts() -> None:
    """With --account the command requests a token of the account, and omits the login's own credentials."""
    own = replace(PLAIN, tls=Tls(certificate=KEY), impersonate=Impersonation(user="jane"))
    words = await curl(own, login=ClientFlags(as_user="jane"), account="ci:jenkins")
    assert words == '-sS -H "Authorization: Bearer $(pyctrl token jenkins -n ci --as jane)"'
    with pytest.raises(CommandFailed, match="NAMESPACE:NAME"):
        await curl(own, account="a/b")


async def test_a_secret_is_in_the_line_on_demand_only() -> None:
    """--show-secrets prints the token; a watch prints each line immediately."""
    words = await curl(Config.from_token("https://cluster:6443", "s3cret"), show_secrets=True, streams=True)
    assert words == '-sSN -H "Authorization: Bearer s3cret"'


async def test_a_server_name_is_verified_where_it_is_not_the_address() -> None:
    """The URL has tls-server-name as its host, and --connect-to has the address."""
    config = Config(server="https://10.0.0.1:6443", tls=Tls(insecure=True, server_name="kubernetes"))
    assert await curl(config) == (
        "-sS --insecure --connect-to kubernetes:6443:10.0.0.1:6443 https://kubernetes:6443/version"
    )


async def test_a_proxy_is_no_surprise(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """curl uses the login's proxy or none; the proxy's password is omitted with a note."""
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy:3128")
    assert "--noproxy '*'" in await curl(replace(PLAIN, proxy=None))
    assert "joe" not in await curl(replace(PLAIN, proxy="http://joe:s3cret@proxy:3128"))
    assert "password of the proxy is left out" in capsys.readouterr().err
