"""Kinds that an operator seldom meets: what the server fills in for them."""

from __future__ import annotations

from typing import Final

from pyctrl._validation import names
from pyctrl.apiserver._meta.generation import STATUS_RESET_FIELDS
from pyctrl.apiserver._meta.validation import MetadataCheck
from pyctrl.apiserver._registry.pods import default_template
from pyctrl.apiserver._registry.strategy import Object, Strategy
from pyctrl.apiserver._schema.defaulting import set_defaults

SERVICE_PORT = 443  # where an aggregated API server is expected


def _default_pod_template(obj: Object) -> None:
    default_template(obj.setdefault("template", {}))


def _default_driver(obj: Object) -> None:
    spec = obj.setdefault("spec", {})
    set_defaults(spec, attachRequired=True, podInfoOnMount=False, storageCapacity=False, requiresRepublish=False)
    set_defaults(spec, seLinuxMount=False, fsGroupPolicy="ReadWriteOnceWithFSType")
    if not spec.get("volumeLifecycleModes"):
        spec["volumeLifecycleModes"] = ["Persistent"]


def _default_ingress_class(obj: Object) -> None:
    parameters = obj.setdefault("spec", {}).get("parameters")
    if parameters is not None:
        set_defaults(parameters, scope="Cluster")


def _default_priority_level(obj: Object) -> None:
    spec = obj.setdefault("spec", {})
    limited = spec.get("limited")
    if limited is not None:
        set_defaults(limited, nominalConcurrencyShares=30, lendablePercent=0)
    elif spec.get("exempt") is not None:
        set_defaults(spec["exempt"], nominalConcurrencyShares=0, lendablePercent=0)


def _default_api_service(obj: Object) -> None:
    service = obj.setdefault("spec", {}).get("service")
    if service is not None:
        set_defaults(service, port=SERVICE_PORT)


_BY_STATUS: Final = Strategy(has_generation=True, on_update=(MetadataCheck.WHOLE,), status_keeps=STATUS_RESET_FIELDS)
_GENERATION: Final = Strategy(has_generation=True)
_DEVICES = "resource.k8s.io"

OTHER_STRATEGIES: dict[tuple[str, str], Strategy] = {
    ("", "PodTemplate"): Strategy(has_generation=True, defaults=(_default_pod_template,)),
    ("apiregistration.k8s.io", "APIService"): Strategy(
        name_rule=names.path_segment,
        on_create=MetadataCheck.PLAIN_WHOLE,
        on_update=(MetadataCheck.PLAIN_CHANGE, MetadataCheck.PLAIN_WHOLE),
        defaults=(_default_api_service,),
    ),
    ("flowcontrol.apiserver.k8s.io", "FlowSchema"): _BY_STATUS,
    ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"): Strategy(
        has_generation=True,
        on_update=(MetadataCheck.WHOLE,),
        status_keeps=STATUS_RESET_FIELDS,
        defaults=(_default_priority_level,),
    ),
    ("networking.k8s.io", "IngressClass"): Strategy(
        has_generation=True, on_update=(MetadataCheck.CHANGE, MetadataCheck.WHOLE), defaults=(_default_ingress_class,)
    ),
    ("storage.k8s.io", "CSIDriver"): Strategy(defaults=(_default_driver,)),
    (_DEVICES, "DeviceClass"): _GENERATION,
    (_DEVICES, "ResourceSlice"): Strategy(
        has_generation=True, fields={"spec.nodeName": "spec.nodeName", "spec.driver": "spec.driver"}
    ),
}
