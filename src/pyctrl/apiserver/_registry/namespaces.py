"""Namespaces."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pyctrl._validation import names
from pyctrl.apiserver._admission import UPDATE, Attributes
from pyctrl.apiserver._endpoints.backend import check_name_and_namespace
from pyctrl.apiserver._endpoints.request_object import read_request_object
from pyctrl.apiserver._endpoints.update import UpdatedObject
from pyctrl.apiserver._errors import FieldError, Response, conflict, invalid, invalid_value
from pyctrl.apiserver._meta.system_fields import keep_system_fields
from pyctrl.apiserver._meta.validation import MetadataCheck, validate_finalizer
from pyctrl.apiserver._registry.builtin_resource import BuiltinResource, RESTContext
from pyctrl.apiserver._registry.strategy import Object, Strategy, fields_at
from pyctrl.apiserver._registry.table_cells import Cells, status_of
from pyctrl.apiserver._request.options import write_options
from pyctrl.apiserver._request.request import ResourceRequest
from pyctrl.apiserver._resources.deletion_strategy import DeletionOutcome, DeletionStrategy, mark_deleted
from pyctrl.apiserver._schema.defaulting import set_defaults

__all__ = ["RESOURCES"]


_NAME_LABEL = "kubernetes.io/metadata.name"


def _prepare_namespace(new: Object, old: Object | None) -> None:
    """Label a namespace with its name; a new one has the finalizer `kubernetes`, which only /finalize removes."""
    if old is not None:
        new["spec"] = old.get("spec") or {}
    else:
        finalizers = new["spec"].setdefault("finalizers", [])
        if "kubernetes" not in finalizers:
            finalizers.append("kubernetes")
        new["status"] = {"phase": "Active"}
    new["metadata"].setdefault("labels", {})[_NAME_LABEL] = new["metadata"].get("name", "")  # also of a generated name


def _default_namespace(obj: Object) -> None:
    """Default to an active namespace, and label it with its name."""
    set_defaults(obj.setdefault("status", {}), phase="Active")
    if name := obj["metadata"].get("name"):
        obj["metadata"].setdefault("labels", {})[_NAME_LABEL] = name


def _validate_namespace(new: Object, _old: Object | None) -> Iterator[FieldError]:
    """Check the finalizers of the spec."""
    for finalizer in (new.get("spec") or {}).get("finalizers") or ():
        yield from validate_finalizer(finalizer, "spec.finalizers")


def _validate_phase(new: Object, _old: Object | None) -> Iterator[FieldError]:
    """Check that a namespace is Terminating if and only if it is being deleted."""
    is_deleted, phase = bool(new["metadata"].get("deletionTimestamp")), status_of(new).get("phase", "")
    expected, state = ("Terminating", "not empty") if is_deleted else ("Active", "empty")
    if phase != expected:
        yield invalid_value("status.Phase", phase, f"may only be '{expected}' if `deletionTimestamp` is {state}")


def _namespace_cells(obj: Object) -> Cells:
    return {"Status": status_of(obj).get("phase", "")}


def _begin_deletion(namespace: Object, _: int | None) -> DeletionOutcome:
    """Mark a namespace as Terminating. It is removed when its controller has emptied spec.finalizers."""
    metadata = namespace["metadata"]
    if _is_deleting(namespace):
        is_held = _has_finalizers(namespace) or metadata.get("finalizers")
        return DeletionOutcome.UNCHANGED if is_held else DeletionOutcome.GONE
    mark_deleted(metadata, None)
    namespace.setdefault("status", {})["phase"] = "Terminating"
    return DeletionOutcome.MARKED


def _is_deleting(namespace: Object) -> bool:
    return "deletionTimestamp" in namespace["metadata"]


def _has_finalizers(namespace: Object) -> bool:
    return bool((namespace.get("spec") or {}).get("finalizers"))


class _FinalizeREST:
    """PUT to the subresource finalize: the only way to remove the finalizers of the spec."""

    def __init__(self, context: RESTContext) -> None:
        self._backend = context.backend
        self._updates = context.updates

    async def replace(self, request: ResourceRequest) -> Response:
        """Store the finalizers of the body."""
        options = write_options(request.query, "UpdateOptions")
        body = read_request_object(request, options, self._backend.registry)
        metadata = body["metadata"]
        check_name_and_namespace(metadata, request)
        stored = self._backend.live(request)
        if metadata.get("resourceVersion") not in (None, "", str(stored.version)):
            raise conflict("namespaces", stored.name)
        new, old = body, stored.read(request.resource)
        new["status"] = old.get("status", {})  # the rest is that of the body, as in kube-apiserver
        finalizers = (body.get("spec") or {}).get("finalizers")
        new["spec"] = {"finalizers": finalizers} if finalizers else {}
        causes = [
            cause
            for index, each in enumerate(finalizers or ())
            for cause in validate_finalizer(each, f"spec.finalizers[{index}]")
        ]
        if causes:
            raise invalid("Namespace", stored.name, causes)
        keep_system_fields(new["metadata"], old["metadata"])
        new["metadata"]["resourceVersion"] = str(stored.version)
        attributes = Attributes(
            operation=UPDATE, request=request, object=new, old=old, name=stored.name, options=options
        )
        await self._backend.admission.mutate(attributes)
        await self._backend.admission.validate(attributes)
        if self._backend.find(request) is not stored:
            raise conflict("namespaces", stored.name)
        change = UpdatedObject(new=attributes.object or new, old=old, options=options)
        return self._updates.commit_subresource(request, stored, change)


RESOURCES: Final = (
    BuiltinResource(
        group="",
        kind="Namespace",
        strategy=Strategy(
            name_rule=names.label,
            on_update=(MetadataCheck.WHOLE, MetadataCheck.CHANGE),
            fields=fields_at("status.phase"),
            defaults=(_default_namespace,),
            prepares=(_prepare_namespace,),
            validates=(_validate_namespace,),
            validates_status=(_validate_phase,),
            deletion=DeletionStrategy(
                begin=_begin_deletion,
                has_uid_precondition=True,
                keeps_finalizers=lambda obj: _is_deleting(obj) and _has_finalizers(obj),
                is_held=_has_finalizers,
            ),
        ),
        cells=_namespace_cells,
        rest={"finalize": _FinalizeREST},
    ),
)
