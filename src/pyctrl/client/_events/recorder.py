"""Event recorder: records the events of a controller, which ``kubectl describe`` shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyctrl.api import ObjectLike, as_object
from pyctrl.client._events.backlog import RecordedEvent
from pyctrl.client._events.texts import qualified_name, reporting_instance, truncate

if TYPE_CHECKING:
    from pyctrl.client._events.writer import EventWriter

__all__ = ["EventRecorder"]

#: The default action of an event; kube-apiserver requires one.
ACTION = "Reconcile"
WORD_BYTES = 128  # of a reason and an action (ReasonLengthLimit, ActionLengthLimit of its validation)


class EventRecorder:
    """Recorder of one controller's events. `EventWriter` writes them in the background.

        self.recorder.normal(podset, "ScaledUp", f"Created {missing} pods")
        self.recorder.warning(claim, "InvalidSize", "Size must be set. Got None.")

    Its methods do not wait and do not raise errors of the cluster, so recording never fails a reconcile. Call them in
    the event loop. An event repeated within six minutes increments the count of one Event.
    """

    def __init__(self, writer: EventWriter, controller_name: str) -> None:
        self._writer = writer
        #: The ``reportingController``: the controller's name, with invalid characters replaced.
        self.reporting_controller: str = qualified_name(controller_name)
        #: The ``reportingInstance``: the ``reportingController`` with the name of the host.
        self.reporting_instance: str = reporting_instance(self.reporting_controller, writer.host)

    def normal(
        self, obj: ObjectLike, reason: str, message: str, *, action: str = ACTION, related: ObjectLike | None = None
    ) -> None:
        """Record an event of type Normal.

        Args:
            obj: the object that the event is about. The Event is created in its namespace, or in ``default``.
            reason: the reason, one word in CamelCase, such as ``Created``.
            message: a sentence that describes the event; beyond 1024 bytes it is truncated.
            action: the action of the controller, one word in CamelCase.
            related: a related object, such as the one that was created.
        """
        self._record("Normal", obj, reason, message, action, related)

    def warning(
        self, obj: ObjectLike, reason: str, message: str, *, action: str = ACTION, related: ObjectLike | None = None
    ) -> None:
        """Record an event of type Warning. The arguments are those of `normal`."""
        self._record("Warning", obj, reason, message, action, related)

    def _record(
        self, type: str, obj: ObjectLike, reason: str, message: str, action: str, related: ObjectLike | None
    ) -> None:
        event = RecordedEvent(
            controller=self.reporting_controller,
            instance=self.reporting_instance,
            type=type,
            reason=truncate(reason or type, WORD_BYTES),
            action=truncate(action or ACTION, WORD_BYTES),
            obj=as_object(obj),
            message=str(message),  # callers may pass an exception
            related=None if related is None else as_object(related),
        )
        self._writer.add(event)
