"""Causes of a reconcile: merged, counted, bounded, readable."""

from __future__ import annotations

from datetime import timedelta

from pyctrl.api import GroupVersionKind, Key
from pyctrl.controller import ChangeCause, OmittedCauses, RetryCause, TimerCause, TriggerCause, reconcile_causes
from pyctrl.controller._causes import ReconcileCause, error_summary, merge, remember

POD = GroupVersionKind("", "v1", "Pod")


def pod_changed(version: str, *, name: str = "web", initial: bool = False) -> ChangeCause:
    return ChangeCause(POD, Key("default", name), "updated", version, initial)


def test_the_summary_of_a_long_error_shows_that_it_is_cut() -> None:
    """A message is one line of at most 300 characters, which ends with an ellipsis if it was longer."""
    assert error_summary(ValueError("a\n b")) == "ValueError: a b"
    assert error_summary(ValueError("x" * 300)) == f"ValueError: {'x' * 300}"
    assert error_summary(ValueError("x" * 301)) == f"ValueError: {'x' * 299}…"


def test_changes_of_one_object_are_counted_and_the_newest_version_is_kept() -> None:
    """A hundred updates of a pod become one cause with the newest version."""
    causes: tuple[ReconcileCause, ...] = ()
    for version in ("5", "6", "7"):
        causes = remember(causes, pod_changed(version))
    causes = remember(causes, pod_changed("8", name="db"))

    assert [str(cause) for cause in causes] == [
        "Pod default/web updated ×3 (version 7)",
        "Pod default/db updated (version 8)",
    ]


def test_the_number_of_causes_is_bounded() -> None:
    """Only the newest causes are kept; older ones are counted."""
    causes: tuple[ReconcileCause, ...] = ()
    for number in range(100):
        causes = remember(causes, pod_changed("1", name=str(number)))

    assert len(causes) == 16
    assert causes[0] == OmittedCauses(85)
    assert causes[-1] == pod_changed("1", name="99")


def test_merging_keeps_every_cause_in_order() -> None:
    """Merged causes keep their order; a repeated cause is counted and comes last."""
    assert merge((TriggerCause("a"),), (TriggerCause("b"), TriggerCause("a"))) == (
        TriggerCause("b"),
        TriggerCause("a", times=2),
    )


def test_causes_read_as_sentences() -> None:
    """The text of each cause is readable in a log line."""
    assert str(ChangeCause(POD, Key("", "web"), "created", "3", initial=True)) == "Pod web listed (version 3)"
    assert str(RetryCause(3, "Conflict: changed")) == "retry 3 after Conflict: changed"
    assert str(TimerCause(timedelta(minutes=10))) == "requeued after 0:10:00"
    assert str(TriggerCause("tick", times=2)) == "tick ×2"
    assert str(OmittedCauses(4)) == "and 4 earlier"


def test_there_are_no_causes_outside_of_a_reconcile() -> None:
    """Outside of a reconcile, there are no causes and no error."""
    assert reconcile_causes() == ()
