# Written by tools/generate_kinds.py from pyctrl/_schemas; change the generator, not this file.
"""The kinds of events/v1 and their parts."""

from pydantic import Field

from pyctrl.api import MicroTime, Time
from pyctrl.kinds._builtin import Kind, Part
from pyctrl.kinds.core.v1 import EventSource, ObjectReference

__all__ = ["Event", "EventSeries"]


class EventSeries(Part):
    """EventSeries contain information on series of events, i.e. thing that was/is happening continuously for some
    time. How often to update the EventSeries is up to the event reporters. The default event reporter in
    "k8s.io/client-go/tools/events/event_broadcaster.go" shows how this struct is updated on heartbeats and can
    guide customized reporter implementations.
    """

    count: int = 0
    """count is the number of occurrences in this series up to the last heartbeat time."""
    last_observed_time: MicroTime | None = None
    """lastObservedTime is the time when last Event from the series was seen before last heartbeat."""


class Event(Kind, group="events.k8s.io", version="v1", plural="events", short_names=("ev",)):
    """Event is a report of an event somewhere in the cluster. It generally denotes some state change in the system.
    Events have a limited retention time and triggers and messages may evolve with time.  Event consumers should
    not rely on the timing of an event with a given Reason reflecting a consistent underlying trigger, or the
    continued existence of events with that Reason.  Events should be treated as informative, best-effort,
    supplemental data.
    """

    action: str | None = None
    """action is what action was taken/failed regarding to the regarding object. It is machine-readable. This field
    cannot be empty for new Events and it can have at most 128 characters.
    """
    deprecated_count: int | None = None
    """deprecatedCount is the deprecated field assuring backward compatibility with core.v1 Event type."""
    deprecated_first_timestamp: Time | None = None
    """deprecatedFirstTimestamp is the deprecated field assuring backward compatibility with core.v1 Event type."""
    deprecated_last_timestamp: Time | None = None
    """deprecatedLastTimestamp is the deprecated field assuring backward compatibility with core.v1 Event type."""
    deprecated_source: EventSource = Field(default_factory=EventSource)
    """deprecatedSource is the deprecated field assuring backward compatibility with core.v1 Event type."""
    event_time: MicroTime | None = None
    """eventTime is the time when this Event was first observed. It is required."""
    note: str | None = None
    """note is a human-readable description of the status of this operation. Maximal length of the note is 1kB, but
    libraries should be prepared to handle values up to 64kB.
    """
    reason: str | None = None
    """reason is why the action was taken. It is human-readable. This field cannot be empty for new Events and it can
    have at most 128 characters.
    """
    regarding: ObjectReference = Field(default_factory=ObjectReference)
    """regarding contains the object this Event is about. In most cases it's an Object reporting controller
    implements, e.g. ReplicaSetController implements ReplicaSets and this event is emitted because it acts on some
    changes in a ReplicaSet object.
    """
    related: ObjectReference | None = None
    """related is the optional secondary object for more complex actions. E.g. when regarding object triggers a
    creation or deletion of related object.
    """
    reporting_controller: str | None = None
    """reportingController is the name of the controller that emitted this Event, e.g. `kubernetes.io/kubelet`. This
    field cannot be empty for new Events.
    """
    reporting_instance: str | None = None
    """reportingInstance is the ID of the controller instance, e.g. `kubelet-xyzf`. This field cannot be empty for
    new Events and it can have at most 128 characters.
    """
    series: EventSeries | None = None
    """series is data about the Event series this event represents or nil if it's a singleton Event."""
    type: str | None = None
    """type is the type of this event (Normal, Warning), new types could be added in the future. It is
    machine-readable. This field cannot be empty for new Events.
    """
