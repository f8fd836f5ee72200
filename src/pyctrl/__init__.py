"""Kubernetes controllers in typed asyncio Python.

    class PodSetReconciler(Reconciler[PodSet]):
        async def reconcile(self, request: Request) -> Result | None:
            podset = await self.client.find(PodSet, request.key)
            ...

    async with Manager(Config.load()) as manager:
        Builder(manager).reconciles(PodSet).owns(Deployment).build(PodSetReconciler())
        await manager.run()

This is the beginner's door: the names that most operators need. Each room has its own, with everything in it:
`pyctrl.api` (objects, names, selectors), `pyctrl.kinds` (the built-in kinds), `pyctrl.client`, `pyctrl.cache`,
`pyctrl.controller`, `pyctrl.manager`, `pyctrl.errors`, and for tests and development `pyctrl.apiserver`,
`pyctrl.cluster` and `pyctrl.testing`.
"""

from pyctrl._log import configure_logging
from pyctrl.api import (
    Condition,
    CustomResource,
    GroupVersionKind,
    Int32,
    Int64,
    IntOrString,
    Key,
    LabelSelector,
    Metadata,
    Model,
    ObjectMeta,
    OwnerReference,
    Quantity,
    Time,
    Unstructured,
    add_finalizer,
    has_finalizer,
    is_deleting,
    remove_finalizer,
    set_condition,
    set_controller_reference,
    set_owner_reference,
)
from pyctrl.cache import CachedClient
from pyctrl.client import Client, Config, JsonPatch, MergePatch, merge_from
from pyctrl.controller import Builder, Controller, Reconciler, Request, Result, for_owner, mapped
from pyctrl.errors import ApiError, PyctrlError, TerminalError
from pyctrl.manager import Manager

__all__ = [
    "ApiError",
    "Builder",
    "CachedClient",
    "Client",
    "Condition",
    "Config",
    "Controller",
    "CustomResource",
    "GroupVersionKind",
    "Int32",
    "Int64",
    "IntOrString",
    "JsonPatch",
    "Key",
    "LabelSelector",
    "Manager",
    "MergePatch",
    "Metadata",
    "Model",
    "ObjectMeta",
    "OwnerReference",
    "PyctrlError",
    "Quantity",
    "Reconciler",
    "Request",
    "Result",
    "TerminalError",
    "Time",
    "Unstructured",
    "add_finalizer",
    "configure_logging",
    "for_owner",
    "has_finalizer",
    "is_deleting",
    "mapped",
    "merge_from",
    "remove_finalizer",
    "set_condition",
    "set_controller_reference",
    "set_owner_reference",
]
