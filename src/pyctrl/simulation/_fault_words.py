"""Sentences about faults: what was done to the operator, and the short form that begins an explanation."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pyctrl.simulation._schedule import Fault, FaultKind, Occasion

__all__ = ["after", "sentence"]

#: What happens. {what} is the write, the call, the event or the object.
_SENTENCES: Mapping[FaultKind, str] = {
    FaultKind.CRASH_BEFORE: "killed before it sends {what}",
    FaultKind.CRASH_DURING: "killed during {what}, which takes effect; the answer is lost",
    FaultKind.CRASH_AFTER: "killed after {what} has succeeded",
    FaultKind.CRASH: "killed {what}",
    FaultKind.ANSWER_LOST: "{what} takes effect, but the answer is lost",
    FaultKind.CONFLICT: "{what} is answered with 409 Conflict",
    FaultKind.TOO_MANY_REQUESTS: "{what} is answered with 429 Too Many Requests",
    FaultKind.INTERNAL_ERROR: "{what} is answered with 500 Internal Server Error",
    FaultKind.TIMEOUT: "{what} has no effect, and times out",
    FaultKind.DELAY: "the {what} is delayed by {argument} s",
    FaultKind.COALESCE: "the {what} is merged with the next one of the object",
    FaultKind.HIDE: "the watch breaks before the {what}; the next list already has the next change",
    FaultKind.STALE: "the operator's cache is behind for {argument} s {what}",
    FaultKind.TIME_TRAVEL: "killed {what}; the next process reads from a server that is behind",
    FaultKind.LOSE_LEADERSHIP: "the replica loses its Lease {what}, and keeps running",
    FaultKind.FREEZE: "the process stands still for {argument} s {what}",
    FaultKind.DELETE_CHILD: "someone deletes {argument}",
    FaultKind.CHANGE_CHILD: "someone changes {argument}",
    FaultKind.REPLACE_CHILD: "someone deletes {argument}, and creates an object of their own with its name",
    FaultKind.RECREATE_PARENT: "someone deletes {argument}, and creates it again at once",
    FaultKind.CALL_FAILS: "{what} fails, without effect",
    FaultKind.CALL_SLOW: "{what} takes {argument} s",
    FaultKind.CALL_TWICE: "{what} is carried out twice",
    FaultKind.RESTART_SERVER: "the API server restarts {what}",
    FaultKind.COMPACT: "the API server compacts its history {what}; watches have to list again",
    FaultKind.RESTORE_BACKUP: "the API server is restored from a backup {what}; versions go back",
    FaultKind.JUMP_CLOCK: "the clock jumps by {argument} s {what}",
    FaultKind.WEBHOOK_FAILS: "the {what} fails",
    FaultKind.WEBHOOK_SLOW: "the {what} takes {argument} s",
    FaultKind.TEAR: "all watches of the operator break {what}",
}

_AFTER: Mapping[FaultKind, str] = {
    FaultKind.CRASH_BEFORE: "after the crash",
    FaultKind.CRASH_DURING: "after the lost answer",
    FaultKind.CRASH_AFTER: "after the crash",
    FaultKind.CRASH: "after the crash",
    FaultKind.ANSWER_LOST: "after the lost answer",
    FaultKind.CONFLICT: "after the conflict",
    FaultKind.TOO_MANY_REQUESTS: "after the answer 429",
    FaultKind.INTERNAL_ERROR: "after the answer 500",
    FaultKind.TIMEOUT: "after the timeout",
    FaultKind.DELAY: "after the delayed event",
    FaultKind.COALESCE: "after the merged events",
    FaultKind.HIDE: "after the missed event",
    FaultKind.STALE: "with a stale cache",
    FaultKind.TIME_TRAVEL: "after a restart with a stale cache",
    FaultKind.LOSE_LEADERSHIP: "after the loss of the Lease",
    FaultKind.FREEZE: "after the pause",
    FaultKind.DELETE_CHILD: "after the deletion of the child",
    FaultKind.CHANGE_CHILD: "after the change of the child",
    FaultKind.REPLACE_CHILD: "after the replacement of the child",
    FaultKind.RECREATE_PARENT: "after the parent was recreated",
    FaultKind.CALL_FAILS: "after the failed call",
    FaultKind.CALL_SLOW: "after the slow call",
    FaultKind.CALL_TWICE: "after the repeated call",
    FaultKind.RESTART_SERVER: "after the restart of the API server",
    FaultKind.COMPACT: "after the compaction",
    FaultKind.RESTORE_BACKUP: "after the restore of a backup",
    FaultKind.JUMP_CLOCK: "after the jump of the clock",
    FaultKind.WEBHOOK_FAILS: "after the failed webhook",
    FaultKind.WEBHOOK_SLOW: "after the slow webhook",
    FaultKind.TEAR: "after the broken watches",
}

_RESULTS = {"ADDED": "creation", "MODIFIED": "change", "DELETED": "deletion"}


def after(fault: Fault | None) -> str:
    """Return the begin of an explanation, such as ``after the lost answer``."""
    return _AFTER[fault.kind] if fault is not None else "with another order of tasks"


def sentence(fault: Fault, what: str = "", *, named: Callable[[str], str] = str) -> str:
    """Return what a fault did, in the present tense.

    Args:
        fault: The fault.
        what: The write or call that it hit, with names; by default as in its point.
        named: Returns an object ``RESOURCE NAMESPACE/NAME`` as people call it.
    """
    place = _place(fault, what, named)
    return _SENTENCES[fault.kind].format(what=place, argument=_argument(fault, named)).strip()


def _argument(fault: Fault, named: Callable[[str], str]) -> str:
    try:
        return f"{float(fault.argument):g}"
    except ValueError:
        return named(fault.argument)


def _place(fault: Fault, what: str, named: Callable[[str], str]) -> str:
    """Return the name of the point, in the form that the sentence of the fault needs."""
    point, is_moment = fault.point, not _SENTENCES[fault.kind].startswith(("{what}", "the {what}"))
    match point.occasion:
        case Occasion.EVENT:
            target, _, kind = point.what.rpartition(" ")
            words = f"event of the {_RESULTS.get(kind, kind)} of {named(target)}"
            return f"at the {words}" if is_moment else words
        case Occasion.STEP:
            return f"at rest after step {point.what or point.nth} of the scenario"
        case Occasion.RECONCILE:
            return f"at the begin of reconcile {point.what}"
        case Occasion.LIST:
            return f"list {named(point.what)}"
        case Occasion.HANDLE:
            return "between two awaits"
        case Occasion.WEBHOOK:
            return f"webhook {point.what}"
        case _:
            verb, _, target = point.what.partition(" ")
            words = what or (f"{verb} {named(target)}" if target else verb)
            return f"at {words}" if is_moment and fault.kind not in _TAKES_A_NAME else words


_TAKES_A_NAME = frozenset({FaultKind.CRASH_BEFORE, FaultKind.CRASH_DURING, FaultKind.CRASH_AFTER})
