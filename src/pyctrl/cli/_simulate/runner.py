"""Runner of `pyctrl simulate`: explores a program, and prints the report."""

from __future__ import annotations

import json
import re
import shlex
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pyctrl._atomic_files import write_atomically
from pyctrl.cli._command_line import FAILED
from pyctrl.cli._program_flags import bind_program_flags
from pyctrl.cli._simulate.bar import Bar
from pyctrl.cli._simulate.scenario import load_scenario
from pyctrl.program import Target
from pyctrl.simulation import (
    ExploreOptions,
    Explorer,
    Report,
    SavedFailures,
    report_page,
    report_text,
    report_to_wire,
)

__all__ = ["SimulateRunner"]

CACHE = Path(".pyctrl")  # in the current directory, like the caches of pytest and mypy
INTERRUPTED = 128 + signal.SIGINT


@dataclass(frozen=True, kw_only=True)
class SimulateRunner:
    """Explores a program according to the flags of the command.

    Attributes:
        program: The program.
        named: The words that name it on the command line; empty if pyproject.toml does.
        program_flags: Its own flags.
        scenario: What users do, as on the command line; None: the samples.
        options: What to explore.
        output: text, json or html.
        output_file: Where to write the report; None: stdout.
        explore: Explores.
    """

    program: str
    named: Sequence[str]
    program_flags: Sequence[str]
    scenario: str | None
    options: ExploreOptions
    output: str
    output_file: Path | None
    explore: Explorer

    def main(self) -> int:
        """Explore, and print the report; return the exit code.

        Raises:
            PyctrlError: the program or the scenario cannot be loaded, or the program fails without faults.
        """
        target = Target.parse(self.program)
        setup = target.find()
        if self.program_flags:
            bound = bind_program_flags(setup, target.name, tokens=self.program_flags, command=self._command("--"))
            if bound is None:
                return 0
            setup = bound
        scenario = None if self.scenario is None else load_scenario(self.scenario)
        is_quiet = self.output != "text" and self.output_file is None
        saved = self._saved(target.name)
        bar = Bar(None if is_quiet else sys.stderr)
        with _stopped_by_ctrl_c(bar):
            report = self.explore(setup, scenario, name=target.name, options=self.options, progress=bar, saved=saved)
        bar.clear()
        self._write(report)
        self._warn(report, saved)
        if report.stories:
            return FAILED
        return INTERRUPTED if bar.is_stopped else 0

    def _saved(self, name: str) -> SavedFailures | None:
        """Return the failures of earlier sessions in the same world; None for a replay, which tries nothing else."""
        if self.options.replay is not None:
            return None
        words = [name, *filter(None, [self.scenario]), *self.program_flags]
        words += [f"{self.options.replicas}-replicas"] if self.options.replicas > 1 else []
        return SavedFailures(CACHE / "simulation" / (re.sub(r"[^\w.-]+", "-", "-".join(words)) + ".txt"))

    def _write(self, report: Report) -> None:
        command = shlex.join(self._command("--replay")) + " {schedule}"
        if self.program_flags:
            command += f" -- {shlex.join(self.program_flags)}"
        text = _FORMATS[self.output](report, command=command)
        if self.output_file is None:
            sys.stdout.write(f"{text}\n")
        else:
            write_atomically(self.output_file, f"{text}\n")

    def _command(self, *words: str) -> list[str]:
        """Return the command line that explores the same program in the same world."""
        flags = [] if self.scenario is None else ["--scenario", self.scenario]
        flags += ["--replicas", str(self.options.replicas)] if self.options.replicas > 1 else []
        return ["pyctrl", "simulate", *self.named, *flags, *words]

    def _warn(self, report: Report, saved: SavedFailures | None) -> None:
        """Report faults of a replay that did not happen, and what became of saved failures."""
        notes = list(saved.notes) if saved is not None else []
        if self.options.replay is not None:
            faults = dict.fromkeys(fault for attempt in report.attempts for fault in attempt.outcome.unused)
            notes += [f"the run has no such point, so this fault did not happen: {fault}" for fault in faults]
        for note in notes:
            print(f"pyctrl: {note}", file=sys.stderr)
        _ignored_by_git()


def _json(report: Report, *, command: str) -> str:
    return json.dumps(report_to_wire(report, command=command), indent=2, ensure_ascii=False)


_FORMATS: dict[str, Any] = {"text": report_text, "json": _json, "html": report_page}


@contextmanager
def _stopped_by_ctrl_c(bar: Bar) -> Iterator[None]:
    """Let the first Ctrl-C end the exploration after the current run, and the second one the process."""

    def stop(_number: int, _frame: object, *, bar: Bar) -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        bar.stop()

    before = signal.signal(signal.SIGINT, partial(stop, bar=bar))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _ignored_by_git() -> None:
    """Let git ignore the folder of saved failures, if there are any."""
    ignored = CACHE / ".gitignore"
    if CACHE.is_dir() and not ignored.exists():
        ignored.write_text("*\n")
