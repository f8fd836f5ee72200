"""The runner of `pyctrl simulate` with an explorer that finds what the test wants."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pyctrl.cli._simulate.runner import SimulateRunner
from pyctrl.errors import CommandFailed
from pyctrl.simulation import ExploreOptions, Report, Schedule
from tests.unit.cli.simulate._explorers import FakeExplorer, broken, survived

PROGRAM = """\
from pyctrl import Manager

def add_web(manager: Manager, *, image: str = "busybox") -> None:
    manager.image = image
"""
NO_OPTIONS = ExploreOptions()


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A program in the current directory."""
    (tmp_path / "web.py").write_text(PROGRAM)
    monkeypatch.chdir(tmp_path)
    return "web.py"


def runner(explorer: FakeExplorer, **fields: Any) -> SimulateRunner:
    """Return a runner of the program."""
    whole: dict[str, Any] = {
        "program": "web.py",
        "named": ["web.py"],
        "program_flags": (),
        "scenario": None,
        "options": NO_OPTIONS,
        "output": "text",
        "output_file": None,
    }
    return SimulateRunner(**{**whole, **fields}, explore=explorer)


@pytest.mark.usefixtures("program")
def test_an_operator_that_survived(capsys: pytest.CaptureFixture[str]) -> None:
    """The table and the summary go to stdout, lines of progress to stderr, and the exit code is 0."""
    explorer = FakeExplorer(survived())
    assert runner(explorer).main() == 0
    told = capsys.readouterr()
    assert told.out.splitlines()[-1].startswith("podset: no mistake found (4 runs,")
    assert told.err == "5 plans\n"
    assert (explorer.calls[0]["name"], explorer.calls[0]["scenario"]) == ("web", None)


@pytest.mark.usefixtures("program")
def test_an_operator_with_a_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    """A story goes to stdout with the command that replays it, its title to stderr, and the exit code is 1."""
    options = ExploreOptions(replicas=2)
    assert runner(FakeExplorer(broken()), options=options).main() == 1
    told = capsys.readouterr()
    assert '  pyctrl simulate web.py --replicas 2 --replay "crash-during create jobs default/web-*#1"\n' in told.out
    assert told.err == "5 plans\nfound: there is a second <Job> (probably: create is not idempotent)\n"


@pytest.mark.usefixtures("program")
@pytest.mark.parametrize("output", ["json", "html"])
def test_other_formats(capsys: pytest.CaptureFixture[str], output: str) -> None:
    """JSON and HTML are all of stdout, and stderr is empty."""
    assert runner(FakeExplorer(broken()), output=output).main() == 1
    told = capsys.readouterr()
    assert told.err == ""
    if output == "json":
        assert json.loads(told.out)["survived"] is False
    else:
        assert told.out.startswith("<!doctype html>")


@pytest.mark.usefixtures("program")
def test_a_report_in_a_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """With a file, nothing goes to stdout, and progress is shown."""
    file = tmp_path / "out" / "report.html"
    assert runner(FakeExplorer(survived()), output="html", output_file=file).main() == 0
    assert file.read_text().startswith("<!doctype html>")
    told = capsys.readouterr()
    assert (told.out, told.err) == ("", "5 plans\n")


@pytest.mark.usefixtures("program")
def test_flags_of_the_program() -> None:
    """Flags after ``--`` are arguments of the setup function, and part of the command that replays a story."""
    explorer = FakeExplorer(broken())
    assert runner(explorer, program_flags=["--image", "nginx"], output_file=Path("report.txt")).main() == 1

    class _Manager:
        image = ""

    manager = _Manager()
    explorer.calls[0]["program"](manager)
    assert manager.image == "nginx"
    assert '--replay "crash-during create jobs default/web-*#1" -- --image nginx\n' in Path("report.txt").read_text()


def interrupted(report: Report) -> FakeExplorer:
    """Return an explorer that Ctrl-C interrupts."""
    return FakeExplorer(report, lambda _: os.kill(os.getpid(), signal.SIGINT))


@pytest.mark.usefixtures("program")
@pytest.mark.parametrize(("make", "code"), [(survived, 130), (broken, 1)])
def test_ctrl_c_prints_what_was_found_so_far(
    capsys: pytest.CaptureFixture[str], make: Callable[[], Report], code: int
) -> None:
    """The first Ctrl-C ends the exploration; the report is printed, and the handler of the process is restored."""
    before = signal.getsignal(signal.SIGINT)
    assert runner(interrupted(make())).main() == code
    told = capsys.readouterr()
    assert "stopping after this run; press Ctrl-C again to stop now\n" in told.err
    assert told.out.splitlines()[-1].startswith("podset: ")
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.usefixtures("program")
def test_a_replay_whose_point_is_gone(capsys: pytest.CaptureFixture[str]) -> None:
    """A fault of a replay that never happened is named, because its point is not there any more."""
    report = survived()
    options = replace(NO_OPTIONS, replay=Schedule.parse("conflict create jobs default/web-*#1"))
    assert runner(FakeExplorer(report), options=options).main() == 0
    assert "pyctrl: the run has no such point, so this fault did not happen: conflict\n" in capsys.readouterr().err


@pytest.mark.usefixtures("program")
def test_errors_of_the_program_come_first() -> None:
    """A program that does not exist is reported before anything is explored."""
    explorer = FakeExplorer(survived())
    with pytest.raises(CommandFailed, match="other.py"):
        runner(explorer, program="other.py").main()
    assert explorer.calls == []


@pytest.mark.usefixtures("program")
def test_failures_are_kept_for_the_next_session() -> None:
    """Failures are tried first the next time, are kept apart by scenario and replicas, and are not committed."""
    assert runner(FakeExplorer(broken())).main() == 1
    assert Path(".pyctrl/.gitignore").read_text() == "*\n"
    explorer = FakeExplorer(survived())
    assert runner(explorer).main() == 0
    saved = explorer.calls[0]["saved"]
    assert "crash-during create jobs default/web-*#1" in map(str, saved.schedules)
    for options in (ExploreOptions(replicas=2), ExploreOptions(replay=saved.schedules[0])):
        other = FakeExplorer(survived())
        runner(other, options=options).main()
        assert getattr(other.calls[0]["saved"], "schedules", []) == []


@pytest.mark.usefixtures("program")
def test_an_operator_that_survived_leaves_no_files(tmp_path: Path) -> None:
    """Without failures no folder is made."""
    runner(FakeExplorer(survived())).main()
    assert not (tmp_path / ".pyctrl").exists()
