"""The sources of a controller while it runs: each is run again when it fails, and all of them say how far they are."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from random import Random

from pyctrl._backoff import Backoff
from pyctrl._log import RepeatedErrors
from pyctrl.controller._options import Absence
from pyctrl.controller._sources.kind import KindSource
from pyctrl.controller._sources.source import Source
from pyctrl.controller._state import ControllerState
from pyctrl.controller._workqueue.request_sinks import LimitedSink, RequestSink

__all__ = ["SourceRunner", "SourceRunners", "SourceStatus", "describe_problems"]

log = logging.getLogger("pyctrl.controller")


class SourceStatus(Enum):
    """How a source is doing."""

    READY = "ready"  # what is there has been told, and nothing is wrong
    OPENING = "opening"  # it takes its time
    FAILING = "failing"  # something went wrong, and is tried again
    ABSENT = "absent"  # the cluster does not serve its kind
    REFUSED = "refused"  # its kind may not be listed or watched


class SourceRunner:
    """Run one source until cancelled: when it raises, it is run again after 0 to 30 seconds.

    Args:
        source: which.
        random: draws the waits.
        fields: what logs say of the controller.
    """

    def __init__(self, source: Source, *, random: Random, fields: Mapping[str, object]) -> None:
        self.source = source
        self._backoff = Backoff(random)
        self.fields: Mapping[str, object] = {**fields, "source": str(source)}
        self._repeated_errors = RepeatedErrors()
        self._error: Exception | None = None

    def reset(self) -> None:
        """Forget what it has told, and what went wrong."""
        self.source.synced.clear()
        self._error = None

    async def run(self, queue: RequestSink, *, is_fatal: bool) -> None:
        """Let the source fill a queue; with ``is_fatal`` its first failure is raised."""
        if not isinstance(self.source, KindSource):  # that one works in slices, and adds a request for each change
            queue = LimitedSink(str(self.source), queue)
        while True:
            try:
                await self.source.run(queue)
            except Exception as error:
                if is_fatal and not self.source.is_elsewhere:
                    raise
                self._take(error)
            else:
                return
            await asyncio.sleep(self._backoff.next(asyncio.get_running_loop().time()))

    def _take(self, error: Exception) -> None:
        self._error = error
        self.source.synced.clear()  # it will tell anew
        now = asyncio.get_running_loop().time()
        level = self._repeated_errors.level(repr(error), logging.ERROR, now)
        log.log(level, "A source failed and will be started again", extra=self.fields, exc_info=error)

    @property
    def error(self) -> Exception | None:
        """What it failed of, unless it has worked since."""
        return None if self.source.synced.is_set() else self._error

    @property
    def status(self) -> SourceStatus:
        """How it is doing."""
        source = self.source
        if source.is_refused:
            return SourceStatus.REFUSED
        if source.is_absent:
            return SourceStatus.ABSENT
        if source.synced.is_set():
            return SourceStatus.READY
        is_failing = (
            source.is_failing and not source.is_elsewhere
        )  # another cluster may be down for as long as it likes
        return SourceStatus.FAILING if self._error is not None or is_failing else SourceStatus.OPENING

    @property
    def is_dispensable(self) -> bool:
        """Whether the controller works without it at this moment, and nothing is wrong with that."""
        return self.source.absence is Absence.IGNORE and self.status in (SourceStatus.ABSENT, SourceStatus.REFUSED)

    @property
    def problem(self) -> str:
        """Say what keeps it from being ready; "" when nothing is known."""
        if (error := self.error) is not None:
            return f"{self.source}: {type(error).__name__}: {error}"
        problem = self.source.problem()
        return f"{self.source}: {problem}" if problem else ""


class SourceRunners:
    """All sources of a controller.

    Args:
        name: of the controller.
        sources: which.
        random: draws waits.
        fields: what logs say of the controller.
    """

    def __init__(self, name: str, sources: Iterable[Source], *, random: Random, fields: Mapping[str, object]) -> None:
        self._name = name
        self._runners: Sequence[SourceRunner] = [
            SourceRunner(source, random=random, fields=fields) for source in sources
        ]

    def reset(self) -> None:
        """Forget what was told: they will be started again."""
        for runner in self._runners:
            runner.reset()

    def start(self, group: asyncio.TaskGroup, queue: RequestSink, *, is_fatal: bool) -> list[asyncio.Task[None]]:
        """Start all of them in a task each."""
        for runner in self._runners:
            log.info("Starting EventSource", extra=runner.fields)
        runs = [(runner.run(queue, is_fatal=is_fatal), f"{self._name}/{runner.source}") for runner in self._runners]
        return [group.create_task(run, name=name) for run, name in runs]

    def late(self) -> list[SourceRunner]:
        """Return those that have not told what is there and ought to, before anything is reconciled."""
        return [runner for runner in self._runners if not runner.source.synced.is_set() and not runner.is_dispensable]

    def lost(self) -> list[SourceRunner]:
        """Return those that a controller lacks that is at work: of kinds that are gone, and who have failed."""
        gone = SourceStatus.ABSENT
        return [
            runner
            for runner in self._runners
            if runner.error is not None or (runner.status is gone and runner.source.absence is Absence.FAULT)
        ]

    @property
    def refusals(self) -> str:
        """Which of them may not list or watch, in words; "" when all that has to may."""
        return describe_problems(
            runner for runner in self._runners if runner.status is SourceStatus.REFUSED and not runner.is_dispensable
        )

    @property
    def waiting_state(self) -> ControllerState:
        """What a controller does that waits for those that are late."""
        late = self.late()
        absent = {runner.source.absence for runner in late if runner.status is SourceStatus.ABSENT}
        if Absence.FAULT in absent:
            return ControllerState.WAITING_FOR_DEFINITION
        if any(runner.status is SourceStatus.FAILING for runner in late):
            return ControllerState.FAILING
        return ControllerState.DORMANT if absent else ControllerState.WAITING_FOR_SOURCES


def describe_problems(runners: Iterable[SourceRunner]) -> str:
    """Say what is wrong with sources, as far as is known."""
    return "; ".join(runner.problem for runner in runners if runner.problem)
