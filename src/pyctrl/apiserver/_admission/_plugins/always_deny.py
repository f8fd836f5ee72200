"""Admission plugin AlwaysDeny: rejects every write."""

from __future__ import annotations

from pyctrl.apiserver._admission.attributes import Attributes
from pyctrl.apiserver._admission.chain import Plugin

__all__ = ["AlwaysDeny"]


class AlwaysDeny(Plugin):
    """Rejects every write, for tests of a client's errors."""

    def handles(self, group: str, resource: str) -> bool:
        """Return True: the plugin handles all resources."""
        return True

    def mutate(self, attributes: Attributes) -> None:
        """Reject (403) the write."""
        raise attributes.forbidden("admission control is denying all modifications")
