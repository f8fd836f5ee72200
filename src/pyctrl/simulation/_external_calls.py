"""Carries calls of the operator to external systems; faults may happen there."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from pyctrl.simulation._external import Failure
from pyctrl.simulation._history import Called
from pyctrl.simulation._loop import current_process, simulation_loop
from pyctrl.simulation._operator_transport import running_line, running_reconcile
from pyctrl.simulation._schedule import Fault, FaultKind, Occasion

if TYPE_CHECKING:
    from pyctrl.simulation._process import Process
    from pyctrl.simulation._world import World

__all__ = ["ExternalCalls"]

LATENCY = 0.02  # seconds of a call, there and back
TIMEOUT = 30.0  # seconds after which a call without an answer fails

Effect = Callable[[], Awaitable[Any]]


class ExternalCalls:
    """Carrier of all external calls of a world. A call is executed although its caller freezes or dies."""

    def __init__(self, world: World) -> None:
        self._world = world
        #: Calls that the operator waits for.
        self.under_way = 0

    async def call(self, name: str, text: str, effect: Effect, failure: Failure) -> Any:
        """Carry out one call."""
        context = current_process.get()
        process = next((each for each in self._world.processes if each.context_name == context), None)
        if process is None:  # the user, or an invariant
            await asyncio.sleep(LATENCY)
            return await effect()
        point, faults = self._world.injector.reached(Occasion.CALL, name, process.name)
        kinds = {fault.kind for fault in faults}
        if FaultKind.CRASH_BEFORE in kinds:
            process.kill()
        entry = Called(process=process.name, point=point, call=text, reconcile=running_reconcile(), line=running_line())
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        if process.is_alive:
            simulation_loop().start_task(
                "", self._carry(process, entry, effect, failure, faults, answer), f"call of {context}"
            )
        return await answer

    async def _carry(
        self,
        process: Process,
        entry: Called,
        effect: Effect,
        failure: Failure,
        faults: tuple[Fault, ...],
        answer: asyncio.Future[Any],
    ) -> None:
        self.under_way += 1
        try:
            result, error = await self._execute(process, entry, effect, failure, faults)
        finally:
            self.under_way -= 1
            self._world.touch()
        if error is not None:
            entry.error = f"{type(error).__name__}: {error}"
        self._world.note(entry)
        if FaultKind.CRASH_DURING in {fault.kind for fault in faults}:
            process.kill()
        if answer.done():
            return
        if error is None:
            answer.set_result(result)
        else:
            answer.set_exception(error)
            answer.exception()  # marks it as retrieved: a caller that died never does
        for fault in faults:
            if fault.kind is FaultKind.CRASH_AFTER:
                self._world.call_soon(lambda: self._world.call_soon(process.kill))
            elif fault.kind is FaultKind.FREEZE:
                process.freeze(fault.seconds)

    async def _execute(
        self, process: Process, entry: Called, effect: Effect, failure: Failure, faults: tuple[Fault, ...]
    ) -> tuple[Any, Exception | None]:
        """Return the result, or the error that the caller gets; count the effects."""
        entry.effects = 0
        lost = False
        times = 1
        await asyncio.sleep(LATENCY / 2)
        for fault in faults:
            match fault.kind:
                case FaultKind.CALL_FAILS:
                    return None, failure(f"{entry.call} failed (simulation)")
                case FaultKind.CALL_SLOW:
                    await asyncio.sleep(fault.seconds)
                case FaultKind.TIMEOUT:
                    await asyncio.sleep(TIMEOUT)
                    return None, failure(f"{entry.call} had no answer within {TIMEOUT:g} s (simulation)")
                case FaultKind.ANSWER_LOST:
                    lost = True
                case FaultKind.CALL_TWICE:
                    times = 2
                case FaultKind.FREEZE:
                    pass
                case _:
                    self._world.faults.apply(fault, process)
        result: Any = None
        try:
            for _ in range(times):
                result = await effect()
                entry.effects += 1
        except Exception as error:  # noqa: BLE001 - of the fake: the caller gets it
            if not entry.effects:
                return None, error
        await asyncio.sleep(LATENCY / 2)
        if lost:
            return None, failure(f"the answer to {entry.call} was lost (simulation)")
        return result, None
