"""Admission plugin DenyServiceExternalIPs: Services get no new external IPs."""

from __future__ import annotations

from pyctrl.apiserver._admission.attributes import Attributes
from pyctrl.apiserver._admission.chain import Plugin

__all__ = ["DenyServiceExternalIPs"]


class DenyServiceExternalIPs(Plugin):
    """Rejects Services with external IPs that they did not have before."""

    def handles(self, group: str, resource: str) -> bool:
        """Return whether the resource is services."""
        return (group, resource) == ("", "services")

    def validate(self, attributes: Attributes) -> None:
        """Reject (403) new external IPs."""
        if attributes.subresource or attributes.object is None:
            return
        new = attributes.object["spec"].get("externalIPs") or ()
        old = ((attributes.old or {}).get("spec") or {}).get("externalIPs") or ()
        if not set(new) <= set(old):
            raise attributes.forbidden("Use of external IPs is denied by admission control")
