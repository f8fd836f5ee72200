"""The kinds that sub-resources have of their own: a scale, an eviction, a binding, a request for a token."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ._admission import Kind
from ._answers import Unfit
from ._typed import DecodeFailed, decode

if TYPE_CHECKING:
    from ._components import Components

SCALE: Final = Kind("autoscaling", "v1", "Scale")
EVICTION: Final = Kind("policy", "v1", "Eviction")
BINDING: Final = Kind("", "v1", "Binding")
TOKEN_REQUEST: Final = Kind("authentication.k8s.io", "v1", "TokenRequest")
DELETE_OPTIONS: Final = Kind("meta.k8s.io", "v1", "DeleteOptions")

_COMPONENTS = {
    SCALE: "io.k8s.api.autoscaling.v1.Scale",
    EVICTION: "io.k8s.api.policy.v1.Eviction",
    BINDING: "io.k8s.api.core.v1.Binding",
    DELETE_OPTIONS: "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions",
    TOKEN_REQUEST: "io.k8s.api.authentication.v1.TokenRequest",
}


def decode_own(obj: dict[str, Any], kind: Kind, components: Components) -> dict[str, Any]:
    """Read an object of a sub-resource as its Go type does.

    Raises:
        Refused: 400, it does not fit the type.
    """
    try:
        read: dict[str, Any] = decode(components.node("core_v1", _COMPONENTS[kind]), obj, [])
    except DecodeFailed as failed:
        raise Unfit(kind.kind, kind.version, str(failed)) from None
    return read
