"""Excuses: what the faults of a schedule allow a correct operator to do, each with its reason.

Everything else is judged as if there had been no faults.
"""

from __future__ import annotations

import re

from pyctrl import errors
from pyctrl.simulation._history import FaultApplied, Sent
from pyctrl.simulation._oracle.difference import Difference
from pyctrl.simulation._oracle.normal_form import EXTERNAL
from pyctrl.simulation._run import Run
from pyctrl.simulation._schedule import FaultKind

__all__ = ["excuses_difference", "excuses_late_write", "is_honest_failure", "is_programming_error"]

# Errors that only a mistake in the program raises. All others may be honest: an answer that the simulation spoiled, or
# what the operator makes of it. `pyctrl.errors` has some of each.
_PROGRAMMING_ERRORS = frozenset(
    (
        *("ArithmeticError", "AssertionError", "AttributeError", "IndexError", "KeyError", "LookupError", "NameError"),
        *("NotImplementedError", "OverflowError", "RecursionError", "StopIteration", "SyntaxError", "TypeError"),
        *("UnboundLocalError", "UnicodeDecodeError", "UnicodeEncodeError", "ValueError", "ZeroDivisionError"),
        *("ImportError", "ModuleNotFoundError", "ValidationError"),
        *("BuilderError", "DuplicateName", "IndexMissing", "InvalidResult", "NotRegistered"),
        *("PatchError", "QuantityError", "SelectorError"),
    )
)
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


def excuses_difference(run: Run, difference: Difference) -> bool:
    """Return whether the faults of a run explain a difference that a correct operator can do nothing about.

    restore-backup: The server forgets what it had assigned since the backup, such as the uid by which an external
    resource is named. So the external system may have more than the reference.
    """
    kinds = {fault.kind for fault in run.schedule}
    return FaultKind.RESTORE_BACKUP in kinds and difference.object_id.resource == EXTERNAL


def excuses_late_write(run: Run, sent: Sent) -> bool:
    """Return whether a write of a replica that does not lead could not be prevented.

    freeze: A process that stands still between its check of the Lease and the request sends the request when it goes
    on. No client of Kubernetes can prevent that, because the server does not check Leases.
    """
    return any(
        isinstance(entry, FaultApplied)
        and entry.fault.kind is FaultKind.FREEZE
        and entry.process == sent.process
        and entry.fault.point == sent.point
        for entry in run.history
    )
