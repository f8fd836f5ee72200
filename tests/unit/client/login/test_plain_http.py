"""Credentials over plain HTTP: a kubeconfig's are not sent; those given in code are sent with a warning."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyctrl.client import BearerToken, Config, HttpRequest
from pyctrl.client._login import plain_http
from pyctrl.client._transport.aiohttp import AiohttpTransport
from pyctrl.errors import TransportError

KUBECONFIG = """\
apiVersion: v1
kind: Config
current-context: a
clusters: [{{name: a, cluster: {{server: "{server}", proxy-url: "{proxy}"}}}}]
contexts: [{{name: a, context: {{cluster: a, user: a}}}}]
users: [{{name: a, user: {user}}}]
"""
USERS = [
    "{token: t1}",
    "{username: u, password: p}",
    "{exec: {command: login, apiVersion: client.authentication.k8s.io/v1}}",
]


@pytest.fixture(autouse=True)
def _no_earlier_warnings(monkeypatch: pytest.MonkeyPatch) -> None:
    plain_http._warned.clear()
    for name in ("HTTP_PROXY", "http_proxy"):
        monkeypatch.delenv(name, raising=False)


def login(path: Path, server: str, user: str = "{token: t1}", proxy: str = "") -> Config:
    path.write_text(KUBECONFIG.format(server=server, user=user, proxy=proxy))
    return Config.from_kubeconfig(path)


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("server", ["http://cluster.test:8080", "cluster.test:8080", "http://10.0.0.1"])
async def test_the_credentials_of_a_kubeconfig_are_not_sent_over_plain_http(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, server: str, user: str
) -> None:
    """Credentials are not sent to an address without TLS or scheme, with one warning, as in client-go."""
    config = login(tmp_path / "config", server, user)
    assert await config.credentials.authorization() is None
    login(tmp_path / "config", server, user)
    (line,) = caplog.records
    assert (line.levelname, "not sending the credentials of the kubeconfig" in line.getMessage()) == ("WARNING", True)
    assert "t1" not in str(vars(line))


@pytest.mark.parametrize(
    "server", ["http://127.0.0.1:1", "http://localhost:1", "http://[::1]:1", "https://cluster.test"]
)
async def test_what_stays_on_this_machine_and_tls_have_credentials(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, server: str
) -> None:
    """Credentials are sent over plain HTTP to loopback, as for `kubectl proxy`, `pyctrl dev` and test servers."""
    assert await login(tmp_path / "config", server).credentials.authorization() == "Bearer t1"
    assert caplog.records == []


async def test_through_a_proxy_nothing_stays_here(tmp_path: Path) -> None:
    """Credentials are not sent over plain HTTP through a proxy, which could read the token."""
    config = login(tmp_path / "config", "http://127.0.0.1:1", proxy="http://proxy.test:3128")
    assert await config.credentials.authorization() is None


@pytest.mark.real_time
@pytest.mark.parametrize(("server", "lines"), [("http://127.0.0.1:1", 0), ("http://127.0.0.1.nip.invalid:1", 1)])
async def test_a_token_given_in_code_is_sent_with_one_warning_for_each_server(
    caplog: pytest.LogCaptureFixture, server: str, lines: int
) -> None:
    """A token given in code is sent over plain HTTP, with one warning for each server."""
    for _ in range(2):
        transport = AiohttpTransport(Config(server=server, credentials=BearerToken("t1")))
        for _ in range(2):
            with pytest.raises(TransportError):
                await transport.request(HttpRequest(method="GET", path="/"))
        await transport.aclose()
    assert [record.levelname for record in caplog.records] == ["WARNING"] * lines
    assert "t1" not in str([vars(record) for record in caplog.records])
