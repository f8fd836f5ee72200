"""What the log says of events that cannot be written: each thing once, with what to do about it."""

from __future__ import annotations

import logging

from pyctrl.errors import Forbidden, NotFound

__all__ = ["WriteFailureLog"]

log = logging.getLogger("pyctrl.events")


class WriteFailureLog:
    """Says what is wrong when it begins, and that it is over; not again for every event."""

    def __init__(self) -> None:
        self._is_server_away = False
        self._forbidden: set[tuple[str, str]] = set()  # verb and namespace

    def away(self, error: Exception) -> None:
        """Say that the server cannot take events at the moment."""
        if not self._is_server_away:
            self._is_server_away = True
            log.warning("Events wait, the server cannot take them now", extra={"error": str(error)})

    def accepted(self, verb: str, namespace: str, *, waiting: int) -> None:
        """Say that what was wrong is over, if something was."""
        self._forbidden.discard((verb, namespace))
        if self._is_server_away:
            self._is_server_away = False
            log.info("Events are written again", extra={"waiting": waiting})

    def refused(self, verb: str, namespace: str, name: str, error: Exception) -> None:
        """Say that an event is lost, unless its namespace is gone, in which case nobody would look for it."""
        facts = {"namespace": namespace, "event": name, "error": str(error)}
        if isinstance(error, NotFound) or _is_namespace_ending(error):
            log.debug("An event has no namespace to be written to", extra=facts)
        elif not isinstance(error, Forbidden):
            log.error("An event could not be written", extra=facts)
        elif (verb, namespace) not in self._forbidden:
            self._forbidden.add((verb, namespace))
            if error.verb:
                log.error(
                    "Events may not be written until somebody grants this; is EVENTS in the rbac of who tells?",
                    extra=facts | _grant(error, namespace),
                )
            else:
                log.error("Events are refused", extra=facts)  # by a quota, by a policy


def _is_namespace_ending(error: Exception) -> bool:
    return isinstance(error, Forbidden) and any(cause.reason == "NamespaceTerminating" for cause in error.causes)


def _grant(error: Forbidden, namespace: str) -> dict[str, str]:
    """Return the rule that is missing, and the commands that grant it."""
    from pyctrl.rbac import EVENTS, remedy  # here: most programs may write events, and never need it

    grant = remedy(EVENTS.rule, namespace, user=error.user, name="event-writer")
    return {"rule": grant.rule, "commands": "; ".join(grant.commands)}
