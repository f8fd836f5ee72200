"""Variables of the expressions that select devices (dynamic resource allocation)."""

from __future__ import annotations

from collections.abc import Mapping

from pyctrl.cel._admission import object_type
from pyctrl.cel._types import BOOL, DYN, STRING, Type, map_of, opaque

__all__ = ["DEVICE_SELECTOR"]

_DEVICE = object_type(
    "kubernetes.DRADevice",
    {
        "driver": STRING,
        "allowMultipleAllocations": BOOL,
        "attributes": map_of(STRING, map_of(STRING, DYN)),
        "capacity": map_of(STRING, map_of(STRING, opaque("kubernetes.Quantity"))),
    },
)
#: The variables and their types.
DEVICE_SELECTOR: Mapping[str, Type] = {"device": _DEVICE}
