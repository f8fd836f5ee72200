"""Cells of the tables that `kubectl get` shows for built-in kinds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from pyctrl.api import LabelSelector
from pyctrl.apiserver._schema.schema import JSON
from pyctrl.errors import SelectorError

__all__ = [
    "NONE",
    "UNSET",
    "Cells",
    "access_modes",
    "containers_of",
    "first_few",
    "labels_of",
    "load_balancer_addresses",
    "selector_of",
    "spec_of",
    "status_of",
]

_Object: TypeAlias = Mapping[str, JSON]
Cells: TypeAlias = dict[str, JSON]  # by column name; a missing cell is shown as "<none>"
NONE = "<none>"
UNSET = "<unset>"


def spec_of(obj: _Object) -> _Object:
    """Return the spec, empty when it is missing."""
    found: _Object = obj.get("spec") or {}
    return found


def status_of(obj: _Object) -> _Object:
    """Return the status, empty when it is missing."""
    found: _Object = obj.get("status") or {}
    return found


def containers_of(template: _Object) -> Cells:
    """Return the cells with names and images of a pod template's containers."""
    containers = spec_of(template).get("containers") or ()
    return {
        "Containers": ",".join(each.get("name", "") for each in containers),
        "Images": ",".join(each.get("image", "") for each in containers),
    }


def selector_of(selector: JSON) -> str:
    """Return a label selector in kubectl's form."""
    if not selector:
        return NONE
    try:
        return str(LabelSelector.from_wire(selector)) or NONE
    except SelectorError:
        return "<error>"


def labels_of(labels: JSON) -> str:
    """Return sorted labels in kubectl's form."""
    return ",".join(f"{key}={labels[key]}" for key in sorted(labels)) if labels else NONE


def load_balancer_addresses(status: _Object) -> list[str]:
    """Return the addresses or host names of a load balancer, each once, sorted."""
    ingress = (status.get("loadBalancer") or {}).get("ingress") or ()
    return sorted({address for each in ingress if (address := each.get("ip") or each.get("hostname"))})


_MODES = {"ReadWriteOnce": "RWO", "ReadOnlyMany": "ROX", "ReadWriteMany": "RWX", "ReadWriteOncePod": "RWOP"}


def access_modes(modes: JSON) -> str:
    """Return the abbreviated access modes of a volume or claim, in upstream's order."""
    return ",".join(short for mode, short in _MODES.items() if mode in (modes or ()))


def first_few(texts: Sequence[str]) -> str:
    """Return the first three texts, and the number of the others."""
    rest = f" + {len(texts) - 3} more..." if len(texts) > 3 else ""
    return ",".join(texts[:3]) + rest if texts else NONE
