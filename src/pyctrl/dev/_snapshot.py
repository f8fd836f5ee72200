"""State of a session at one moment: statistics of its controllers, their queues, and the objects of their kinds."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pyctrl._json import decode_json
from pyctrl.api import GroupVersionKind
from pyctrl.client import HttpRequest, path_for
from pyctrl.controller import ControllerStatistics, Request
from pyctrl.dev._requirements import controllers_of
from pyctrl.dev._session import DevSession
from pyctrl.dev._state import Problem, SessionState
from pyctrl.errors import DecodeError, PyctrlError

__all__ = ["ControllerSnapshot", "Snapshot", "take_snapshot"]

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
MOST_OBJECTS = 200  # requested of each kind
MOST_QUEUED = 1000  # pending requests whose deadlines are read


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerSnapshot:
    """A controller.

    Attributes:
        why_not_ready: why it is not ready; "" if it is.
        due: the seconds until each pending request runs; 0 or less if it is ready.
    """

    state: str
    why_not_ready: str
    statistics: ControllerStatistics
    due: Mapping[Request, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A session.

    Attributes:
        now: the time of the event loop.
        tables: for each kind the name of its controller, the kind, and the server's ``meta.k8s.io/v1`` Table.
    """

    now: float
    name: str
    state: SessionState = SessionState.RUNNING
    reloads: int = 0
    problems: Sequence[Problem] = ()
    controllers: Mapping[str, ControllerSnapshot] = field(default_factory=dict)
    tables: Sequence[tuple[str, GroupVersionKind, Mapping[str, Any]]] = ()


async def take_snapshot(session: DevSession) -> Snapshot:
    """Return the state of a session, with Tables of the kinds that its controllers reconcile."""
    requirements, tables = session.requirements, []
    for controller, kind in requirements.kinds.items() if requirements is not None else ():
        if (table := await _table(session, kind)) is not None:
            tables.append((controller, kind, table))
    running = controllers_of(session.manager) if session.manager is not None else []
    return Snapshot(
        now=asyncio.get_running_loop().time(),
        name=session.name,
        state=session.state,
        reloads=session.reloads,
        problems=session.problems,
        controllers={
            each.name: ControllerSnapshot(
                state=each.state.value,
                why_not_ready=each.why_not_ready,
                statistics=each.statistics(),
                due={item.request: item.due for item in each.queue.items(MOST_QUEUED)},
            )
            for each in running
        },
        tables=tables,
    )


async def _table(session: DevSession, kind: GroupVersionKind) -> Mapping[str, Any] | None:
    """Request the objects of a kind as kubectl does; None if it is not served, or a webhook fails."""
    try:
        path = path_for(await session.admin.discovery.mapping(kind), "")
        query = (("limit", str(MOST_OBJECTS)),)
        answer = await session.admin.transport.request(
            HttpRequest(method="GET", path=path, query=query, headers={"Accept": TABLE})
        )
        found = decode_json(answer.body)
    except (PyctrlError, DecodeError):
        return None
    return found if answer.status == 200 and isinstance(found, dict) else None
