"""`pyctrl run`: what its flags come to, and what is said when they cannot come to anything."""

from __future__ import annotations

import importlib.util
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from pyctrl.api import Key
from pyctrl.cli import program
from pyctrl.cli._client_flags import ConfigFlags
from pyctrl.cli._log_flags import LogFlags
from pyctrl.cli._run.flags import RunFlags
from pyctrl.cli._run.runner import ProgramRunner
from pyctrl.client import Config
from pyctrl.errors import ManagerError
from pyctrl.manager import NoServer
from pyctrl.webhook import ManagedCertificates, Service, Webhooks, WebhookServer
from tests.unit.cli.conftest import Run

PROGRAM = """\
from pyctrl import Builder, CustomResource, Model, Reconciler, Request


class Thing(CustomResource[Model], group="a.example.com", version="v1"):
    "A thing."


class ThingReconciler(Reconciler[Thing]):
    async def reconcile(self, request: Request) -> None: ...


def add_things(manager, *, colour: str = "red", shape: str = "round") -> None:
    print("things are", colour, shape)
    {then}
    Builder(manager).build(ThingReconciler())
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A program that says what its flags were and then cannot be wired."""
    path = tmp_path / "things.py"
    path.write_text(PROGRAM.format(then="raise ValueError('no more')"))
    return path


@pytest.fixture
def kubeconfig(tmp_path: Path) -> Path:
    """A kubeconfig of a server that nobody reaches."""
    path = tmp_path / "kubeconfig"
    path.write_text(Config.from_token("http://127.0.0.1:1", "t").to_kubeconfig())
    return path


def test_a_programs_own_flags_come_after_two_dashes(run: Run, file: Path, kubeconfig: Path) -> None:
    """Keyword arguments of its function are flags; what it raises is one line."""
    ran = run("run", file, "--kubeconfig", kubeconfig, "--", "--colour", "blue")
    assert (ran.code, ran.out) == (1, "things are blue round\n")
    assert "pyctrl: wiring things failed: ValueError: no more\n  --> " in ran.err


def test_help_of_a_program_lists_its_own_flags(run: Run, file: Path) -> None:
    """``-- --help`` is about the program, and runs nothing."""
    ran = run("run", file, "--", "--help")
    assert ran.code == 0
    assert "--colour" in ran.out
    assert "things are" not in ran.out


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("missing.py",), 1, "pyctrl: there is no file missing.py"),
        (("{file}", "--", "--size", "1"), 2, "pyctrl run {file} --: Unknown option: --size"),
        (("{file}", "--zap-log-level", "loud"), 2, 'pyctrl run: Invalid value "loud" for --zap-log-level'),
        (("{file}", "--graceful-shutdown-timeout", "soon"), 2, "'soon' is not a duration"),
        (("{file}:nothing",), 1, "has no function 'nothing'; there is add_things"),
        (("{file}", "--metrics-bind-address", "here"), 1, "metrics_bind_address is an address such as"),
        (("{file}", "--no-metrics-secure", "--metrics-cert-dir", "x"), 1, "contradict each other"),
        (("{file}", "--leader-elect", "--leader-election-id", "No"), 1, "a Lease needs a name"),
    ],
)
def test_what_cannot_be_run_is_one_line(
    run: Run, file: Path, kubeconfig: Path, arguments: tuple[str, ...], code: int, told: str
) -> None:
    """1: it cannot be done; 2: the flags were not understood. Never a traceback."""
    first, *rest = (each.format(file=file) for each in arguments)
    ran = run("run", first, "--kubeconfig", kubeconfig, *rest)
    assert ran.code == code
    assert told.format(file=file) in ran.err
    assert "Traceback" not in ran.err


def test_a_program_with_a_main_of_its_own_has_the_same_flags(
    capsys: pytest.CaptureFixture[str], kubeconfig: Path, run: Run
) -> None:
    """Its own flags stand beside the shared ones, and messages begin with its name."""

    def add_thing(manager: object, *, colour: str = "red") -> None:
        """Wire a thing."""
        raise ValueError(f"no {colour} things")

    code = program(add_thing, name="thing-operator", arguments=["--kubeconfig", str(kubeconfig), "--colour", "blue"])
    assert code == 1
    err = capsys.readouterr().err
    assert "thing-operator: wiring thing-operator failed: ValueError: no blue things\n  --> " in err
    assert '|         raise ValueError(f"no {colour} things")\n' in err
    assert program(add_thing, name="thing-operator", arguments=["--color", "blue"]) == 2
    assert "Try 'thing-operator --help'" in capsys.readouterr().err


def made(**flags: Any) -> Any:
    return RunFlags(**flags).manager(Config.in_process(NoServer()), name="op", metrics=None, certificates=None)


@pytest.mark.parametrize(
    ("flag", "variable", "expected"),
    [
        ((), None, None),
        ((), "", None),
        ((), "web, shop", {"web", "shop"}),
        (("a,b", "c"), "web", {"a", "b", "c"}),
    ],
)
def test_namespaces_are_those_of_the_flag_or_of_the_environment(
    monkeypatch: pytest.MonkeyPatch, flag: tuple[str, ...], variable: str | None, expected: set[str] | None
) -> None:
    """The flag wins over WATCH_NAMESPACE, which may be empty; commas and repeats both count."""
    monkeypatch.delenv("WATCH_NAMESPACE", raising=False)
    if variable is not None:
        monkeypatch.setenv("WATCH_NAMESPACE", variable)
    found = RunFlags(namespace=flag).namespaces
    assert (None if found is None else set(found)) == expected


@pytest.mark.parametrize(
    ("flag", "variable", "served"),
    [(None, None, True), (None, "false", False), (None, "true", True), (True, "false", True), (False, None, False)],
)
async def test_webhooks_are_served_unless_the_flag_or_the_environment_says_no(
    monkeypatch: pytest.MonkeyPatch, flag: bool | None, variable: str | None, served: bool
) -> None:
    """``--no-webhooks`` wins, then ENABLE_WEBHOOKS; without webhooks neither server nor certificates run."""
    monkeypatch.delenv("ENABLE_WEBHOOKS", raising=False)
    if variable is not None:
        monkeypatch.setenv("ENABLE_WEBHOOKS", variable)
    async with made(webhooks=flag, webhook_port=7000) as manager:
        certificates = ManagedCertificates(manager.live_client, secret=_key(), target=Service("a", "b"))
        manager.add(certificates)
        manager.add(certificates.rotation)
        server = WebhookServer(Webhooks(), certificates=certificates)
        manager.add(server)
        running = {each.name for each in manager.members} & {"webhook", "webhook-certificates"}
        assert running == ({"webhook", "webhook-certificates"} if served else set())
        assert server.port == 7000
        assert len(manager.webhooks) == 1


async def test_a_certificate_that_is_named_replaces_the_programs_own(tmp_path: Path) -> None:
    """With ``--webhook-cert-dir`` nothing is issued."""
    async with made(webhooks=True, webhook_cert_dir=tmp_path) as manager:
        certificates = ManagedCertificates(manager.live_client, secret=_key(), target=Service("a", "b"))
        manager.add(certificates)
        manager.add(certificates.rotation)
        manager.add(WebhookServer(Webhooks(), certificates=certificates))
        assert [each.name for each in manager.members if "webhook" in each.name] == ["webhook"]


def test_a_lease_is_named_after_the_program() -> None:
    """Unless a flag names it; the durations are those of client-go, and have to fit each other."""
    election = RunFlags(leader_elect=True).election("op")
    assert election is not None
    assert (election.name, election.lease_duration, election.renew_deadline, election.retry_period) == (
        "op",
        *(timedelta(seconds=seconds) for seconds in (15, 10, 2)),
    )
    assert RunFlags().election("op") is None
    with pytest.raises(ManagerError):
        RunFlags(leader_elect=True, leader_elect_lease_duration=timedelta(seconds=5)).election("op")


def _key() -> Key:
    return Key("default", "certificates")


def running(**flags: Any) -> ProgramRunner:
    return ProgramRunner(
        name="op", wire=lambda _manager: None, account=ConfigFlags(), flags=RunFlags(**flags), logs=LogFlags()
    )


def test_metrics_are_served_where_they_can_be(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """By default at :8080, nowhere without prometheus_client, which one line says; a flag is taken by its word."""
    assert running()._metrics() == ":8080"
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    caplog.set_level("INFO")
    assert running()._metrics() is None
    assert caplog.messages == ["Metrics are not served: that needs pip install 'pyctrl-runtime[metrics]'"]
    assert running(metrics_bind_address=":9")._metrics() == ":9"


def test_secure_metrics_without_a_certificate_have_one_made(tmp_path: Path) -> None:
    """It is there while the program runs; a directory that is named is taken as it is."""
    with running(metrics_secure=True)._metrics_certificate() as made:
        assert made is not None
        assert sorted(file.name for file in made.iterdir()) == ["tls.crt", "tls.key"]
    assert not made.exists()
    with running(metrics_cert_dir=tmp_path)._metrics_certificate() as named:
        assert named == tmp_path
    with running()._metrics_certificate() as none:
        assert none is None
