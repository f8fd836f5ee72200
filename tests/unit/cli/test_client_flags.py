"""Flags that choose the cluster and the user."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from cyclopts import App, CycloptsError

from pyctrl.cli._client_flags import NO_CLIENT_FLAGS, ClientFlags
from pyctrl.client import Config
from pyctrl.errors import CommandFailed, ConfigError, RequestTimeout
from pyctrl.kinds.core.v1 import ConfigMap
from tests.unit._loop_time import elapse_until_done

KUBECONFIG = """
clusters: [{name: kind, cluster: {server: "https://127.0.0.1:6443"}}]
users:
- {name: jane, user: {token: abc}}
- {name: root, user: {token: abc, as: robot, as-groups: [machines]}}
contexts:
- {name: dev, context: {cluster: kind, user: jane, namespace: shop}}
- {name: acting, context: {cluster: kind, user: root}}
current-context: dev
"""


@pytest.fixture
def kubeconfig(tmp_path: Path) -> Path:
    file = tmp_path / "config"
    file.write_text(KUBECONFIG)
    return file


def parsed(*arguments: str) -> ClientFlags:
    """Parse flags as a command does."""
    app = App(name="any", result_action="return_value")

    @app.default
    def command(login: ClientFlags = NO_CLIENT_FLAGS) -> ClientFlags:
        return login

    login = app(list(arguments), exit_on_error=False, print_error=False)
    assert isinstance(login, ClientFlags)
    return login


def test_flags_have_the_names_of_kubectl(kubeconfig: Path) -> None:
    """Kubeconfig, context, namespace and impersonated user have kubectl's flags."""
    assert parsed() == ClientFlags()
    plain = parsed("--kubeconfig", str(kubeconfig)).config()
    assert (plain.namespace, plain.impersonate) == ("shop", None)

    named = parsed("--kubeconfig", str(kubeconfig), "-n", "other", "--as", "joe", "--as-group", "a", "--as-group", "b")
    config = named.config()
    assert config.impersonate is not None
    assert (config.namespace, config.impersonate.user, config.impersonate.groups) == ("other", "joe", ("a", "b"))


def test_a_flag_replaces_its_field_of_the_kubeconfig_only(kubeconfig: Path) -> None:
    """--as-group replaces the kubeconfig's groups and keeps its user; --as replaces the user and keeps the groups."""
    acting = ClientFlags(kubeconfig=kubeconfig, context="acting")
    grouped = replace(acting, as_groups=("people",)).config().impersonate
    renamed = replace(acting, as_user="joe").config().impersonate
    assert grouped is not None
    assert renamed is not None
    assert (grouped.user, grouped.groups) == ("robot", ("people",))
    assert (renamed.user, renamed.groups) == ("joe", ("machines",))


def test_a_group_needs_a_user(kubeconfig: Path) -> None:
    """A group without a user is an error, as on the server."""
    with pytest.raises(ConfigError, match="set user="):
        ClientFlags(kubeconfig=kubeconfig, as_groups=("a",)).config()


def test_who_has_no_login_is_told_what_was_tried(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The error lists each source of a login with the reason for skipping it, and what to do."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    with pytest.raises(CommandFailed) as raised:
        ClientFlags().config()
    what_to_do = (
        "Set KUBECONFIG to a kubeconfig file, or name one with --kubeconfig FILE. "
        "For a local in-memory cluster: pyctrl apiserver --write-kubeconfig FILE"
    )
    assert str(raised.value).splitlines() == [
        "no configuration of a cluster found; tried:",
        "  - KUBECONFIG: not set",
        "  - in-cluster: this is not a pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set",
        f"  - ~/.kube/config: no such file: {tmp_path}/.kube/config",
        what_to_do,
    ]


@asynccontextmanager
async def silent_server() -> AsyncIterator[tuple[str, asyncio.Event]]:
    """Listen, and never respond; yield the URL, and an event for the first request."""
    asked, gone = asyncio.Event(), asyncio.Event()

    async def wait(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        asked.set()
        await gone.wait()
        writer.close()

    async with await asyncio.start_server(wait, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", asked
        gone.set()


@pytest.mark.real_time
async def test_nobody_waits_longer_than_they_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """With --request-timeout a request to a server that does not respond fails after that time, and not before."""
    login = ClientFlags(request_timeout=timedelta(hours=1))
    async with silent_server() as (url, asked), login.client(Config(server=url)) as client:
        listing = asyncio.create_task(client.list(ConfigMap, namespace="default"))
        await asked.wait()
        assert await elapse_until_done(monkeypatch, listing, step=600) > 3000
        with pytest.raises(RequestTimeout, match=r"GET .* timed out"):
            await listing


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("1h30m", 5400), ("500ms", 0.5), ("1.5h", 5400), ("30", 30), ("1m5s", 65)]
)
def test_durations_are_written_as_in_go(text: str, seconds: float) -> None:
    """Durations have hours, minutes, seconds and milliseconds, also combined; a plain number is seconds."""
    assert parsed("--request-timeout", text).request_timeout == timedelta(seconds=seconds)


@pytest.mark.parametrize("text", ["soon", "3x", "", "s", "0", "0s"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    """The error for a word, an unknown unit, an empty value or zero has the expected format."""
    with pytest.raises(CycloptsError, match="expected"):
        parsed("--request-timeout", text)
