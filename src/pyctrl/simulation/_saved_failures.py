"""Schedules that failed in earlier sessions, kept in a text file, so that they are tried first."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path

from pyctrl._atomic_files import write_atomically
from pyctrl.simulation._schedule import Schedule

__all__ = ["SavedFailures"]

KEPT = 50  # schedules in a file; the oldest is dropped first
PASSES = 5  # sessions in which a schedule must pass before it is dropped, since a bug may come back with an edit

HEAD = """\
# Schedules that failed, the newest first. pyctrl.simulation tries them first, and drops those that pass.
# You can delete this file.
"""


@dataclass(frozen=True, slots=True)
class _Saved:
    schedule: Schedule
    passes: int = 0  # sessions in a row

    def __str__(self) -> str:
        return f"passed {self.passes}: {self.schedule}" if self.passes else str(self.schedule)

    @classmethod
    def parse(cls, line: str) -> _Saved:
        match = re.fullmatch(r"passed (\d+): (.*)", line)
        return cls(Schedule.parse(match[2]), int(match[1])) if match else cls(Schedule.parse(line))


class SavedFailures:
    """The saved failures of one test or program, in one session.

        saved = SavedFailures(path)
        for schedule in saved.schedules: ...  # run it, then
            saved.failed(schedule) or saved.passed(schedule, unused=outcome.unused)
        saved.write()

    A schedule that fails is kept, at most `KEPT` of them. One that passes is kept until it has passed in `PASSES`
    sessions in a row. One that does not parse, or that passes because a point of it did not come, says nothing about
    the operator: it is dropped, with a note.

    Args:
        path: The file; it need not exist. It is removed when nothing is left.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._changed = False
        self._judged: set[Schedule] = set()
        #: What was dropped and why, and errors of the file, for people.
        self.notes: list[str] = []
        self._saved: dict[Schedule, _Saved] = {}
        for line in self._lines():
            try:
                each = _Saved.parse(line)
            except ValueError as error:
                self._drop(line, str(error))
            else:
                self._saved.setdefault(each.schedule, each)

    @property
    def schedules(self) -> list[Schedule]:
        """The saved schedules, the newest failure first."""
        return [*self._saved]

    def failed(self, schedule: Schedule) -> None:
        """Keep a schedule that failed, before all others; not the one of the reference, which is always run."""
        if schedule == Schedule():
            return
        self._judged.add(schedule)
        self._saved = {schedule: _Saved(schedule)} | {k: v for k, v in self._saved.items() if k != schedule}
        self._changed = True

    def passed(self, schedule: Schedule, *, unused: Collection[str] = ()) -> None:
        """Count a saved schedule that passed; once in a session.

        Args:
            schedule: The schedule.
            unused: Its faults whose point never came.
        """
        if schedule not in self._saved or schedule in self._judged:
            return
        self._judged.add(schedule)
        self._changed = True
        if unused:
            self._drop(str(schedule), f"{', '.join(unused)} no longer happens")
            del self._saved[schedule]
            return
        counted = replace(self._saved[schedule], passes=self._saved[schedule].passes + 1)
        if counted.passes < PASSES:
            self._saved[schedule] = counted
        else:
            del self._saved[schedule]

    def write(self) -> None:
        """Write the file if something changed. A file that cannot be written gives a note."""
        if not self._changed:
            return
        lines = [str(each) for each in self._saved.values()][:KEPT]
        try:
            if lines:
                write_atomically(self._path, HEAD + "".join(f"{line}\n" for line in lines))
            else:
                self._path.unlink(missing_ok=True)
        except OSError as error:
            self.notes.append(f"{self._path}: cannot save failures: {error.strerror or error}")
        else:
            self._changed = False

    def _lines(self) -> list[str]:
        try:
            text = self._path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return []
        except (OSError, UnicodeDecodeError) as error:
            self.notes.append(f"{self._path}: cannot read saved failures: {error}")
            return []
        lines = (line.strip() for line in text.splitlines())
        return [line for line in lines if line and not line.startswith("#")][:KEPT]

    def _drop(self, what: str, why: str) -> None:
        self._changed = True
        self.notes.append(f"{self._path}: dropped a saved failure: {what}: {why}")
