"""Pods, PodTemplates and Bindings; `_pods` has the validation, defaults and subresources of Pod."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from pyctrl._lazy_imports import lazy_function
from pyctrl.apiserver._errors import FieldError
from pyctrl.apiserver._meta.system_fields import timestamp
from pyctrl.apiserver._meta.validation import MetadataCheck
from pyctrl.apiserver._registry._pods.annotations import validate_pod_annotation_updates
from pyctrl.apiserver._registry._pods.binding import BindingREST
from pyctrl.apiserver._registry._pods.defaults import default_pod, default_template
from pyctrl.apiserver._registry._pods.deletion import GRACEFUL_DELETION
from pyctrl.apiserver._registry._pods.ephemeral_containers import EPHEMERAL_CONTAINERS
from pyctrl.apiserver._registry._pods.eviction import EvictionREST
from pyctrl.apiserver._registry._pods.exec import AttachREST, ExecREST
from pyctrl.apiserver._registry._pods.log import LogREST
from pyctrl.apiserver._registry._pods.portforward import PortForwardREST
from pyctrl.apiserver._registry._pods.preparation import add_label_keys, drop_disabled_fields
from pyctrl.apiserver._registry._pods.profile_annotations import copy_app_armor_profiles, warnings_of_app_armor
from pyctrl.apiserver._registry._pods.quality_of_service import quality_of_service
from pyctrl.apiserver._registry._pods.resize import RESIZE
from pyctrl.apiserver._registry._pods.status_validation import validate_pod_status
from pyctrl.apiserver._registry._pods.table import pod_cells, pod_row_conditions
from pyctrl.apiserver._registry._proxy.handler import PodProxyREST
from pyctrl.apiserver._registry.builtin_resource import BuiltinResource
from pyctrl.apiserver._registry.pod_templates import validate_template
from pyctrl.apiserver._registry.strategy import Object, Strategy, fields_at, generation_differs
from pyctrl.apiserver._registry.table_cells import Cells, containers_of, labels_of

if TYPE_CHECKING:
    from pyctrl.apiserver._registry._pods.pod_updates import validate_pod
    from pyctrl.apiserver._registry._pods.warnings import warnings_of_pod, warnings_of_template
else:  # imported with the first object
    validate_pod = lazy_function("pyctrl.apiserver._registry._pods.pod_updates", "validate_pod")
    warnings_of_pod = lazy_function("pyctrl.apiserver._registry._pods.warnings", "warnings_of_pod")
    warnings_of_template = lazy_function("pyctrl.apiserver._registry._pods.warnings", "warnings_of_template")

__all__ = ["RESOURCES"]


def _default_pod_addresses(obj: Object) -> None:
    """Keep the address of a pod and the list of its addresses consistent; upstream's type has the list only."""
    status = obj.get("status") or {}
    address, addresses = status.get("podIP"), status.get("podIPs")
    if address and address not in [each.get("ip") for each in addresses or ()][:1]:
        status["podIPs"] = [{"ip": address}]
    elif addresses and not address:
        status["podIP"] = addresses[0].get("ip", "")


def _prepare_pod(new: Object, old: Object | None) -> None:
    """Set phase and QoS class of a new pod."""
    spec = new["spec"]
    drop_disabled_fields(spec)
    if old is None:
        add_label_keys(new)
        copy_app_armor_profiles(new)
    if old is None and spec["terminationGracePeriodSeconds"] < 0:
        spec["terminationGracePeriodSeconds"] = 1  # as upstream
    status: Object = new["status"] if old is not None else _first_status(spec)
    new["status"] = status
    if old is not None and not status.get("qosClass") and (quality := old["status"].get("qosClass")):
        status["qosClass"] = quality  # of pods that kubelets refuse


def _first_status(spec: Object) -> Object:
    status: Object = {"phase": "Pending", "qosClass": quality_of_service(spec)}
    if spec.get("schedulingGates"):
        message = "Scheduling is blocked due to non-empty scheduling gates"
        gated = {"type": "PodScheduled", "status": "False", "reason": "SchedulingGated", "message": message}
        status["conditions"] = [{**gated, "lastProbeTime": None, "lastTransitionTime": timestamp()}]
    return status


def _prepare_pod_template(new: Object, _old: Object | None) -> None:
    drop_disabled_fields(new["template"]["spec"])


def _validate_pod_template(new: Object, _old: Object | None) -> Iterator[FieldError]:
    """Check the template."""
    yield from validate_template(new["template"], "template")


def _default_pod_template(obj: Object) -> None:
    default_template(obj.setdefault("template", {}))


def _pod_template_cells(obj: Object) -> Cells:
    template = obj.get("template") or {}
    return {**containers_of(template), "Pod Labels": labels_of((template.get("metadata") or {}).get("labels"))}


_POD: Final = Strategy(
    on_update=(MetadataCheck.CHANGE, MetadataCheck.WHOLE),
    has_generation=True,
    returns_deleted_object=True,
    status_reset_fields=("deletionTimestamp", "ownerReferences"),
    fields={
        **fields_at(
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "status.phase",
            "status.podIP",
            "status.podIPs",
            "status.nominatedNodeName",
        ),
        **fields_at("spec.hostNetwork", zero="false"),
    },
    defaults=(default_pod, _default_pod_addresses),
    prepares=(_prepare_pod,),
    deletion=GRACEFUL_DELETION,
    validates=(validate_pod,),
    warns=warnings_of_pod,
    warns_before_preparation=warnings_of_app_armor,
    warns_on_update=lambda _new, _old: False,
    validates_status=(validate_pod_annotation_updates, validate_pod_status),
    subresources={"ephemeralcontainers": EPHEMERAL_CONTAINERS, "resize": RESIZE},
    # As upstream: their writers own all fields sent, also those that are put back.
    reset_fields={"ephemeralcontainers": {}, "resize": {}},
)


RESOURCES: Final = (
    BuiltinResource(
        group="",
        kind="Pod",
        strategy=_POD,
        cells=pod_cells,
        row_conditions=pod_row_conditions,
        rest={
            "attach": AttachREST,
            "binding": BindingREST,
            "eviction": EvictionREST,
            "exec": ExecREST,
            "log": LogREST,
            "portforward": PortForwardREST,
            "proxy": PodProxyREST,
        },
    ),
    BuiltinResource(
        group="",
        kind="PodTemplate",
        strategy=Strategy(
            has_generation=True,
            returns_deleted_object=True,
            on_update=(MetadataCheck.CHANGE,),
            defaults=(_default_pod_template,),
            prepares=(_prepare_pod_template,),
            validates=(_validate_pod_template,),
            warns=lambda new: warnings_of_template(new["template"], "template"),
            warns_on_update=generation_differs,
        ),
        cells=_pod_template_cells,
    ),
    BuiltinResource(group="", kind="Binding", rest={"": BindingREST}),
)
