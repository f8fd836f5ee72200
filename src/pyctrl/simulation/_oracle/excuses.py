"""Excuses: what the faults of a schedule allow a correct operator to do, each with its reason.

Everything else is judged as if there had been no faults.
"""

from __future__ import annotations

import re
from math import inf

from pyctrl import errors
from pyctrl.simulation._history import Called, Changed, FaultApplied, ObjectId, ProcessChanged, Reconciled
from pyctrl.simulation._oracle.difference import ObjectDifference
from pyctrl.simulation._oracle.names import is_named_by_time
from pyctrl.simulation._oracle.normal_form import EXTERNAL
from pyctrl.simulation._oracle.transitions import is_terminating
from pyctrl.simulation._run import Run
from pyctrl.simulation._schedule import Fault, FaultKind

__all__ = [
    "excuses_difference",
    "excuses_leadership",
    "excuses_number",
    "is_honest_failure",
    "is_programming_error",
    "lacks_replaced_child",
    "lasts_until",
    "shortest_requeue",
    "waiting_retries",
]

# Errors that only a mistake in the program raises. All others may be honest: an answer that the simulation spoiled, or
# what the operator makes of it. `pyctrl.errors` has some of each.
_PROGRAMMING_ERRORS = frozenset(
    (
        *("ArithmeticError", "AssertionError", "AttributeError", "IndexError", "KeyError", "LookupError", "NameError"),
        *("NotImplementedError", "OverflowError", "RecursionError", "StopIteration", "SyntaxError", "TypeError"),
        *("UnboundLocalError", "UnicodeDecodeError", "UnicodeEncodeError", "ValueError", "ZeroDivisionError"),
        *("ImportError", "ModuleNotFoundError", "ValidationError"),
        *(
            "BlockingError",
            "BuilderError",
            "OutsideWorld",
            "DuplicateName",
            "IndexMissing",
            "InvalidResult",
            "NotRegistered",
        ),
        *("PatchError", "QuantityError", "SelectorError"),
    )
)
_REQUEUE = re.compile(r"requeue after ([\d.e+-]+) s")
# Seconds that faults without an argument last, as `World` and `EventFilter` apply them.
_DURATIONS = {
    FaultKind.COALESCE: 30.0,
    FaultKind.HIDE: 60.0,
    FaultKind.LOSE_LEADERSHIP: 120.0,
    FaultKind.RESTART_SERVER: 5.0,
    FaultKind.TIME_TRAVEL: 20.0,
}
_LEASE = 15.0  # seconds that a Lease is held without being renewed (client-go's default, and pyctrl's)
_BEHIND_FOR = _DURATIONS[FaultKind.TIME_TRAVEL] + 2.0  # with the restart of the process
_HONEST_FAILURES = frozenset(
    ("LeadershipLost", "NotLeading", "GracePeriodExceeded", "NotSynced", "TimeoutError", "ConnectionError")
)
_API_ERRORS = frozenset(
    name
    for name, each in vars(errors).items()
    if isinstance(each, type) and issubclass(each, errors.ApiError | errors.TransportError)
)


def is_programming_error(error: str) -> bool:
    """Return whether an error, ``NAME: MESSAGE``, is a mistake of the program rather than a consequence of a fault."""
    name = re.split(r"[:(]", error, maxsplit=1)[0].strip()
    return name.rpartition(".")[2] in _PROGRAMMING_ERRORS


def is_honest_failure(text: str) -> bool:
    """Return whether a process may end with an error: one that does not lead, or cannot reach the server, should.

    A container runtime starts it again.
    """
    name = re.split(r"[:(]", text, maxsplit=1)[0].strip().rpartition(".")[2]
    return name in _HONEST_FAILURES or name in _API_ERRORS


def excuses_difference(run: Run, difference: ObjectDifference) -> bool:
    """Return whether the faults of a run explain a difference that a correct operator can do nothing about.

    restore-backup: The server forgets what it had assigned since the backup, such as the uid by which an external
    resource is named. So the external system may have more than the reference.

    time-travel: A process that sees a state from before a deletion acts for an object that is gone, which only a read
    past the cache would tell. Reflectors of pyctrl list the newest state, so this needs a broken server.
    """
    if difference.object_id.resource == EXTERNAL:
        return FaultKind.RESTORE_BACKUP in _kinds(run) or _acted_for_what_is_gone(run)
    one, other = difference.expected, difference.found
    whole = one if other is None else other if one is None else None
    return whole is not None and excuses_number(run, whole.object_id)


def _acted_for_what_is_gone(run: Run) -> bool:
    """Return whether a process that travelled in time made a call for an object that was gone or being deleted."""
    travels = [entry.at for entry in run.history.of(FaultApplied) if entry.fault.kind is FaultKind.TIME_TRAVEL]
    calls = [
        entry
        for entry in run.history.of(Called)
        if entry.effects and any(at <= entry.at <= at + _BEHIND_FOR for at in travels)
    ]
    return any(_is_gone(run, call.reconcile.rpartition(" ")[2], call.at) for call in calls)


def _is_gone(run: Run, request: str, at: float) -> bool:
    """Return whether the object of a request, which the user created, was gone or being deleted at a time."""
    users = {each.uid for each in run.history.of(Changed) if each.type == "ADDED" and each.by == "user"}
    last: dict[ObjectId, Changed] = {}
    for each in run.history.of(Changed):
        if each.at < at and each.uid in users and f"{each.target.namespace}/{each.target.name}" == request:
            last[each.target] = each
    return any(each.type == "DELETED" or is_terminating(each.obj) for each in last.values())


def excuses_number(run: Run, object_id: ObjectId) -> bool:
    """Return whether the faults of a run explain that there is an object more, or one fewer, than in the reference.

    jump-clock: A schedule runs once more, or not for a while: so do objects that are named by the time.
    """
    return FaultKind.JUMP_CLOCK in _kinds(run) and is_named_by_time(object_id.name)


def excuses_leadership(run: Run, at: float) -> bool:
    """Return whether a replica could not know that it does not lead.

    restore-backup: The Lease goes back as well, and may name a replica that led before. The one that leads notices it
    when it renews the Lease.
    """
    restored = (entry.at for entry in run.history.of(FaultApplied) if entry.fault.kind is FaultKind.RESTORE_BACKUP)
    return any(begin <= at <= begin + _LEASE for begin in restored)


def _kinds(run: Run) -> frozenset[FaultKind]:
    return frozenset(fault.kind for fault in run.schedule)


def lasts_until(run: Run, at: float = inf) -> float:
    """Return the time until which the faults of a run last that began at a time at the latest; 0.0 without any."""
    begun = [entry for entry in run.history.of(FaultApplied) if entry.at <= at]
    return max((entry.at + _duration(entry.fault) for entry in begun), default=0.0)


def _duration(fault: Fault) -> float:
    """Return the seconds that a fault lasts at most."""
    if fault.kind in _DURATIONS:
        return _DURATIONS[fault.kind]
    try:
        return 0.0 if fault.kind is FaultKind.JUMP_CLOCK else fault.seconds
    except ValueError:  # the argument is an object, or there is none
        return 0.0


def shortest_requeue(run: Run) -> float:
    """Return the seconds after which the operator does something because time has passed; infinite if it never does.

    A run with faults waits longer for the world to come to rest than the reference, which goes on at once. So such an
    operator does in it what the reference does later, or never.
    """
    results = (_REQUEUE.match(entry.result) for entry in run.history.of(Reconciled))
    return min((float(match[1]) for match in results if match), default=inf)


def lacks_replaced_child(run: Run) -> bool:
    """Return whether a child is missing whose name a foreign object had.

    No event of an object that the operator does not own makes it reconcile: it need not learn that the name is free.
    """
    return any(target not in run.end.objects for target in run.foreign)


def waiting_retries(run: Run) -> set[str]:
    """Return the reconciles that a fault made fail, and that have not been tried again since the faults were over.

    The wait of a work queue grows to 1000 s, longer than the world waits. What such a reconcile will do is unknown.
    """
    failed: dict[str, float] = {}
    for entry in run.history:
        if isinstance(entry, ProcessChanged) and entry.state in ("killed", "ended", "failed"):
            failed.clear()
        elif isinstance(entry, Reconciled):
            key = f"{entry.controller} {entry.request}"
            failed.pop(key, None)
            if entry.error:
                failed[key] = entry.at
    return {key for key, at in failed.items() if at <= run.faults_over_at}
