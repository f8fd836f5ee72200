"""CustomResourceDefinitions; their rules are in `_apiextensions.definitions`."""

from __future__ import annotations

from typing import Final

from pyctrl.apiserver._apiextensions.definitions import (
    default_definition,
    definition_warnings,
    mark_terminating,
    prepare_definition,
    validate_definition,
    validate_definition_status,
)
from pyctrl.apiserver._meta.system_fields import timestamp
from pyctrl.apiserver._meta.validation import MetadataCheck
from pyctrl.apiserver._registry.builtin_resource import BuiltinResource
from pyctrl.apiserver._registry.strategy import Object, Strategy
from pyctrl.apiserver._resources.deletion_strategy import DeletionOutcome, DeletionStrategy

__all__ = ["RESOURCES"]


def _begin_deletion(definition: Object, _: int | None) -> DeletionOutcome:
    """Mark a definition. It is removed when its custom resources are."""
    metadata = definition["metadata"]
    if "deletionTimestamp" not in metadata:
        mark_terminating(definition)
        metadata["deletionTimestamp"] = timestamp()
    elif metadata.get("finalizers"):
        metadata["deletionGracePeriodSeconds"] = 0  # as upstream: the second delete is that of any kind
    return DeletionOutcome.MARKED


RESOURCES: Final = (
    BuiltinResource(
        group="apiextensions.k8s.io",
        kind="CustomResourceDefinition",
        storage_prefix="apiextensions.k8s.io/customresourcedefinitions",
        storage_version="v1beta1",
        has_status_table=False,
        strategy=Strategy(
            on_create=MetadataCheck.PLAIN_WHOLE,
            on_update=(MetadataCheck.PLAIN_CHANGE,),
            has_generation=True,
            allows_unconditional_update=False,
            status_reset_fields=("generation", "selfLink"),  # unlike those of other kinds, it changes labels
            defaults=(default_definition,),
            prepares=(prepare_definition,),
            validates=(validate_definition,),
            validates_status=(validate_definition_status,),
            warns=definition_warnings,
            deletion=DeletionStrategy(
                begin=_begin_deletion,
                has_uid_precondition=True,
                keeps_finalizers=lambda obj: "deletionTimestamp" not in obj["metadata"],
            ),
        ),
    ),
)
