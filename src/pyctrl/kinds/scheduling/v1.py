# Written by tools/generate_kinds.py from pyctrl/_schemas; change the generator, not this file.
"""The kinds of scheduling/v1 and their parts."""

from pyctrl.kinds._builtin import Kind

__all__ = ["PriorityClass"]


class PriorityClass(
    Kind, group="scheduling.k8s.io", version="v1", plural="priorityclasses", scope="Cluster", short_names=("pc",)
):
    """PriorityClass defines mapping from a priority class name to the priority integer value. The value can be any
    valid integer.
    """

    description: str | None = None
    """description is an arbitrary string that usually provides guidelines on when this priority class should be
    used.
    """
    global_default: bool | None = None
    """globalDefault specifies whether this PriorityClass should be considered as the default priority for pods that
    do not have any priority class. Only one PriorityClass can be marked as `globalDefault`. However, if more than
    one PriorityClasses exists with their `globalDefault` field set to true, the smallest value of such global
    default PriorityClasses will be used as the default priority.
    """
    preemption_policy: str | None = None
    """preemptionPolicy is the Policy for preempting pods with lower priority. One of Never, PreemptLowerPriority.
    Defaults to PreemptLowerPriority if unset.

    Possible enum values:
     - `"Never"` means that pod never preempts other pods with lower priority.
     - `"PreemptLowerPriority"` means that pod can preempt other pods with lower priority.
    """
    value: int = 0
    """value represents the integer value of this priority class. This is the actual priority that pods receive when
    they have the name of this class in their pod spec.
    """
