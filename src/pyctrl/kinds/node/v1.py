# Written by tools/generate_kinds.py from pyctrl/_schemas; change the generator, not this file.
"""The kinds of node/v1 and their parts."""

from pydantic import Field

from pyctrl.api import Quantity
from pyctrl.kinds._builtin import Kind, Part
from pyctrl.kinds.core.v1 import Toleration

__all__ = ["Overhead", "RuntimeClass", "Scheduling"]


class Overhead(Part):
    """`overhead` of RuntimeClass."""

    pod_fixed: dict[str, Quantity] = Field(default_factory=dict)


class Scheduling(Part):
    """`scheduling` of RuntimeClass."""

    node_selector: dict[str, str] = Field(default_factory=dict)
    tolerations: list[Toleration] = Field(default_factory=list)


class RuntimeClass(Kind, group="node.k8s.io", version="v1", plural="runtimeclasses", scope="Cluster"):
    """RuntimeClass of node.k8s.io/v1."""

    handler: str = ""
    overhead: Overhead | None = None
    scheduling: Scheduling | None = None
