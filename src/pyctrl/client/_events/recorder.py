"""The event recorder: what a controller did to an object, told where ``kubectl describe`` shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyctrl.api import Object
from pyctrl.client._events.backlog import RecordedEvent
from pyctrl.client._events.texts import qualified_name, reporting_instance, truncate

if TYPE_CHECKING:
    from pyctrl.client._events.writer import EventWriter

__all__ = ["EventRecorder"]

#: What the action of an event is unless it says otherwise: kube-apiserver wants one.
ACTION = "Reconcile"
WORD_BYTES = 128  # of a reason and an action (ReasonLengthLimit, ActionLengthLimit of its validation)


class EventRecorder:
    """Tells of objects in the name of one controller; `EventWriter` writes it when there is time.

        self.recorder.normal(podset, "ScaledUp", f"Created {missing} pods")
        self.recorder.warning(claim, "InvalidSize", "Size must be set. Got None.")

    Neither method waits, and neither raises because of the cluster: telling never fails a reconcile. Both are to be
    called where the event loop runs. The same told again within six minutes counts up one Event.
    """

    def __init__(self, writer: EventWriter, controller_name: str) -> None:
        self._writer = writer
        #: The ``reportingController``: the controller's name, with what the server does not take replaced.
        self.reporting_controller: str = qualified_name(controller_name)
        #: The ``reportingInstance``: the same with the name of the host.
        self.reporting_instance: str = reporting_instance(self.reporting_controller, writer.host)

    def normal(
        self, obj: Object, reason: str, message: str, *, action: str = ACTION, related: Object | None = None
    ) -> None:
        """Tell of something that went as it should.

        Args:
            obj: what it happened to. The Event is made in its namespace, or in ``default``.
            reason: why, in one word of CamelCase that one can search for, such as ``Created``.
            message: what happened, in a sentence; beyond 1024 bytes it is cut off.
            action: what was being done, in one word.
            related: another object that has to do with it, such as the one that was created.
        """
        self._tell("Normal", obj, reason, message, action, related)

    def warning(
        self, obj: Object, reason: str, message: str, *, action: str = ACTION, related: Object | None = None
    ) -> None:
        """Tell of something that somebody should look at. Arguments as of `normal`."""
        self._tell("Warning", obj, reason, message, action, related)

    def _tell(self, type: str, obj: Object, reason: str, message: str, action: str, related: Object | None) -> None:
        told = RecordedEvent(
            controller=self.reporting_controller,
            instance=self.reporting_instance,
            type=type,
            reason=truncate(reason or type, WORD_BYTES),
            action=truncate(action or ACTION, WORD_BYTES),
            obj=obj,
            message=str(message),  # an exception is easily passed, and the wrong moment to fail for it
            related=related,
        )
        self._writer.tell(told)
