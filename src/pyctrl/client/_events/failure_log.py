"""Log of events that cannot be written, with one line for each cause and the remedy."""

from __future__ import annotations

import logging

from pyctrl.errors import Forbidden, NotFound

__all__ = ["WriteFailureLog"]

log = logging.getLogger("pyctrl.events")


class WriteFailureLog:
    """Logger of the start and the end of failures, not of each event."""

    def __init__(self) -> None:
        self._is_server_away = False
        self._forbidden: set[tuple[str, str]] = set()  # verb and namespace

    def away(self, error: Exception) -> None:
        """Log that the server is unavailable."""
        if not self._is_server_away:
            self._is_server_away = True
            log.warning("Server unavailable, keeping events", extra={"error": str(error)})

    def accepted(self, verb: str, namespace: str, *, waiting: int) -> None:
        """Log the end of a failure, if there was one."""
        self._forbidden.discard((verb, namespace))
        if self._is_server_away:
            self._is_server_away = False
            log.info("Resumed writing events", extra={"waiting": waiting})

    def refused(self, verb: str, namespace: str, name: str, error: Exception) -> None:
        """Log that an event is lost; at debug level if its namespace is gone or terminating."""
        facts = {"namespace": namespace, "event": name, "error": str(error)}
        if isinstance(error, NotFound) or _is_namespace_ending(error):
            log.debug("Dropped event of a deleted namespace", extra=facts)
        elif not isinstance(error, Forbidden):
            log.error("Unable to write event", extra=facts)
        elif (verb, namespace) not in self._forbidden:
            self._forbidden.add((verb, namespace))
            if error.verb:
                log.error(
                    "Events are forbidden: grant this rule, and add EVENTS to the rbac of the controller",
                    extra=facts | _grant(error, namespace),
                )
            else:
                log.error("Events rejected by admission", extra=facts)  # a quota or a policy


def _is_namespace_ending(error: Exception) -> bool:
    return isinstance(error, Forbidden) and any(cause.reason == "NamespaceTerminating" for cause in error.causes)


def _grant(error: Forbidden, namespace: str) -> dict[str, str]:
    """Return the missing rule and the commands that grant it."""
    from pyctrl.rbac import EVENTS, remedy  # here: programs with the permission do not need it

    grant = remedy(EVENTS.rule, namespace, user=error.user, name="event-writer")
    return {"rule": grant.rule, "commands": "; ".join(grant.commands)}
