"""The queue against a simple model: no request is lost or runs twice at once, and deadlines are kept."""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager
from datetime import timedelta

import hypothesis.strategies as st
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from pyctrl.controller._request import Request
from pyctrl.controller._workqueue.priority_heap import PriorityHeap
from pyctrl.controller._workqueue.queue import Queue
from pyctrl.controller._workqueue.rate_limiters import ExponentialBackoff
from pyctrl.controller._workqueue.work_item import WorkItem
from pyctrl.testing import VirtualTimeLoop

REQUESTS = [Request("default", name) for name in "abcd"]
requests = st.sampled_from(REQUESTS)
priorities = st.sampled_from([-100, 0, 5])
delays = st.sampled_from([1, 2, 3, 10, 100])


class Wanted:
    """The model of one request: its deadlines and whether a worker has it."""

    def __init__(self) -> None:
        self.deadlines: dict[str, tuple[float, int]] = {}
        self.failures = 0
        self.at_work = False
        self.is_gone = False

    def want(self, reason: str, due: float, priority: int) -> None:
        if reason in self.deadlines:
            known_due, known_priority = self.deadlines[reason]
            due, priority = min(due, known_due), max(priority, known_priority)
        self.deadlines[reason] = (due, priority)

    def priority(self, now: float) -> int | None:
        """Return the priority at which the request is ready, or None."""
        due = [priority for due, priority in self.deadlines.values() if due <= now]
        return max(due) if due and not self.at_work else None


class QueueAgainstModel(RuleBasedStateMachine):
    @initialize()
    def begin(self) -> None:
        self.loop = VirtualTimeLoop()
        limiter = ExponentialBackoff(first=timedelta(seconds=1), jitter=0)
        self.queue = Queue("model", limiter=limiter, ready=PriorityHeap(patience=timedelta.max))
        self.model = {request: Wanted() for request in REQUESTS}
        self.turns: list[tuple[AbstractAsyncContextManager[WorkItem], WorkItem, dict[str, tuple[float, int]]]] = []

    def now(self) -> float:
        return self.loop.time()

    def ready(self) -> dict[Request, int]:
        found = {request: wanted.priority(self.now()) for request, wanted in self.model.items()}
        return {request: priority for request, priority in found.items() if priority is not None}

    @rule(request=requests, priority=priorities, is_gone=st.booleans())
    def add(self, request: Request, priority: int, is_gone: bool) -> None:
        async def add() -> None:
            self.queue.add(request, priority=priority, is_gone=is_gone)

        self.loop.run_until_complete(add())
        self.model[request].want("asked", self.now(), priority)
        self.model[request].is_gone |= is_gone

    @rule(request=requests, priority=priorities, delay=delays)
    def add_later(self, request: Request, priority: int, delay: int) -> None:
        async def add() -> None:
            self.queue.add(request, priority=priority, after=timedelta(seconds=delay))

        self.loop.run_until_complete(add())
        self.model[request].want("later", self.now() + delay, priority)

    @rule(delay=delays)
    def pass_time(self, delay: int) -> None:
        self.loop.run_until_complete(asyncio.sleep(delay))

    @precondition(lambda self: self.ready())
    @rule()
    def take(self) -> None:
        context = self.queue.take()
        turn = self.loop.run_until_complete(context.__aenter__())
        ready = self.ready()
        assert turn.request in ready, "not wanted, not due, or worked on already"
        assert turn.priority == ready[turn.request] == max(ready.values())
        wanted = self.model[turn.request]
        assert turn.failures == wanted.failures
        taken = {reason: entry for reason, entry in wanted.deadlines.items() if entry[0] <= self.now()}
        for reason in taken:
            del wanted.deadlines[reason]
        if "asked" in taken and wanted.is_gone:
            wanted.deadlines.pop("timer", None)
            wanted.is_gone = False
        wanted.at_work = True
        self.turns.append((context, turn, taken))

    @precondition(lambda self: self.turns)
    @rule(
        which=st.integers(0, 3),
        outcome=st.sampled_from(["done", "after", "fail", "give up", "cancelled"]),
        delay=delays,
    )
    def finish(self, which: int, outcome: str, delay: int) -> None:
        context, turn, taken = self.turns.pop(which % len(self.turns))
        wanted = self.model[turn.request]
        wanted.at_work = False
        match outcome:
            case "done":
                turn.succeed()
            case "after":
                turn.succeed(requeue_after=timedelta(seconds=delay))
                wanted.deadlines["timer"] = (self.now() + delay, turn.priority)
            case "fail":
                turn.fail(ValueError())
                if wanted.deadlines.get("retry", (0.0, 0))[0] <= self.now():
                    wanted.deadlines["retry"] = (self.now() + min(1000, 2**wanted.failures), turn.priority)
                    wanted.failures += 1
            case "give up":
                turn.give_up()
            case "cancelled":
                for reason, (due, priority) in taken.items():
                    wanted.want(reason, due, priority)
        if outcome in {"done", "after", "give up"}:
            wanted.failures = 0
            wanted.deadlines.pop("retry", None)
        self.loop.run_until_complete(context.__aexit__(None, None, None))

    @invariant()
    def they_agree(self) -> None:
        if not hasattr(self, "queue"):
            return

        async def agree() -> None:
            statistics = self.queue.statistics()
            assert statistics.ready == len(self.ready())
            assert statistics.working == len(self.turns) == len({turn.request for _, turn, _ in self.turns})
            wanted = {request for request, entry in self.model.items() if entry.deadlines}
            assert set(self.queue.remaining()) == wanted

        self.loop.run_until_complete(agree())

    def teardown(self) -> None:
        if hasattr(self, "loop"):
            self.loop.close()


TestQueueAgainstModel = QueueAgainstModel.TestCase
TestQueueAgainstModel.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
