"""Details of the pods of an object: the ends of their logs, and what clients run in them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyctrl.api import Key
from pyctrl.client import Client, read_logs
from pyctrl.cluster import PodSession
from pyctrl.dev._durations import ago, duration_text
from pyctrl.dev._session import DevSession
from pyctrl.errors import PyctrlError

__all__ = ["ContainerDetails", "PodDetails", "SessionRow", "session_row", "take_pod_details"]

MOST_PODS = 20  # of one object
MOST_LINES = 8  # of the log of one container
MOST_SESSIONS = 10  # of one pod


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRow:
    """A session of a client in a pod: what it does, and its result: ``exit code 1 after 20 ms``."""

    container: str
    action: str
    last: str
    result: str
    is_failed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerDetails:
    """A container: its state, and the last lines of its log."""

    name: str
    state: str
    log: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PodDetails:
    """A pod: its phase, its containers, and the latest sessions of clients, the newest first."""

    name: str
    phase: str
    containers: tuple[ContainerDetails, ...]
    sessions: tuple[SessionRow, ...]


async def take_pod_details(session: DevSession, pods: Sequence[Mapping[str, Any]]) -> tuple[PodDetails, ...]:
    """Return the details of pods, of the first twenty."""
    return tuple([await _pod(session, each) for each in pods[:MOST_PODS]])


async def _pod(session: DevSession, pod: Mapping[str, Any]) -> PodDetails:
    metadata, status = pod["metadata"], pod.get("status") or {}
    key = Key(metadata["namespace"], metadata["name"])
    fields = ("initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses")
    statuses = [each for field in fields for each in status.get(field) or ()]
    now = asyncio.get_running_loop().time()
    latest = list(reversed(session.cluster.pod_sessions(key)))[:MOST_SESSIONS]
    return PodDetails(
        name=metadata["name"],
        phase="deleting" if metadata.get("deletionTimestamp") else str(status.get("phase") or ""),
        containers=tuple([await _container(session.admin, key, each) for each in statuses]),
        sessions=tuple(session_row(each, now) for each in latest),
    )


async def _container(client: Client, pod: Key, status: Mapping[str, Any]) -> ContainerDetails:
    try:
        log = await read_logs(client, pod, container=status["name"], tail_lines=MOST_LINES)
    except PyctrlError:  # not started, or the pod was deleted meanwhile
        log = ""
    return ContainerDetails(name=status["name"], state=_state(status), log=tuple(log.splitlines()))


def _state(status: Mapping[str, Any]) -> str:
    """Return the state of a container as kubectl describes it: ``Running``, ``CrashLoopBackOff``, ``Completed``."""
    state: Mapping[str, Any] = status.get("state") or {}
    reason = next((each["reason"] for each in state.values() if each and each.get("reason")), "")
    restarts = status.get("restartCount") or 0
    text = str(reason or ("Running" if "running" in state else "Waiting"))
    return f"{text}, {restarts} restart{'s' * (restarts > 1)}" if restarts else text


def session_row(session: PodSession, now: float) -> SessionRow:
    """Return the row of a session at a time of the event loop."""
    took = duration_text((now if session.ended is None else session.ended) - session.began)
    if session.error:
        result = f"failed: {session.error}"
    elif session.ended is None:
        result = f"running for {took}"
    elif session.exit_code is not None:
        result = f"exit code {session.exit_code} after {took}"
    else:
        result = f"ended after {took}"
    return SessionRow(
        container=session.container,
        action=_action(session),
        last=ago(now - session.began),
        result=result,
        is_failed=bool(session.error or session.exit_code),
    )


def _action(session: PodSession) -> str:
    if session.subresource == "exec":
        return "exec " + " ".join(" ".join(session.command).split())
    return "attach" if session.subresource == "attach" else f"port-forward {session.port}"
