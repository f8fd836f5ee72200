"""Kubernetes controllers in typed asyncio Python.

    class PodSetReconciler(Reconciler[PodSet]):
        async def reconcile(self, request: Request) -> Result | None:
            podset = await self.client.find(PodSet, request.key)
            ...

    async with Manager(Config.load()) as manager:
        Builder(manager).reconciles(PodSet).owns(Deployment).build(PodSetReconciler())
        await manager.run()

This package exports the names that most operators need. Each subpackage exports its whole public API:
`pyctrl.api` (objects, names, selectors), `pyctrl.kinds` (the built-in kinds), `pyctrl.client`, `pyctrl.cache`,
`pyctrl.controller`, `pyctrl.webhook`, `pyctrl.manager`, `pyctrl.manifests`, `pyctrl.errors`, and for tests and
development `pyctrl.apiserver`, `pyctrl.cluster` and `pyctrl.testing`.

Names are imported on first use, so that commands such as `pyctrl apiserver` start fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from pyctrl._lazy_imports import lazy_search

if TYPE_CHECKING:
    from pyctrl._log import LogOptions, configure_logging, log_context
    from pyctrl._tracing import enable_tracing
    from pyctrl.api import (
        AGE,
        AtLeastOneOf,
        AtMostOneOf,
        Condition,
        CustomResource,
        Duration,
        EmbeddedResource,
        ExactlyOneOf,
        GroupVersionKind,
        Immutable,
        Int32,
        Int64,
        IntOrString,
        Key,
        LabelSelector,
        ListType,
        MapType,
        Metadata,
        Model,
        NoServerDefault,
        Nullable,
        ObjectMeta,
        OwnerReference,
        PreserveUnknownFields,
        PrinterColumn,
        Quantity,
        Required,
        ScaleSubresource,
        ServerDefault,
        Time,
        Unstructured,
        ValidationRule,
        add_finalizer,
        has_finalizer,
        is_deleting,
        now,
        remove_finalizer,
        set_condition,
        set_controller_reference,
        set_owner_reference,
    )
    from pyctrl.cache import CachedClient
    from pyctrl.client import Client, Config, JsonPatch, MergePatch, merge_from
    from pyctrl.controller import (
        Builder,
        Controller,
        ObjectReconciler,
        Reconciler,
        Request,
        Result,
        for_owner,
        mapped,
        reading,
    )
    from pyctrl.errors import ApiError, PyctrlError, TerminalError
    from pyctrl.manager import Manager
    from pyctrl.rbac import EVENTS, allow

__all__ = [
    "AGE",
    "EVENTS",
    "ApiError",
    "AtLeastOneOf",
    "AtMostOneOf",
    "Builder",
    "CachedClient",
    "Client",
    "Condition",
    "Config",
    "Controller",
    "CustomResource",
    "Duration",
    "EmbeddedResource",
    "ExactlyOneOf",
    "GroupVersionKind",
    "Immutable",
    "Int32",
    "Int64",
    "IntOrString",
    "JsonPatch",
    "Key",
    "LabelSelector",
    "ListType",
    "LogOptions",
    "Manager",
    "MapType",
    "MergePatch",
    "Metadata",
    "Model",
    "NoServerDefault",
    "Nullable",
    "ObjectMeta",
    "ObjectReconciler",
    "OwnerReference",
    "PreserveUnknownFields",
    "PrinterColumn",
    "PyctrlError",
    "Quantity",
    "Reconciler",
    "Request",
    "Required",
    "Result",
    "ScaleSubresource",
    "ServerDefault",
    "TerminalError",
    "Time",
    "Unstructured",
    "ValidationRule",
    "add_finalizer",
    "allow",
    "configure_logging",
    "enable_tracing",
    "for_owner",
    "has_finalizer",
    "is_deleting",
    "log_context",
    "mapped",
    "merge_from",
    "now",
    "reading",
    "remove_finalizer",
    "set_condition",
    "set_controller_reference",
    "set_owner_reference",
]

# Each imports those before it, so that searching from the left imports only what the name needs.
_EXPORTING = ("_log", "_tracing", "errors", "api", "client", "cache", "controller", "manager", "rbac")
_OTHER_PACKAGES = ("kinds", "webhook", "manifests", "apiserver", "cluster", "testing")

if not TYPE_CHECKING:  # to a type checker, __getattr__ would mean that every name exists
    _find, __dir__ = lazy_search(__name__, _EXPORTING)

    def __getattr__(name: str) -> object:
        return import_module(f"{__name__}.{name}") if name in (*_EXPORTING, *_OTHER_PACKAGES) else _find(name)
