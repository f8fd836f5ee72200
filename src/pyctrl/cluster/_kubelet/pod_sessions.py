"""Sessions of clients in the pods of simulated nodes: commands, attached clients, and connections to ports."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from typing import Literal

__all__ = ["PodSession", "PodSessions"]

MOST_SESSIONS = 50  # of a pod


@dataclass(slots=True, kw_only=True)
class PodSession:
    """What a client does in a pod, or has done: a command, an attached client, or a connection to a port.

    Attributes:
        subresource: The subresource of the pod.
        container: The container; "" if none listens at the port.
        command: The command of `exec`.
        port: The port of `portforward`.
        began: The time of the event loop at which it began.
        ended: The time at which it ended; None while it runs.
        exit_code: The exit code of a command that ended.
        error: Why it failed; "" if it did not.
    """

    subresource: Literal["exec", "attach", "portforward"]
    container: str
    command: tuple[str, ...] = ()
    port: int | None = None
    began: float
    ended: float | None = None
    exit_code: int | None = None
    error: str = ""


class PodSessions:
    """The latest sessions of a pod, up to fifty."""

    def __init__(self) -> None:
        self._sessions: deque[PodSession] = deque(maxlen=MOST_SESSIONS)

    @property
    def latest(self) -> Sequence[PodSession]:
        """The sessions in the order in which they began."""
        return tuple(self._sessions)

    async def record(
        self,
        subresource: Literal["exec", "attach", "portforward"],
        container: str,
        running: Awaitable[int | None],
        *,
        command: Sequence[str] = (),
        port: int | None = None,
    ) -> int | None:
        """Wait for a session, and return its exit code."""
        now = asyncio.get_running_loop().time
        session = PodSession(
            subresource=subresource, container=container, command=tuple(command), port=port, began=now()
        )
        self._sessions.append(session)
        try:
            code = await running
        except Exception as error:
            session.error = str(error) or type(error).__name__
            raise
        finally:
            session.ended = now()
        session.exit_code = code if subresource == "exec" else None
        return code
