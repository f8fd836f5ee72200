"""Access to devices as an administrator, which claims may request in namespaces with a label."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from pyctrl.apiserver._errors import FieldError, field_forbidden
from pyctrl.apiserver._registry.strategy import Object
from pyctrl.apiserver._schema.schema import JSON

if TYPE_CHECKING:
    from pyctrl.apiserver._storage.storage import Collection, Storage

__all__ = ["AdminAccess"]

_LABEL: Final = "resource.kubernetes.io/admin-access"


class AdminAccess:
    """Checks claims by the labels of the namespaces of one server. Without a server, each namespace has the label."""

    def __init__(self) -> None:
        self._namespaces: Collection | None = None

    def use(self, storage: Storage) -> None:
        """Read the namespaces of a server from now on."""
        self._namespaces = storage.collection("", "namespaces")

    def check_claim(self, new: Object, old: Object | None) -> Iterator[FieldError]:
        """Check the requests of a new claim; they do not change later."""
        return iter(()) if old is not None else self._check_requests(new, new["spec"])

    def check_template(self, new: Object, old: Object | None) -> Iterator[FieldError]:
        """Check the requests of a new template."""
        return iter(()) if old is not None else self._check_requests(new, new["spec"].get("spec") or {})

    def check_status(self, new: Object, old: Object | None) -> Iterator[FieldError]:
        """Check the devices that are allocated to a claim; an allocation does not change later."""
        if any(each.get("adminAccess") for each in _results(old or {})):
            return
        for index, each in enumerate(_results(new)):
            if each.get("adminAccess"):
                yield from self._check(new, f"status.allocation.devices.results[{index}].adminAccess")
                return

    def _check_requests(self, obj: Object, spec: Mapping[str, JSON]) -> Iterator[FieldError]:
        for index, request in enumerate((spec.get("devices") or {}).get("requests") or ()):
            if (request.get("exactly") or {}).get("adminAccess"):
                yield from self._check(obj, f"spec.devices.requests[{index}].adminAccess")
                return

    def _check(self, obj: Object, path: str) -> Iterator[FieldError]:
        if self._namespaces is None:
            return
        namespace = self._namespaces.find("", obj["metadata"].get("namespace", ""))
        if namespace is None or namespace.labels.get(_LABEL) != "true":
            why = f"admin access to devices requires the `{_LABEL}: true` label on the containing namespace"
            yield field_forbidden(path, why)


def _results(claim: Mapping[str, JSON]) -> Sequence[Mapping[str, JSON]]:
    """Return the devices that are allocated to a claim."""
    allocation = (claim.get("status") or {}).get("allocation") or {}
    found: Sequence[Mapping[str, JSON]] = (allocation.get("devices") or {}).get("results") or ()
    return found
