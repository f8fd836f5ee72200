"""CustomResourceDefinitions; their rules are in `_apiextensions.definitions`."""

from __future__ import annotations

from typing import Final

from pyctrl.apiserver._apiextensions.definitions import (
    default_definition,
    definition_warnings,
    mark_terminating,
    prepare_definition,
    validate_definition,
)
from pyctrl.apiserver._meta.generation import STATUS_RESET_FIELDS
from pyctrl.apiserver._meta.validation import MetadataCheck
from pyctrl.apiserver._registry.builtin_resource import Resource
from pyctrl.apiserver._registry.strategy import Strategy

__all__ = ["RESOURCES"]

RESOURCES: Final = (
    Resource(
        group="apiextensions.k8s.io",
        kind="CustomResourceDefinition",
        strategy=Strategy(
            on_create=MetadataCheck.PLAIN_WHOLE,
            on_update=(MetadataCheck.PLAIN_CHANGE,),
            has_generation=True,
            allows_unconditional_update=False,
            status_keeps=STATUS_RESET_FIELDS,
            defaults=(default_definition,),
            prepares=(prepare_definition,),
            validates=(validate_definition,),
            warns=definition_warnings,
            begin_deletion=mark_terminating,
        ),
    ),
)
