"""Detection of a blocked event loop, and limits of its log lines, without threads."""

from __future__ import annotations

import pytest

from pyctrl._stack_frames import CodeLine
from pyctrl.manager._blockage import ALWAYS_LOGGED, MAX_PLACES, REMINDER, BlockageLog, LoopTurns


def test_a_turn_that_is_too_long_is_reported_while_it_lasts() -> None:
    """A blockage is reported after the threshold, then each time its duration doubles, and at its end."""
    turns, reports = LoopTurns(threshold=1.0), []
    assert turns.check(0.0, late=0.0, is_idle=False).is_due
    for half_seconds in range(1, 40):
        look = turns.check(half_seconds / 2, late=0.0, is_idle=False)
        assert not look.is_due
        if look.blocked is not None:
            reports.append(look.blocked)
    assert reports == [1.0, 2.0, 4.0, 8.0, 16.0]
    assert turns.turned(20.0) == 20.0


def test_a_loop_that_turns_or_waits_is_not_reported() -> None:
    """A loop that is idle or turns in time is not reported; only a busy loop gets a callback, one per check."""
    turns = LoopTurns(threshold=1.0)
    for second in range(100):
        look = turns.check(second, late=0.0, is_idle=second % 2 == 0)
        assert look.is_due == (second % 2 == 1)
        assert look.blocked is None
        if look.is_due:
            assert turns.turned(second + 0.9) is None


def test_a_thread_that_could_not_look_in_time_reports_when_it_can() -> None:
    """A blockage that also stops the watchdog, by the interpreter lock, is reported at the next check."""
    turns = LoopTurns(threshold=1.0)
    look = turns.check(10.0, late=3.0, is_idle=False)
    assert (look.is_due, look.blocked, look.is_late) == (True, 3.0, True)
    assert turns.turned(10.1) == pytest.approx(3.1)
    assert turns.check(20.0, late=3.0, is_idle=True).blocked is None  # the process was suspended while it waited


def test_a_place_that_blocks_over_and_over_is_logged_now_and_then() -> None:
    """A repeated blockage at one place is logged three times, then every five minutes with its count."""
    place, shown = CodeLine("operator.py", 21, "reconcile", "operator"), []
    lines = BlockageLog()
    for second in range(700):
        lines.begin(place, float(second))
        if lines.is_shown:
            shown.append((second, dict(lines.fields)))
    assert [second for second, _ in shown] == [0, 1, 2, 2 + REMINDER, 2 + 2 * REMINDER]
    assert shown[ALWAYS_LOGGED][1] == {"times": 303}
    for number in range(2 * MAX_PLACES):
        lines.begin(place._replace(line=number), 0.0)
    assert len(lines._seen) == MAX_PLACES
