"""Helpers of the tests of ReplicaSets."""

from __future__ import annotations

from typing import Any

from pyctrl.api import ObjectMeta
from pyctrl.client import Client
from pyctrl.kinds.apps.v1 import (
    ReplicaSet,
    ReplicaSetSpec,
)
from pyctrl.kinds.meta.v1 import LabelSelector
from tests.unit.cluster._workloads import (
    LABELS,
    NAMESPACE,
    key,
    template,
)

WEB = key("web")


async def create_set(client: Client, replicas: int, **spec: Any) -> None:
    """Create a ReplicaSet."""
    made = ReplicaSetSpec(replicas=replicas, selector=LabelSelector(match_labels=LABELS), template=template(), **spec)
    await client.create(ReplicaSet(metadata=ObjectMeta(name=WEB.name, namespace=NAMESPACE), spec=made))
