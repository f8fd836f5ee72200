# Written by tools/generate_kinds.py from pyctrl/_schemas; change the generator, not this file.
"""The kinds of scheduling/v1 and their parts."""

from pyctrl.kinds._builtin import Kind

__all__ = ["PriorityClass"]


class PriorityClass(
    Kind, group="scheduling.k8s.io", version="v1", plural="priorityclasses", scope="Cluster", short_names=("pc",)
):
    """PriorityClass of scheduling.k8s.io/v1."""

    description: str | None = None
    global_default: bool | None = None
    preemption_policy: str | None = None
    value: int = 0
