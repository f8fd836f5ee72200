"""The causes of a reconcile, for logs and tests, but not for the logic of a reconciler.

A reconciler that acts on the cause instead of the state breaks when two changes are merged into one run, or when an
event is missed. So causes are not an argument of ``reconcile``. Log lines have them, and `reconcile_causes` returns
them to tests.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Literal

import msgspec
from msgspec.structs import replace

from pyctrl._log import current_log_context
from pyctrl.api import GroupVersionKind, Key

__all__ = [
    "ChangeCause",
    "OmittedCauses",
    "ReconcileCause",
    "RetryCause",
    "TimerCause",
    "TriggerCause",
    "cause_label",
    "merge",
    "reconcile_causes",
    "remember",
]

#: Distinct causes kept for one run; what is beyond is counted. 16 fill a line of a log.
LIMIT = 16
LONGEST_SUMMARY = 300  # characters; a Forbidden with its request has 250


class ChangeCause(msgspec.Struct, frozen=True, gc=False):  # one is made for every change: six times as fast
    """An object changed, ``times`` times in the same way; ``version`` is its newest resource version.

    ``owner_uids`` are the uids of the owners of an object that was deleted. ``was_read``: the change counts because
    the last reconcile has read the object, or a list that contains it.
    """

    kind: GroupVersionKind
    key: Key
    change: Literal["created", "updated", "deleted"]
    version: str
    initial: bool = False
    times: int = 1
    cluster: str = ""
    owner_uids: tuple[str, ...] = ()
    was_read: bool = False

    def __str__(self) -> str:
        how = "listed" if self.initial else self.change
        often = f" ×{self.times}" if self.times > 1 else ""
        where = f" in {self.cluster}" if self.cluster else ""
        why = ", which this reconcile read" if self.was_read else ""
        return f"{self.kind.kind} {self.key}{where} {how}{often} (version {self.version}){why}"


class RetryCause(msgspec.Struct, frozen=True, gc=False):
    """The last reconcile failed, and its backoff is over; ``error`` is the `error_summary` of its error."""

    failures: int
    error: str

    def __str__(self) -> str:
        return f"retry {self.failures} after {self.error}"


class TimerCause(msgspec.Struct, frozen=True, gc=False):
    """An earlier run returned a delay, which is over."""

    after: timedelta

    def __str__(self) -> str:
        return f"requeued after {self.after}"


class TriggerCause(msgspec.Struct, frozen=True, gc=False):
    """A source other than a kind added the request: a channel, a tick, the user's own code."""

    source: str
    times: int = 1

    def __str__(self) -> str:
        often = f" ×{self.times}" if self.times > 1 else ""
        return f"{self.source}{often}"


class OmittedCauses(msgspec.Struct, frozen=True, gc=False):
    """The number of older causes, of which only `LIMIT` are kept."""

    times: int

    def __str__(self) -> str:
        return f"and {self.times} earlier"


ReconcileCause = ChangeCause | RetryCause | TimerCause | TriggerCause | OmittedCauses


def reconcile_causes() -> tuple[ReconcileCause, ...]:
    """Return the causes of the current reconcile, oldest first; empty outside of a reconcile."""
    causes = current_log_context().get("causes", ())  # a context variable of its own would cost a microsecond
    return causes if isinstance(causes, tuple) else ()


def remember(causes: tuple[ReconcileCause, ...], cause: ReconcileCause) -> tuple[ReconcileCause, ...]:
    """Add a cause: a repeated one is counted, and the oldest beyond `LIMIT` become an `OmittedCauses`."""
    for place, known in enumerate(causes):
        if (again := _repeated(known, cause)) is not None:
            return (*causes[:place], *causes[place + 1 :], again)
    if len(causes) < LIMIT:
        return (*causes, cause)
    first, second, *rest = causes
    if isinstance(first, OmittedCauses):
        return (OmittedCauses(first.times + _times(second)), *rest, cause)
    return (OmittedCauses(_times(first) + _times(second)), *rest, cause)


def merge(causes: tuple[ReconcileCause, ...], more: tuple[ReconcileCause, ...]) -> tuple[ReconcileCause, ...]:
    """Add several causes, in order."""
    if not causes:
        return more
    for cause in more:
        causes = remember(causes, cause)
    return causes


_LABELS = {RetryCause: "retry", TimerCause: "timer", TriggerCause: "trigger", OmittedCauses: "omitted"}


def cause_label(cause: ReconcileCause) -> str:
    """Return the type of a cause: created, updated, deleted, listed, retry, timer, trigger or omitted."""
    if isinstance(cause, ChangeCause):
        return "listed" if cause.initial else cause.change
    return _LABELS[type(cause)]


def _repeated(known: ReconcileCause, cause: ReconcileCause) -> ReconcileCause | None:
    """Return the newer of two equal causes with both counted, or None if they differ."""
    match known, cause:
        case ChangeCause(), ChangeCause() if (known.kind, known.key, known.change, known.cluster) == (
            cause.kind,
            cause.key,
            cause.change,
            cause.cluster,
        ):
            if known.was_read != cause.was_read and known.version == cause.version:
                return known if cause.was_read else cause  # one change, by two sources of the controller
            return replace(cause, times=known.times + cause.times, initial=known.initial and cause.initial)
        case (TriggerCause(), TriggerCause()) if known.source == cause.source:
            return replace(cause, times=known.times + cause.times)
        case (OmittedCauses(), OmittedCauses()):
            return OmittedCauses(known.times + cause.times)
    return None


def _times(cause: ReconcileCause) -> int:
    return cause.times if isinstance(cause, ChangeCause | TriggerCause | OmittedCauses) else 1


def error_summary(error: BaseException) -> str:
    """Return one line about an error. Keeping the error itself would keep its frames, and the objects in them."""
    text = " ".join(str(error).split())
    if len(text) > LONGEST_SUMMARY:
        text = f"{text[: LONGEST_SUMMARY - 1]}…"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
