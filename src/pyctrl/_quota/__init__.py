"""Usage of namespaces as ResourceQuotas measure it, for the admission plugin and for the controller.

Objects are JSON as the API has it. A resource list maps names of resources to quantities.
"""

from pyctrl._quota.evaluators import EVALUATORS, IGNORED_RESOURCES, Evaluator, evaluator_of
from pyctrl._quota.pod_resources import pod_resources
from pyctrl._quota.resources import (
    ResourceList,
    add_resources,
    mask_resources,
    read_resources,
    subtract_resources,
    write_resources,
)
from pyctrl._quota.scopes import is_terminating, scope_requirements
from pyctrl._quota.usage import calculate_usage, matches_scopes

__all__ = [
    "EVALUATORS",
    "IGNORED_RESOURCES",
    "Evaluator",
    "ResourceList",
    "add_resources",
    "calculate_usage",
    "evaluator_of",
    "is_terminating",
    "mask_resources",
    "matches_scopes",
    "pod_resources",
    "read_resources",
    "scope_requirements",
    "subtract_resources",
    "write_resources",
]
