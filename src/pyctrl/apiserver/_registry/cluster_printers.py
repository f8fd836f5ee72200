"""The cells of kinds that belong to the cluster and its administrators; `_rows` has those of everyday work."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pyctrl._go.durations import human_duration
from pyctrl.apiserver._registry.printer_cells import (
    NONE,
    UNSET,
    Cells,
    Object,
    containers_of,
    labels_of,
    spec_of,
    status_of,
)

_MOST_METRICS = 2  # that kubectl names of an autoscaler; the rest is counted
_WINNERS = ("Approved", "Denied")  # of a request's conditions, before what else is told


# -- the API itself --------------------------------------------------------------------------------------------


def _api_service(obj: Object) -> Cells:
    service = spec_of(obj).get("service")
    conditions = {each["type"]: each for each in status_of(obj).get("conditions") or ()}
    available = conditions.get("Available", {"status": "Unknown"})
    reason = f" ({available['reason']})" if available["status"] != "True" and available.get("reason") else ""
    return {
        "Service": f"{service.get('namespace')}/{service.get('name')}" if service else "Local",
        "Available": available["status"] + reason,
    }


def _revision(obj: Object) -> Cells:
    owner = next((each for each in obj["metadata"].get("ownerReferences") or () if each.get("controller")), None)
    shown = NONE
    if owner is not None:
        group = str(owner.get("apiVersion", "")).rpartition("/")[0]
        shown = f"{str(owner['kind']).lower()}{'.' + group if group else ''}/{owner['name']}"
    return {"Controller": shown, "Revision": obj.get("revision", 0)}


def _pod_template(obj: Object) -> Cells:
    template = obj.get("template") or {}
    return {**containers_of(template), "Pod Labels": labels_of((template.get("metadata") or {}).get("labels"))}


def _request(obj: Object) -> Cells:
    spec, conditions = spec_of(obj), [each["type"] for each in status_of(obj).get("conditions") or ()]
    told = [each for each in _WINNERS if each in conditions][-1:] or ["Pending"]
    if "Failed" in conditions:
        told.append("Failed")
    if status_of(obj).get("certificate"):
        told.append("Issued")
    seconds = spec.get("expirationSeconds")
    return {
        "SignerName": spec.get("signerName") or NONE,
        "Requestor": spec.get("username", ""),
        "RequestedDuration": NONE if seconds is None else human_duration(seconds),
        "Condition": ",".join(told),
    }


# -- admission and fairness ------------------------------------------------------------------------------------


def _policy(counted: str) -> Callable[[Object], Cells]:
    def cells(obj: Object) -> Cells:
        spec = spec_of(obj)
        kind = spec.get("paramKind")
        shown = f"{kind.get('apiVersion')}/{kind.get('kind')}" if kind else UNSET
        return {counted.title(): len(spec.get(counted) or ()), "ParamKind": shown}

    return cells


def _policy_binding(obj: Object) -> Cells:
    spec = spec_of(obj)
    reference = spec.get("paramRef")
    shown = UNSET
    if reference and reference.get("name"):
        namespace = reference.get("namespace")
        shown = f"{namespace}/{reference['name']}" if namespace else f"*/{reference['name']}"
    elif reference:
        labels = (reference.get("selector") or {}).get("matchLabels") or {}
        pairs = "".join(f"{key}: {labels[key]}," for key in sorted(labels))
        expressions = "MatchExpressions:[]LabelSelectorRequirement{}"
        shown = f"&LabelSelector{{MatchLabels:map[string]string{{{pairs}}},{expressions},}}"  # printed as Go prints it
    return {"PolicyName": spec.get("policyName", ""), "ParamRef": shown}


def _flow_schema(obj: Object) -> Cells:
    spec = spec_of(obj)
    conditions = {each["type"]: each["status"] for each in status_of(obj).get("conditions") or ()}
    return {
        "PriorityLevel": (spec.get("priorityLevelConfiguration") or {}).get("name", NONE),
        "MatchingPrecedence": spec.get("matchingPrecedence", 0),
        "DistinguisherMethod": (spec.get("distinguisherMethod") or {}).get("type", NONE),
        "MissingPL": conditions.get("Dangling", "?"),
    }


def _priority_level(obj: Object) -> Cells:
    spec = spec_of(obj)
    limited = spec.get("limited") or {}
    queuing = (limited.get("limitResponse") or {}).get("queuing") or {}
    return {
        "Type": spec.get("type", ""),
        "NominalConcurrencyShares": limited.get("nominalConcurrencyShares", NONE),
        "Queues": queuing.get("queues", NONE),
        "HandSize": queuing.get("handSize", NONE),
        "QueueLengthLimit": queuing.get("queueLengthLimit", NONE),
    }


def _quota(obj: Object) -> Cells:
    hard, used = status_of(obj).get("hard") or {}, status_of(obj).get("used") or {}
    shown = [(name, f"{name}: {used.get(name, '0')}/{hard[name]}") for name in sorted(hard)]
    return {
        "Request": ", ".join(text for name, text in shown if not name.startswith("limits")),
        "Limit": ", ".join(text for name, text in shown if name.startswith("limits")),
    }


# -- autoscaling -----------------------------------------------------------------------------------------------


def _autoscaler(obj: Object) -> Cells:
    spec, status = spec_of(obj), status_of(obj)
    target = spec.get("scaleTargetRef") or {}
    return {
        "Reference": f"{target.get('kind')}/{target.get('name')}",
        "Targets": _targets(spec.get("metrics") or (), status.get("currentMetrics") or ()),
        "MinPods": str(spec["minReplicas"]) if spec.get("minReplicas") is not None else UNSET,
        "MaxPods": str(spec.get("maxReplicas", 0)),
        "Replicas": str(status.get("currentReplicas", 0)),
    }


def _targets(metrics: Iterable[Object], current: Iterable[Object]) -> str:
    now = list(current)
    shown = [_metric(each, now[index] if index < len(now) else {}) for index, each in enumerate(metrics)]
    if not shown:
        return NONE
    more = len(shown) - _MOST_METRICS
    return ", ".join(shown[:_MOST_METRICS]) + (f" + {more} more..." if more > 0 else "")


def _metric(metric: Object, current: Object) -> str:
    """One metric: what it is now, and what it should be."""
    kind = metric.get("type", "")
    source = kind[:1].lower() + kind[1:]
    described, told = metric.get(source) or {}, (current.get(source) or {}).get("current") or {}
    target = described.get("target") or {}
    name = f"{described['name']}: " if kind in ("Resource", "ContainerResource") else ""
    if target.get("averageUtilization") is not None:
        is_now = told.get("averageUtilization")
        return f"{name}{'<unknown>' if is_now is None else f'{is_now}%'}/{target['averageUtilization']}%"
    average = target.get("averageValue")
    wanted, field = (average, "averageValue") if average is not None else (target.get("value"), "value")
    note = " (avg)" if average is not None and kind in ("External", "Object") else ""
    return f"{name}{told.get(field, '<unknown>')}/{wanted}{note}"


# -- networks, nodes and volumes -------------------------------------------------------------------------------


def _ingress_class(obj: Object) -> Cells:
    spec = spec_of(obj)
    parameters = spec.get("parameters")
    shown = NONE
    if parameters:
        group = parameters.get("apiGroup")
        shown = f"{parameters.get('kind')}{'.' + group if group else ''}/{parameters.get('name')}"
    return {"Controller": spec.get("controller", ""), "Parameters": shown}


def _address(obj: Object) -> Cells:
    parent = spec_of(obj).get("parentRef") or {}
    kind = ".".join(part for part in (parent.get("resource"), parent.get("group")) if part)
    return {"ParentRef": "/".join(part for part in (kind, parent.get("namespace"), parent.get("name")) if part)}


def _service_range(obj: Object) -> Cells:
    return {"CIDRs": ",".join(spec_of(obj).get("cidrs") or ())}


def _runtime_class(obj: Object) -> Cells:
    return {"Handler": obj.get("handler", "")}


def _driver(obj: Object) -> Cells:
    spec = spec_of(obj)
    tokens = ",".join(each.get("audience", "") for each in spec.get("tokenRequests") or ())
    return {
        "AttachRequired": spec.get("attachRequired", True),
        "PodInfoOnMount": spec.get("podInfoOnMount", False),
        "StorageCapacity": spec.get("storageCapacity", False),
        "TokenRequests": tokens or UNSET,
        "RequiresRepublish": spec.get("requiresRepublish", False),
        "Modes": ",".join(spec.get("volumeLifecycleModes") or ()) or NONE,
    }


def _driver_node(obj: Object) -> Cells:
    return {"Drivers": len(spec_of(obj).get("drivers") or ())}


def _attachment(obj: Object) -> Cells:
    spec = spec_of(obj)
    return {
        "Attacher": spec.get("attacher", ""),
        "PV": (spec.get("source") or {}).get("persistentVolumeName", ""),
        "Node": spec.get("nodeName", ""),
        "Attached": bool(status_of(obj).get("attached")),
    }


def _attributes_class(obj: Object) -> Cells:
    return {"DriverName": obj.get("driverName", "")}


def _device_claim(obj: Object) -> Cells:
    status = status_of(obj)
    states = [
        name
        for name, holds in (("allocated", status.get("allocation")), ("reserved", status.get("reservedFor")))
        if holds
    ]
    if obj["metadata"].get("deletionTimestamp"):
        states.insert(0, "deleted")
    return {"State": ",".join(states) or "pending"}


def _device_slice(obj: Object) -> Cells:
    spec = spec_of(obj)
    return {
        "Node": spec.get("nodeName", ""),
        "Driver": spec.get("driver", ""),
        "Pool": (spec.get("pool") or {}).get("name", ""),
    }


_ADMISSION, _FAIRNESS = "admissionregistration.k8s.io", "flowcontrol.apiserver.k8s.io"
_NETWORK, _STORAGE, _DEVICES = "networking.k8s.io", "storage.k8s.io", "resource.k8s.io"
OTHER_ROWS: dict[tuple[str, str], Callable[[Object], Cells]] = {
    ("", "podtemplates"): _pod_template,
    ("", "resourcequotas"): _quota,
    ("apiregistration.k8s.io", "apiservices"): _api_service,
    ("apps", "controllerrevisions"): _revision,
    ("autoscaling", "horizontalpodautoscalers"): _autoscaler,
    ("certificates.k8s.io", "certificatesigningrequests"): _request,
    (_ADMISSION, "validatingadmissionpolicies"): _policy("validations"),
    (_ADMISSION, "mutatingadmissionpolicies"): _policy("mutations"),
    (_ADMISSION, "validatingadmissionpolicybindings"): _policy_binding,
    (_ADMISSION, "mutatingadmissionpolicybindings"): _policy_binding,
    (_FAIRNESS, "flowschemas"): _flow_schema,
    (_FAIRNESS, "prioritylevelconfigurations"): _priority_level,
    (_NETWORK, "ingressclasses"): _ingress_class,
    (_NETWORK, "ipaddresses"): _address,
    (_NETWORK, "servicecidrs"): _service_range,
    ("node.k8s.io", "runtimeclasses"): _runtime_class,
    (_STORAGE, "csidrivers"): _driver,
    (_STORAGE, "csinodes"): _driver_node,
    (_STORAGE, "volumeattachments"): _attachment,
    (_STORAGE, "volumeattributesclasses"): _attributes_class,
    (_DEVICES, "resourceclaims"): _device_claim,
    (_DEVICES, "resourceslices"): _device_slice,
}
