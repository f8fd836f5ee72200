"""Classes of pools.example.com.

Written by `pyctrl crd import` from the definition.
"""

from pyctrl.api import KubernetesObject, Model, ObjectMeta
from pyctrl.kinds.core.v1 import Affinity, Toleration
from pydantic import Field

__all__ = [
    "Pool",
    "PoolSpec",
    "PoolTemplate",
]


class PoolSpec(Model):
    affinity: Affinity | None = None
    tolerations: list[Toleration] = Field(default_factory=list)
    node_name: str | None = None


class PoolTemplate(Model):
    metadata: ObjectMeta | None = None
    spec: PoolSpec | None = None


class Pool(KubernetesObject, group="example.com", version="v1"):
    """A Pool has no spec."""

    size: int = Field(ge=1)

    key_: str | None = Field(default=None, validation_alias="key", serialization_alias="key")

    template: PoolTemplate | None = None
