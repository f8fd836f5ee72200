"""The cells of built-in kinds' tables: one small function a kind, over the object as it is stored."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pyctrl._go.durations import age, between
from pyctrl.apiserver._registry.cluster_printers import OTHER_ROWS
from pyctrl.apiserver._registry.printer_cells import (
    NONE,
    Cells,
    Object,
    containers_of,
    labels_of,
    selector_of,
    spec_of,
    status_of,
)
from pyctrl.apiserver._schema.schema import JSON

_MODES = {"ReadWriteOnce": "RWO", "ReadOnlyMany": "ROX", "ReadWriteMany": "RWX", "ReadWriteOncePod": "RWOP"}


def row_of(group: str, plural: str, obj: Object, columns: Sequence[str]) -> list[JSON]:
    """Give the cells of one object, in the order of the columns."""
    metadata = obj["metadata"]
    created = metadata.get("creationTimestamp")
    cells: Cells = {"Name": metadata.get("name", ""), "Age": age(created), "Created At": created}
    make = _ROWS.get((group, plural)) or OTHER_ROWS.get((group, plural))
    if make is not None:
        cells.update(make(obj))
    return [cells.get(column, NONE) for column in columns]


# -- workloads -------------------------------------------------------------------------------------------------


def _pod(obj: Object) -> Cells:
    spec, status = spec_of(obj), status_of(obj)
    statuses = status.get("containerStatuses") or ()
    gates = spec.get("readinessGates") or ()
    true = {each["type"] for each in status.get("conditions") or () if each.get("status") == "True"}
    return {
        "Ready": f"{sum(bool(each.get('ready')) for each in statuses)}/{len(spec.get('containers') or ())}",
        "Status": _pod_status(obj),
        "Restarts": str(sum(each.get("restartCount", 0) for each in statuses)),
        "IP": status.get("podIP") or NONE,
        "Node": spec.get("nodeName") or NONE,
        "Nominated Node": status.get("nominatedNodeName") or NONE,
        "Readiness Gates": f"{sum(each['conditionType'] in true for each in gates)}/{len(gates)}" if gates else NONE,
    }


def _pod_status(obj: Object) -> str:
    """The phase, or what keeps a container from running, or that the pod goes."""
    status = status_of(obj)
    reason = str(status.get("reason") or status.get("phase") or "Unknown")
    for each in status.get("containerStatuses") or ():
        state = each.get("state") or {}
        waiting, ended = state.get("waiting") or {}, state.get("terminated") or {}
        if waiting.get("reason"):
            reason = waiting["reason"]
        elif ended:
            reason = ended.get("reason") or f"ExitCode:{ended.get('exitCode', 0)}"
    if obj["metadata"].get("deletionTimestamp"):
        return "Unknown" if status.get("reason") == "NodeLost" else "Terminating"
    return reason


def _deployment(obj: Object) -> Cells:
    spec, status = spec_of(obj), status_of(obj)
    return {
        "Ready": f"{status.get('readyReplicas', 0)}/{spec.get('replicas', 0)}",
        "Up-to-date": str(status.get("updatedReplicas", 0)),
        "Available": str(status.get("availableReplicas", 0)),
        "Selector": selector_of(spec.get("selector")),
        **containers_of(spec["template"]),
    }


def _replica_set(obj: Object) -> Cells:
    spec, status = spec_of(obj), status_of(obj)
    selector = spec.get("selector")
    is_plain = bool(selector) and not ({"matchLabels", "matchExpressions"} & set(selector or {}))
    return {
        "Desired": spec.get("replicas", 0),
        "Current": status.get("replicas", 0),
        "Ready": status.get("readyReplicas", 0),
        "Selector": labels_of(selector) if is_plain else selector_of(selector),
        **containers_of(spec.get("template") or {}),
    }


def _stateful_set(obj: Object) -> Cells:
    spec, status = spec_of(obj), status_of(obj)
    return {"Ready": f"{status.get('readyReplicas', 0)}/{spec.get('replicas', 0)}", **containers_of(spec["template"])}


def _daemon_set(obj: Object) -> Cells:
    spec, status = spec_of(obj), status_of(obj)
    return {
        "Desired": status.get("desiredNumberScheduled", 0),
        "Current": status.get("currentNumberScheduled", 0),
        "Ready": status.get("numberReady", 0),
        "Up-to-date": status.get("updatedNumberScheduled", 0),
        "Available": status.get("numberAvailable", 0),
        "Node Selector": labels_of(spec_of(spec["template"]).get("nodeSelector")),
        "Selector": selector_of(spec.get("selector")),
        **containers_of(spec["template"]),
    }


def _job(obj: Object) -> Cells:
    spec, status = spec_of(obj), status_of(obj)
    wanted, done = spec.get("completions"), status.get("succeeded", 0)
    parallel = spec.get("parallelism") or 0
    completions = (
        f"{done}/{wanted}" if wanted is not None else f"{done}/1 of {parallel}" if parallel > 1 else f"{done}/1"
    )
    duration = between(status.get("startTime"), status.get("completionTime")) if status.get("startTime") else ""
    return {
        "Status": _job_status(obj),
        "Completions": completions,
        "Duration": duration,
        "Selector": selector_of(spec.get("selector")),
        **containers_of(spec["template"]),
    }


def _job_status(obj: Object) -> str:
    true = [each["type"] for each in status_of(obj).get("conditions") or () if each.get("status") == "True"]
    for kind, shown in (("Complete", "Complete"), ("Failed", "Failed"), ("Suspended", "Suspended")):
        if kind in true:
            return shown
    if obj["metadata"].get("deletionTimestamp"):
        return "Terminating"
    return (
        "FailureTarget"
        if "FailureTarget" in true
        else "SuccessCriteriaMet"
        if "SuccessCriteriaMet" in true
        else "Running"
    )


def _cron_job(obj: Object) -> Cells:
    spec, status = spec_of(obj), status_of(obj)
    last = status.get("lastScheduleTime")
    return {
        "Schedule": spec.get("schedule", ""),
        "Timezone": spec.get("timeZone") or NONE,
        "Suspend": "True" if spec.get("suspend") else "False",
        "Active": len(status.get("active") or ()),
        "Last Schedule": age(last) if last else NONE,
        "Selector": selector_of(spec["jobTemplate"]["spec"].get("selector")),
        **containers_of(spec["jobTemplate"]["spec"]["template"]),
    }


# -- network ---------------------------------------------------------------------------------------------------


def _service(obj: Object) -> Cells:
    spec, status = spec_of(obj), status_of(obj)
    given = [
        each.get("ip") or each.get("hostname") or "" for each in (status.get("loadBalancer") or {}).get("ingress") or ()
    ]
    kind = spec.get("type", "")
    external = list(spec.get("externalIPs") or ())
    if kind == "ExternalName":
        shown = spec.get("externalName") or NONE
    elif kind == "LoadBalancer":
        shown = ",".join([*given, *external]) or "<pending>"
    else:
        shown = ",".join(external) or NONE
    ports = ",".join(_service_port(each) for each in spec.get("ports") or ())
    return {
        "Type": kind,
        "Cluster-IP": spec.get("clusterIP") or NONE,
        "External-IP": shown,
        "Port(s)": ports or NONE,
        "Selector": labels_of(spec.get("selector")),
    }


def _service_port(port: Object) -> str:
    node = f":{port['nodePort']}" if port.get("nodePort") else ""
    return f"{port.get('port')}{node}/{port.get('protocol')}"


def _endpoints(obj: Object) -> Cells:
    found = [
        f"{address.get('ip')}:{port.get('port')}"
        for subset in obj.get("subsets") or ()
        for port in subset.get("ports") or ()
        for address in subset.get("addresses") or ()
    ]
    return {"Endpoints": _few(found)}


def _few(found: Sequence[str]) -> str:
    rest = f" + {len(found) - 3} more..." if len(found) > 3 else ""
    return ",".join(found[:3]) + rest if found else NONE


def _endpoint_slice(obj: Object) -> Cells:
    ports = [str(each.get("port", "*")) for each in obj.get("ports") or ()]
    addresses = [address for each in obj.get("endpoints") or () for address in each.get("addresses") or ()]
    return {
        "AddressType": obj.get("addressType", ""),
        "Ports": _few(ports) if ports else "<unset>",
        "Endpoints": _few(addresses) if addresses else "<unset>",
    }


def _ingress(obj: Object) -> Cells:
    spec, status = spec_of(obj), status_of(obj)
    hosts = [each["host"] for each in spec.get("rules") or () if each.get("host")]
    given = (status.get("loadBalancer") or {}).get("ingress") or ()
    return {
        "Class": spec.get("ingressClassName") or NONE,
        "Hosts": _few(hosts) if hosts else "*",
        "Address": ",".join(each.get("ip") or each.get("hostname") or "" for each in given),
        "Ports": "80, 443" if spec.get("tls") else "80",
    }


def _network_policy(obj: Object) -> Cells:
    return {"Pod-Selector": selector_of(spec_of(obj).get("podSelector"))}


# -- cluster ---------------------------------------------------------------------------------------------------


def _namespace(obj: Object) -> Cells:
    return {"Status": status_of(obj).get("phase", "")}


def _node(obj: Object) -> Cells:
    spec, status, labels = spec_of(obj), status_of(obj), obj["metadata"].get("labels") or {}
    info = status.get("nodeInfo") or {}
    addresses = {each["type"]: each["address"] for each in status.get("addresses") or ()}
    ready = next((each for each in status.get("conditions") or () if each["type"] == "Ready"), None)
    words = "Unknown" if ready is None else "Ready" if ready["status"] == "True" else "NotReady"
    prefix = "node-role.kubernetes.io/"
    return {
        "Status": f"{words},SchedulingDisabled" if spec.get("unschedulable") else words,
        "Roles": ",".join(sorted(key.removeprefix(prefix) for key in labels if key.startswith(prefix))) or NONE,
        "Version": info.get("kubeletVersion", ""),
        "Internal-IP": addresses.get("InternalIP", NONE),
        "External-IP": addresses.get("ExternalIP", NONE),
        "OS-Image": info.get("osImage") or "<unknown>",
        "Kernel-Version": info.get("kernelVersion") or "<unknown>",
        "Container-Runtime": info.get("containerRuntimeVersion") or "<unknown>",
    }


def _event(obj: Object) -> Cells:
    involved = obj.get("involvedObject") or obj.get("regarding") or {}
    source = obj.get("source") or obj.get("deprecatedSource") or {}
    first = obj.get("firstTimestamp") or obj.get("deprecatedFirstTimestamp") or obj.get("eventTime")
    series = obj.get("series") or {}
    last = series.get("lastObservedTime") or obj.get("lastTimestamp") or obj.get("deprecatedLastTimestamp") or first
    component = source.get("component") or obj.get("reportingComponent") or obj.get("reportingController") or ""
    instance = source.get("host") or obj.get("reportingInstance")
    return {
        "Last Seen": age(last),
        "Type": obj.get("type", ""),
        "Reason": obj.get("reason", ""),
        "Object": f"{involved.get('kind', '').lower()}/{involved.get('name', '')}",
        "Subobject": involved.get("fieldPath", ""),
        "Source": f"{component}, {instance}" if instance else component,
        "Message": str(obj.get("message") or obj.get("note") or "").strip(),
        "First Seen": age(first),
        "Count": str(series.get("count") or obj.get("count") or obj.get("deprecatedCount") or 1),
    }


def _claim(obj: Object) -> Cells:
    spec, status = spec_of(obj), status_of(obj)
    is_bound = bool(spec.get("volumeName"))
    phase = "Terminating" if obj["metadata"].get("deletionTimestamp") else status.get("phase", "")
    return {
        "Status": phase,
        "Volume": spec.get("volumeName", ""),
        "Capacity": (status.get("capacity") or {}).get("storage", "") if is_bound else "",
        "Access Modes": _modes(status.get("accessModes")) if is_bound else "",
        "StorageClass": spec.get("storageClassName") or "",
        "VolumeAttributesClass": spec.get("volumeAttributesClassName") or "<unset>",
        "VolumeMode": spec.get("volumeMode") or "<unset>",
    }


def _modes(modes: JSON) -> str:
    return ",".join(_MODES.get(str(each), str(each)) for each in modes or ())


def _volume(obj: Object) -> Cells:
    spec, status = spec_of(obj), status_of(obj)
    claim = spec.get("claimRef")
    return {
        "Capacity": (spec.get("capacity") or {}).get("storage", ""),
        "Access Modes": _modes(spec.get("accessModes")),
        "Reclaim Policy": spec.get("persistentVolumeReclaimPolicy", ""),
        "Status": "Terminating" if obj["metadata"].get("deletionTimestamp") else status.get("phase", ""),
        "Claim": f"{claim.get('namespace')}/{claim.get('name')}" if claim else "",
        "StorageClass": spec.get("storageClassName", ""),
        "VolumeAttributesClass": spec.get("volumeAttributesClassName") or "<unset>",
        "Reason": status.get("reason", ""),
        "VolumeMode": spec.get("volumeMode") or "<unset>",
    }


def _storage_class(obj: Object) -> Cells:
    is_default = (obj["metadata"].get("annotations") or {}).get("storageclass.kubernetes.io/is-default-class") == "true"
    name = obj["metadata"].get("name", "")
    return {
        "Name": f"{name} (default)" if is_default else name,
        "Provisioner": obj.get("provisioner", ""),
        "ReclaimPolicy": obj.get("reclaimPolicy", "Delete"),
        "VolumeBindingMode": obj.get("volumeBindingMode", "<unset>"),
        "AllowVolumeExpansion": "true" if obj.get("allowVolumeExpansion") else "false",
    }


def _data(obj: Object) -> Cells:
    return {"Data": str(len(obj.get("data") or {}) + len(obj.get("binaryData") or {})), "Type": obj.get("type", "")}


def _binding(obj: Object) -> Cells:
    role, subjects = obj["roleRef"], obj.get("subjects") or ()

    def named(kind: str) -> str:
        return ", ".join(each["name"] for each in subjects if each["kind"] == kind)

    accounts = ", ".join(
        f"{each.get('namespace', '')}/{each['name']}" for each in subjects if each["kind"] == "ServiceAccount"
    )
    return {
        "Role": f"{role.get('kind')}/{role.get('name')}",
        "Users": named("User"),
        "Groups": named("Group"),
        "ServiceAccounts": accounts,
    }


def _lease(obj: Object) -> Cells:
    return {"Holder": spec_of(obj).get("holderIdentity", "")}


def _budget(obj: Object) -> Cells:
    spec, status = spec_of(obj), status_of(obj)
    return {
        "Min Available": str(spec.get("minAvailable", "N/A")),
        "Max Unavailable": str(spec.get("maxUnavailable", "N/A")),
        "Allowed Disruptions": status.get("disruptionsAllowed", 0),
    }


def _priority_class(obj: Object) -> Cells:
    return {
        "Value": obj.get("value", 0),
        "Global-Default": obj.get("globalDefault", False),
        "PreemptionPolicy": obj.get("preemptionPolicy", "PreemptLowerPriority"),
    }


def _webhooks(obj: Object) -> Cells:
    return {"Webhooks": len(obj.get("webhooks") or ())}


_RBAC, _ADMISSION = "rbac.authorization.k8s.io", "admissionregistration.k8s.io"
_ROWS: dict[tuple[str, str], Callable[[Object], Cells]] = {
    ("", "configmaps"): _data,
    ("", "endpoints"): _endpoints,
    ("", "events"): _event,
    ("", "namespaces"): _namespace,
    ("", "nodes"): _node,
    ("", "persistentvolumeclaims"): _claim,
    ("", "persistentvolumes"): _volume,
    ("", "pods"): _pod,
    ("", "replicationcontrollers"): _replica_set,
    ("", "secrets"): _data,
    ("", "services"): _service,
    ("events.k8s.io", "events"): _event,
    ("apps", "daemonsets"): _daemon_set,
    ("apps", "deployments"): _deployment,
    ("apps", "replicasets"): _replica_set,
    ("apps", "statefulsets"): _stateful_set,
    ("batch", "cronjobs"): _cron_job,
    ("batch", "jobs"): _job,
    ("coordination.k8s.io", "leases"): _lease,
    ("discovery.k8s.io", "endpointslices"): _endpoint_slice,
    ("networking.k8s.io", "ingresses"): _ingress,
    ("networking.k8s.io", "networkpolicies"): _network_policy,
    ("policy", "poddisruptionbudgets"): _budget,
    (_RBAC, "rolebindings"): _binding,
    (_RBAC, "clusterrolebindings"): _binding,
    ("scheduling.k8s.io", "priorityclasses"): _priority_class,
    ("storage.k8s.io", "storageclasses"): _storage_class,
    (_ADMISSION, "mutatingwebhookconfigurations"): _webhooks,
    (_ADMISSION, "validatingwebhookconfigurations"): _webhooks,
}
