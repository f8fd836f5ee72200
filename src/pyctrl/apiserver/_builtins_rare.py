"""Kinds that an operator seldom meets: what the server fills in for them."""

from __future__ import annotations

from typing import Final

from pyctrl.apiserver import _names as names
from pyctrl.apiserver._builtins_pods import default_template
from pyctrl.apiserver._builtins_strategy import Object, Strategy, fill
from pyctrl.apiserver._metadata import Check
from pyctrl.apiserver._status import STATUS_RESETS

SERVICE_PORT = 443  # where an aggregated API server is expected


def _default_pod_template(obj: Object) -> None:
    default_template(obj.setdefault("template", {}))


def _default_driver(obj: Object) -> None:
    spec = obj.setdefault("spec", {})
    fill(spec, attachRequired=True, podInfoOnMount=False, storageCapacity=False, requiresRepublish=False)
    fill(spec, seLinuxMount=False, fsGroupPolicy="ReadWriteOnceWithFSType")
    if not spec.get("volumeLifecycleModes"):
        spec["volumeLifecycleModes"] = ["Persistent"]


def _default_ingress_class(obj: Object) -> None:
    parameters = obj.setdefault("spec", {}).get("parameters")
    if parameters is not None:
        fill(parameters, scope="Cluster")


def _default_priority_level(obj: Object) -> None:
    spec = obj.setdefault("spec", {})
    limited = spec.get("limited")
    if limited is not None:
        fill(limited, nominalConcurrencyShares=30, lendablePercent=0)
    elif spec.get("exempt") is not None:
        fill(spec["exempt"], nominalConcurrencyShares=0, lendablePercent=0)


def _default_api_service(obj: Object) -> None:
    service = obj.setdefault("spec", {}).get("service")
    if service is not None:
        fill(service, port=SERVICE_PORT)


_BY_STATUS: Final = Strategy(has_generation=True, on_update=(Check.WHOLE,), status_keeps=STATUS_RESETS)
_GENERATION: Final = Strategy(has_generation=True)
_DEVICES = "resource.k8s.io"

RARE: dict[tuple[str, str], Strategy] = {
    ("", "PodTemplate"): Strategy(has_generation=True, defaults=(_default_pod_template,)),
    ("apiregistration.k8s.io", "APIService"): Strategy(
        name_rule=names.path_segment,
        on_create=Check.PLAIN_WHOLE,
        on_update=(Check.PLAIN_CHANGE, Check.PLAIN_WHOLE),
        defaults=(_default_api_service,),
    ),
    ("flowcontrol.apiserver.k8s.io", "FlowSchema"): _BY_STATUS,
    ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"): Strategy(
        has_generation=True,
        on_update=(Check.WHOLE,),
        status_keeps=STATUS_RESETS,
        defaults=(_default_priority_level,),
    ),
    ("networking.k8s.io", "IngressClass"): Strategy(
        has_generation=True, on_update=(Check.CHANGE, Check.WHOLE), defaults=(_default_ingress_class,)
    ),
    ("storage.k8s.io", "CSIDriver"): Strategy(defaults=(_default_driver,)),
    (_DEVICES, "DeviceClass"): _GENERATION,
    (_DEVICES, "ResourceSlice"): Strategy(
        has_generation=True, fields={"spec.nodeName": "spec.nodeName", "spec.driver": "spec.driver"}
    ),
}
