"""A predicate that rejects the events of a controller's own writes."""

from __future__ import annotations

from pyctrl.api import KubernetesObject
from pyctrl.controller import ObjectChange, Predicate

__all__ = ["OwnWrites"]

REMEMBERED = 4096  # writes whose events have not come yet


class OwnWrites(Predicate):
    """The writes that a reconciler has taken into account; as a predicate it rejects their events.

    A reconcile that writes what it has computed is triggered again by the event of the write, and finds nothing to do.
    Record only those writes after which the reconciler has nothing left to do. Each predicate needs its own instance,
    because an event is rejected once.
    """

    def __init__(self) -> None:
        super().__init__(self._is_from_elsewhere, "not_own_write")
        self._versions: dict[str, None] = {}

    def record(self, written: KubernetesObject) -> None:
        """Reject the event of a write, which returned this object."""
        self._versions[written.metadata.resource_version or ""] = None
        if len(self._versions) > REMEMBERED:  # events are lost when a watch ends
            del self._versions[next(iter(self._versions))]

    def _is_from_elsewhere(self, change: ObjectChange) -> bool:
        if change.after is None or not self._versions:
            return True
        version = str(change.after.version)
        if version not in self._versions:
            return True
        del self._versions[version]
        return False
