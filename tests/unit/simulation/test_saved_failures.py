"""Failures that are saved between sessions."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyctrl.simulation._saved_failures import KEPT, PASSES, SavedFailures
from pyctrl.simulation._schedule import Schedule

ONE, OTHER = Schedule.parse("crash step#1"), Schedule.parse("seed=3; shuffle; delay event pods a/b ADDED#1 by 5")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file that does not exist, in a directory that does not exist."""
    return tmp_path / "simulation" / "test_web"


def save(path: Path, *failed: Schedule) -> None:
    """Save failures in a session of their own."""
    saved = SavedFailures(path)
    for schedule in failed:
        saved.failed(schedule)
    saved.write()


def test_newest_first(path: Path) -> None:
    """Failures are loaded in the next session, the newest first, each once."""
    save(path, ONE, OTHER)
    assert SavedFailures(path).schedules == [OTHER, ONE]
    save(path, ONE)
    assert SavedFailures(path).schedules == [ONE, OTHER]


def test_without_faults(path: Path) -> None:
    """A seed without faults can fail, too; the schedule of the reference cannot be saved, because it is always run."""
    save(path, Schedule(seed=4))
    assert SavedFailures(path).schedules == [Schedule(seed=4)]
    save(path, Schedule())
    assert SavedFailures(path).schedules == [Schedule(seed=4)]


def test_nothing_to_write(path: Path) -> None:
    """Without failures there is no file."""
    SavedFailures(path).write()
    assert not path.exists()


def test_passes(path: Path) -> None:
    """A schedule is dropped after it passed in some sessions, and the file with the last one."""
    save(path, ONE)
    for _ in range(PASSES):
        saved = SavedFailures(path)
        assert saved.schedules == [ONE]
        saved.passed(ONE)
        saved.passed(ONE)
        saved.write()
    assert SavedFailures(path).schedules == []
    assert not path.exists()


def test_failure_between_passes(path: Path) -> None:
    """Passes count in a row only."""
    save(path, ONE)
    for outcome in ["passed"] * (PASSES - 1) + ["failed"] + ["passed"] * (PASSES - 1):
        saved = SavedFailures(path)
        getattr(saved, outcome)(ONE)
        saved.write()
    assert SavedFailures(path).schedules == [ONE]


def test_failure_counts_more_than_a_pass_in_one_session(path: Path) -> None:
    """A schedule that fails and passes in the same session is as new."""
    save(path, ONE)
    saved = SavedFailures(path)
    saved.passed(ONE)
    saved.failed(ONE)
    saved.passed(ONE)
    saved.write()
    assert "passed" not in path.read_text().splitlines()[-1]


def test_unused(path: Path) -> None:
    """A schedule whose point no longer comes is dropped with a note when it passes."""
    save(path, ONE)
    saved = SavedFailures(path)
    saved.passed(ONE, unused=("crash step#1",))
    assert saved.notes == [f"{path}: dropped a saved failure: crash step#1: crash step#1 no longer happens"]
    saved.write()
    assert not path.exists()


def test_lines_that_do_not_parse(path: Path) -> None:
    """A line of another version or of an editor is dropped with a note, the others stay."""
    save(path, ONE)
    path.write_text(path.read_text() + "explode step#1\npassed x: crash step#1\n\n")
    saved = SavedFailures(path)
    assert saved.schedules == [ONE]
    assert [note.partition(": ")[2][:50] for note in saved.notes] == [
        "dropped a saved failure: explode step#1: a fault b",
        "dropped a saved failure: passed x: crash step#1: a",
    ]
    saved.write()
    assert SavedFailures(path).notes == []


def test_bound(path: Path) -> None:
    """The oldest failures are dropped beyond a limit."""
    save(path, *(Schedule.parse(f"crash step#{n}") for n in range(1, KEPT + 3)))
    found = SavedFailures(path).schedules
    assert len(found) == KEPT
    assert str(found[0]) == f"crash step#{KEPT + 2}"


def test_unreadable(path: Path) -> None:
    """A file that cannot be read or written gives notes."""
    path.mkdir(parents=True)
    saved = SavedFailures(path)
    saved.failed(ONE)
    saved.write()
    assert [f"{path}: cannot" in note for note in saved.notes] == [True, True]


def test_not_text(path: Path) -> None:
    """A file of other bytes gives a note."""
    path.parent.mkdir()
    path.write_bytes(b"\xff\xfe")
    assert "cannot read saved failures" in SavedFailures(path).notes[0]
