"""Credentials from exec plugins: runs, input, and error messages."""

from __future__ import annotations

import asyncio
import json
import logging
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pyctrl import _clock
from pyctrl.client._login.exec import ExecCredentials, ExecPlugin
from pyctrl.client._login.tls import Pem, Tls, TlsContexts
from pyctrl.errors import ConfigError
from tests.unit._loop_time import elapse_until_done
from tests.unit.client._authority import Authority, shake_hands

pytestmark = pytest.mark.real_time  # a plugin is a real process

V1 = "client.authentication.k8s.io/v1"
ANSWER = {"apiVersion": V1, "kind": "ExecCredential"}
START = datetime(2030, 1, 1, tzinfo=UTC)


class Script:
    """A plugin that prints a given output and records its runs."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / "plugin"
        self._answer = directory / "answer"
        self._runs = directory / "runs"
        self.write('echo "$KUBERNETES_EXEC_INFO" >> {runs}; sleep 0.05; cat {answer}')

    def write(self, body: str) -> None:
        self.path.write_text(f"#!/bin/sh\n{body.format(runs=self._runs, answer=self._answer)}\n")
        self.path.chmod(self.path.stat().st_mode | stat.S_IXUSR)

    def answers(self, **status: Any) -> None:
        self._answer.write_text(json.dumps({**ANSWER, "status": status}))

    def prints(self, text: str) -> None:
        self._answer.write_text(text)

    @property
    def runs(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self._runs.read_text().splitlines()] if self._runs.exists() else []

    def credentials(self, **changes: Any) -> ExecCredentials:
        fields = {"command": str(self.path), "api_version": V1, "interactive_mode": "Never", "origin": "exec of 'dev'"}
        return ExecCredentials(ExecPlugin(**{**fields, **changes}))


@pytest.fixture
def script(tmp_path: Path) -> Script:
    return Script(tmp_path)


class Wall:
    """A wall clock that the test sets."""

    def __init__(self) -> None:
        self.time = START


@pytest.fixture
def wall() -> Iterator[Wall]:
    wall = Wall()
    with _clock.use(lambda: wall.time):
        yield wall


def rfc3339(time: datetime) -> str:
    return time.isoformat().replace("+00:00", "Z")


async def test_the_plugin_runs_when_a_token_is_needed_and_not_before(script: Script) -> None:
    """The first request runs the plugin; creating the credentials does not."""
    script.answers(token="t1")
    credentials = script.credentials()
    assert script.runs == []
    assert await credentials.authorization() == "Bearer t1"
    assert await credentials.certificate() is None
    assert len(script.runs) == 1


async def test_many_requests_wait_for_one_run(script: Script) -> None:
    """Concurrent requests share one run of the plugin."""
    script.answers(token="t1")
    credentials = script.credentials()
    headers = await asyncio.gather(*(credentials.authorization() for _ in range(10)))
    assert set(headers) == {"Bearer t1"}
    assert len(script.runs) == 1


async def test_a_token_without_expiry_is_kept_until_it_is_refused(script: Script, wall: Wall) -> None:
    """Without expiry, the plugin runs again only after a 401."""
    script.answers(token="t1")
    credentials = script.credentials()
    await credentials.authorization()
    wall.time += timedelta(days=365)
    assert await credentials.authorization() == "Bearer t1"
    script.answers(token="t2")
    assert await credentials.refresh("Bearer t1") is True
    assert await credentials.authorization() == "Bearer t2"
    assert len(script.runs) == 2


async def test_the_plugin_runs_again_shortly_before_the_expiry(script: Script, wall: Wall) -> None:
    """A token is renewed before its expiry, so that no request is sent with a token that expires on the way."""
    script.answers(token="t1", expirationTimestamp=rfc3339(START + timedelta(minutes=10)))
    credentials = script.credentials()
    await credentials.authorization()
    script.answers(token="t2", expirationTimestamp=rfc3339(START + timedelta(minutes=20)))
    wall.time = START + timedelta(minutes=9, seconds=29)
    assert await credentials.authorization() == "Bearer t1"
    wall.time = START + timedelta(minutes=9, seconds=30)
    assert await credentials.authorization() == "Bearer t2"


async def test_a_plugin_that_repeats_a_token_is_not_asked_for_each_request(script: Script, wall: Wall) -> None:
    """A plugin that returns the same token until its expiry is not run for each request."""
    script.answers(token="t1", expirationTimestamp=rfc3339(START + timedelta(seconds=20)))
    credentials = script.credentials()
    for _ in range(3):
        await credentials.authorization()
    assert len(script.runs) == 1
    wall.time += timedelta(seconds=20)
    await credentials.authorization()
    assert len(script.runs) == 2


async def test_a_failing_renewal_is_no_failure_while_the_token_holds(
    script: Script, wall: Wall, caplog: pytest.LogCaptureFixture
) -> None:
    """A failed early renewal logs a warning; after the expiry it fails the request."""
    script.answers(token="t1", expirationTimestamp=rfc3339(START + timedelta(minutes=10)))
    credentials = script.credentials()
    await credentials.authorization()
    script.write("echo no network >&2; exit 3")
    wall.time = START + timedelta(minutes=9, seconds=45)
    with caplog.at_level(logging.WARNING, "pyctrl.client"):
        assert await credentials.authorization() == "Bearer t1"
    assert "no network" in caplog.records[-1].__dict__["error"]
    wall.time = START + timedelta(minutes=10)
    with pytest.raises(ConfigError, match="no network"):
        await credentials.authorization()


async def test_a_refusal_of_an_older_token_does_not_run_the_plugin(script: Script) -> None:
    """A request refused with a token that has been replaced is retried with the new one, without running the plugin."""
    script.answers(token="t2")
    credentials = script.credentials()
    await credentials.authorization()
    assert await credentials.refresh("Bearer t1") is True
    assert len(script.runs) == 1


async def test_the_same_token_again_is_not_worth_another_try(script: Script) -> None:
    """If the plugin returns the refused token again, the 401 is the result."""
    script.answers(token="t1")
    credentials = script.credentials()
    await credentials.authorization()
    assert await credentials.refresh("Bearer t1") is False


async def test_arguments_environment_and_cluster_reach_the_plugin(script: Script, tmp_path: Path) -> None:
    """The plugin gets its arguments, its variables in addition to ours, and the cluster if configured."""
    script.write('echo "$KUBERNETES_EXEC_INFO" >> {runs}; printf "%s|" "$PATH" "$AWS_PROFILE" "$@" > {answer}.seen\n'
                 "cat {answer}")  # fmt: skip
    script.answers(token="t1")
    credentials = script.credentials(
        arguments=("get-token", "two words"),
        environment={"AWS_PROFILE": "prod"},
        cluster={"server": "https://cluster:6443", "config": {"audience": "a"}},
    )
    await credentials.authorization()
    path, *seen = (tmp_path / "answer.seen").read_text().split("|")
    assert path
    assert seen == ["prod", "get-token", "two words", ""]
    spec = {"interactive": False, "cluster": {"server": "https://cluster:6443", "config": {"audience": "a"}}}
    assert script.runs == [{"apiVersion": V1, "kind": "ExecCredential", "spec": spec}]


async def test_a_client_certificate_from_the_plugin_is_shown_and_renewed(script: Script) -> None:
    """A plugin's client certificate is used in the handshake without a header, and renewed after a 401."""
    cluster = Authority()
    dev, ops = cluster.client("dev"), cluster.client("ops")
    script.answers(clientCertificateData=dev.certificate.decode(), clientKeyData=dev.key.decode())
    credentials = script.credentials()
    contexts = TlsContexts(Tls(ca=Pem("ca", data=cluster.pem)), credentials)
    assert await credentials.authorization() is None
    assert shake_hands(await contexts.current(), cluster.server_context()) == "dev"
    script.answers(clientCertificateData=ops.certificate.decode(), clientKeyData=ops.key.decode())
    assert await credentials.refresh() is True
    assert shake_hands(await contexts.current(), cluster.server_context()) == "ops"


@pytest.mark.parametrize(
    ("output", "why"),
    [
        ("not json", "is not JSON"),
        ('{"kind": "Pod"}', "is not an ExecCredential"),
        ('{"kind": "ExecCredential", "apiVersion": "x/v9"}', "has apiVersion 'x/v9'; expected"),
        (json.dumps(ANSWER), "has no status"),
        (json.dumps({**ANSWER, "status": {}}), "neither a token nor"),
        (
            json.dumps({**ANSWER, "status": {"clientKeyData": "k"}}),
            "only one of clientCertificateData and clientKeyData",
        ),
        (
            json.dumps({**ANSWER, "status": {"token": "t", "expirationTimestamp": "soon"}}),
            "'soon' is not an RFC 3339 time",
        ),
    ],
)
async def test_a_wrong_answer_is_named(script: Script, output: str, why: str) -> None:
    """Invalid output of a plugin is an error with the plugin's user and the reason."""
    script.prints(output)
    with pytest.raises(ConfigError, match=why) as caught:
        await script.credentials().authorization()
    assert str(caught.value).startswith("exec of 'dev'")


async def test_a_failing_plugin_is_quoted(script: Script) -> None:
    """The error about a failed plugin has its exit status and its stderr."""
    script.write("echo 'session expired: run aws sso login' >&2; exit 255")
    with pytest.raises(ConfigError, match="exec of 'dev'.*exited with code 255: session expired: run aws sso login"):
        await script.credentials().authorization()


async def test_a_missing_plugin_comes_with_its_hint(tmp_path: Path) -> None:
    """The error about a missing plugin has the kubeconfig's install hint."""
    plugin = ExecPlugin(command=str(tmp_path / "nope"), api_version=V1, install_hint="brew install nope")
    with pytest.raises(ConfigError, match=r"cannot run '.*nope': no such program\nbrew install nope"):
        await ExecCredentials(plugin).authorization()


async def test_a_plugin_that_hangs_is_ended(script: Script, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A plugin is killed with its child processes after a minute, and the error says so."""
    script.write(f"sleep 600 & echo $! > {tmp_path}/child; wait")
    waiting = asyncio.create_task(script.credentials().authorization())
    child = await number_in(tmp_path / "child")
    await elapse_until_done(monkeypatch, waiting, step=20)
    with pytest.raises(ConfigError, match="did not exit within 60 s"):
        await waiting
    await is_gone(child)


async def test_a_plugin_is_ended_with_the_request_that_waits_for_it(script: Script, tmp_path: Path) -> None:
    """Cancelling the only waiting request kills the plugin."""
    script.write(f"echo $$ > {tmp_path}/started; exec sleep 600")
    waiting = asyncio.create_task(script.credentials().authorization())
    process = await number_in(tmp_path / "started")
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await is_gone(process)


async def number_in(path: Path) -> int:
    """Wait until a script has written a number and a newline into a file."""
    while not (path.exists() and path.read_text().endswith("\n")):
        await asyncio.sleep(0.01)
    return int(path.read_text())


async def is_gone(process: int) -> None:
    """Wait until a process has ended; a zombie counts as ended."""
    with suppress(FileNotFoundError):
        while Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z":
            await asyncio.sleep(0.01)


class Terminal:
    """Stands in for standard input."""

    closed = False

    def __init__(self, *, is_terminal: bool) -> None:
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal


@contextmanager
def standard_input(monkeypatch: pytest.MonkeyPatch, *, is_terminal: bool) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setattr("sys.stdin", Terminal(is_terminal=is_terminal))
        yield


@pytest.mark.parametrize(
    ("mode", "is_terminal", "interactive"),
    [("Never", True, False), ("IfAvailable", True, True), ("IfAvailable", False, False), ("Always", True, True)],
)
async def test_the_plugin_knows_whether_somebody_can_answer(
    script: Script, monkeypatch: pytest.MonkeyPatch, mode: str, is_terminal: bool, interactive: bool
) -> None:
    """interactiveMode and the terminal decide whether the plugin may prompt."""
    script.answers(token="t1")
    with standard_input(monkeypatch, is_terminal=is_terminal):
        await script.credentials(interactive_mode=mode).authorization()
    assert script.runs[0]["spec"] == {"interactive": interactive}


async def test_a_plugin_that_must_ask_fails_without_a_terminal(script: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    """A plugin that always prompts is an error without a terminal, instead of a hang."""
    with (
        standard_input(monkeypatch, is_terminal=False),
        pytest.raises(ConfigError, match="is interactive, and there is no terminal"),
    ):
        await script.credentials(interactive_mode="Always").authorization()
    assert script.runs == []


def test_an_unknown_version_is_refused() -> None:
    """An unsupported version of the plugin protocol is an error when the kubeconfig is read."""
    with pytest.raises(ConfigError, match="'client.authentication.k8s.io/v1alpha1' is not one of"):
        ExecPlugin(command="x", api_version="client.authentication.k8s.io/v1alpha1")


def test_no_secret_is_in_the_text_of_a_plugin() -> None:
    """The text of a plugin does not show its environment variables, which may be secrets."""
    plugin = ExecPlugin(command="x", api_version=V1, environment={"TOKEN": "s3cret"})
    assert "s3cret" not in repr(plugin) + repr(ExecCredentials(plugin))
