"""The runner of sources: restarts those that fail, and reports the status of each."""

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
    """The status of a source."""

    READY = "ready"  # synced, without a problem
    SYNCING = "syncing"  # not synced yet
    FAILING = "failing"  # failed, and is retried
    ABSENT = "absent"  # the cluster does not serve its kind
    REFUSED = "refused"  # its kind may not be listed or watched


class SourceRunner:
    """Runs one source until cancelled. A source that raises is restarted after 0 to 30 seconds.

    Args:
        source: the source.
        random: draws the delays.
        fields: the log fields of the controller.
    """

    def __init__(self, source: Source, *, random: Random, fields: Mapping[str, object]) -> None:
        self.source = source
        self._backoff = Backoff(random)
        self.fields: Mapping[str, object] = {**fields, "source": str(source)}
        self._repeated_errors = RepeatedErrors()
        self._error: Exception | None = None

    def reset(self) -> None:
        """Forget that the source was synced, and its last error."""
        self.source.synced.clear()
        self._error = None

    async def run(self, queue: RequestSink, *, is_fatal: bool) -> None:
        """Run the source; with ``is_fatal`` its first failure is raised."""
        if not isinstance(self.source, KindSource):  # which uses time slices and adds a request for each change
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
        self.source.synced.clear()  # it adds everything again
        now = asyncio.get_running_loop().time()
        level = self._repeated_errors.level(repr(error), logging.ERROR, now)
        log.log(level, "Source failed, it will be restarted", extra=self.fields, exc_info=error)

    @property
    def error(self) -> Exception | None:
        """The last error, unless the source was synced since."""
        return None if self.source.synced.is_set() else self._error

    @property
    def status(self) -> SourceStatus:
        """The status of the source."""
        source = self.source
        if source.is_refused:
            return SourceStatus.REFUSED
        if source.is_absent:
            return SourceStatus.ABSENT
        if source.synced.is_set():
            return SourceStatus.READY
        is_failing = source.is_failing and not source.is_elsewhere  # another cluster may be down without a limit
        return SourceStatus.FAILING if self._error is not None or is_failing else SourceStatus.SYNCING

    @property
    def is_dispensable(self) -> bool:
        """Whether the controller works without the source at present, as its kind is optional."""
        return self.source.absence is Absence.IGNORE and self.status in (SourceStatus.ABSENT, SourceStatus.REFUSED)

    @property
    def problem(self) -> str:
        """The reason why it is not ready; "" when none is known."""
        if (error := self.error) is not None:
            return f"{self.source}: {type(error).__name__}: {error}"
        problem = self.source.problem()
        return f"{self.source}: {problem}" if problem else ""


class SourceRunners:
    """Runs all sources of a controller.

    Args:
        name: the name of the controller.
        sources: its sources.
        random: draws delays.
        fields: the log fields of the controller.
    """

    def __init__(self, name: str, sources: Iterable[Source], *, random: Random, fields: Mapping[str, object]) -> None:
        self._name = name
        self._runners: Sequence[SourceRunner] = [
            SourceRunner(source, random=random, fields=fields) for source in sources
        ]

    def reset(self) -> None:
        """Reset each source before another start."""
        for runner in self._runners:
            runner.reset()

    def start(self, group: asyncio.TaskGroup, queue: RequestSink, *, is_fatal: bool) -> list[asyncio.Task[None]]:
        """Start each source in a task of its own."""
        for runner in self._runners:
            log.info("Starting EventSource", extra=runner.fields)
        runs = [(runner.run(queue, is_fatal=is_fatal), f"{self._name}/{runner.source}") for runner in self._runners]
        return [group.create_task(run, name=name) for run, name in runs]

    def late(self) -> list[SourceRunner]:
        """Return the sources that are not synced, and for which the workers must wait."""
        return [runner for runner in self._runners if not runner.source.synced.is_set() and not runner.is_dispensable]

    def lost(self) -> list[SourceRunner]:
        """Return the sources that a running controller lacks: they have failed, or their kind is no longer served."""
        gone = SourceStatus.ABSENT
        return [
            runner
            for runner in self._runners
            if runner.error is not None or (runner.status is gone and runner.source.absence is Absence.FAULT)
        ]

    @property
    def refusals(self) -> str:
        """The sources that may not list or watch although they must, as text; "" when there are none."""
        return describe_problems(
            runner for runner in self._runners if runner.status is SourceStatus.REFUSED and not runner.is_dispensable
        )

    @property
    def waiting_state(self) -> ControllerState:
        """The state of a controller that waits for its sources."""
        late = self.late()
        absent = {runner.source.absence for runner in late if runner.status is SourceStatus.ABSENT}
        if Absence.FAULT in absent:
            return ControllerState.WAITING_FOR_DEFINITION
        if any(runner.status is SourceStatus.FAILING for runner in late):
            return ControllerState.FAILING
        return ControllerState.DORMANT if absent else ControllerState.WAITING_FOR_SOURCES


def describe_problems(runners: Iterable[SourceRunner]) -> str:
    """Return the problems of sources, as far as they are known."""
    return "; ".join(runner.problem for runner in runners if runner.problem)
