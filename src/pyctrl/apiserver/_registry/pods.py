"""Pods and pod templates: their defaults, and what the server decides about a pod."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pyctrl._go.text import shown_value
from pyctrl._validation import names
from pyctrl.apiserver._errors import FieldError, duplicate, field_forbidden, invalid_value, not_supported, required
from pyctrl.apiserver._meta.system_fields import timestamp
from pyctrl.apiserver._registry.container_validation import container_rules
from pyctrl.apiserver._registry.pod_validation import pod_rules, volume_rules
from pyctrl.apiserver._registry.strategy import Object
from pyctrl.apiserver._schema.defaulting import copied, set_defaults
from pyctrl.apiserver._schema.schema import JSON

_TOLERATED = 300  # seconds a pod stays on a node that is not ready or not reachable: DefaultTolerationSeconds
_NOT_READY = "node.kubernetes.io/not-ready"
_UNREACHABLE = "node.kubernetes.io/unreachable"
_FILE_MODE = 420  # 0644
_VOLUME_DEFAULTS: dict[str, dict[str, JSON]] = {
    "configMap": {"defaultMode": _FILE_MODE},
    "secret": {"defaultMode": _FILE_MODE},
    "downwardAPI": {"defaultMode": _FILE_MODE},
    "projected": {"defaultMode": _FILE_MODE},
    "hostPath": {"type": ""},
    "iscsi": {"iscsiInterface": "default"},
    "rbd": {"pool": "rbd", "user": "admin", "keyring": "/etc/ceph/keyring"},
    "azureDisk": {"cachingMode": "ReadWrite", "kind": "Shared", "fsType": "ext4", "readOnly": False},
    "scaleIO": {"storageMode": "ThinProvisioned", "fsType": "xfs"},
}


# -- defaults --------------------------------------------------------------------------------------------------


def default_pod(obj: Object) -> None:
    """Fill a pod's spec; requests follow limits, which templates leave alone."""
    spec = obj["spec"]
    default_pod_spec(spec)
    set_defaults(spec, enableServiceLinks=True)
    for container in (*(spec.get("initContainers") or ()), *(spec.get("containers") or ())):
        limits = container.get("resources", {}).get("limits")
        if limits:
            requests = container["resources"].setdefault("requests", {})
            for resource, quantity in limits.items():
                requests.setdefault(resource, quantity)


def default_template(template: Object) -> None:
    """Fill the pod template of a workload."""
    default_pod_spec(template["spec"])


def default_pod_spec(spec: Object) -> None:
    """Fill what pods and templates have in common."""
    set_defaults(
        spec,
        restartPolicy="Always",
        terminationGracePeriodSeconds=30,
        dnsPolicy="ClusterFirst",
        securityContext={},
        schedulerName="default-scheduler",
    )
    if spec.get("serviceAccountName") and not spec.get("serviceAccount"):
        spec["serviceAccount"] = spec["serviceAccountName"]
    elif spec.get("serviceAccount") and not spec.get("serviceAccountName"):
        spec["serviceAccountName"] = spec["serviceAccount"]
    for key in ("initContainers", "containers", "ephemeralContainers"):
        for container in spec.get(key) or ():
            _default_container(container, host_network=bool(spec.get("hostNetwork")))
    for volume in spec.get("volumes") or ():
        _default_volume(volume)


def _default_container(container: Object, *, host_network: bool) -> None:
    set_defaults(
        container,
        terminationMessagePath="/dev/termination-log",
        terminationMessagePolicy="File",
        imagePullPolicy=_pull_policy(container.get("image", "")),
    )
    for port in container.get("ports") or ():
        set_defaults(port, protocol="TCP")
        if host_network and not port.get("hostPort"):
            port["hostPort"] = port["containerPort"]
    for variable in container.get("env") or ():
        if reference := (variable.get("valueFrom") or {}).get("fieldRef"):
            set_defaults(reference, apiVersion="v1")
    for key in ("livenessProbe", "readinessProbe", "startupProbe"):
        if probe := container.get(key):
            set_defaults(probe, timeoutSeconds=1, periodSeconds=10, successThreshold=1, failureThreshold=3)
            _default_handler(probe)
    for key in ("postStart", "preStop"):
        if handler := (container.get("lifecycle") or {}).get(key):
            _default_handler(handler)


def _default_handler(handler: Object) -> None:
    if request := handler.get("httpGet"):
        set_defaults(request, path="/", scheme="HTTP")
    if call := handler.get("grpc"):
        call.setdefault("service", "")


def _pull_policy(image: str) -> str:
    """`latest`, said or meant, is pulled always; any other tag or a digest if it is not there."""
    if "@" in image:
        return "IfNotPresent"
    tag = image.rpartition("/")[2].partition(":")[2]
    return "Always" if tag in ("", "latest") else "IfNotPresent"


def _default_volume(volume: Object) -> None:
    if not any(key != "name" for key in volume):
        volume["emptyDir"] = {}
    for source, values in _VOLUME_DEFAULTS.items():
        if volume.get(source) is not None:
            for key, value in values.items():
                volume[source].setdefault(key, value)
    for source in (volume.get("projected") or {}).get("sources") or ():
        if token := source.get("serviceAccountToken"):
            set_defaults(token, expirationSeconds=3600)
        for item in (source.get("downwardAPI") or {}).get("items") or ():
            if reference := item.get("fieldRef"):
                set_defaults(reference, apiVersion="v1")
    for item in (volume.get("downwardAPI") or {}).get("items") or ():
        if reference := item.get("fieldRef"):
            set_defaults(reference, apiVersion="v1")
    if claim := (volume.get("ephemeral") or {}).get("volumeClaimTemplate"):
        set_defaults(claim["spec"], volumeMode="Filesystem")


# -- what the server decides -----------------------------------------------------------------------------------


def prepare_pod(new: Object, old: Object | None) -> None:
    """Give a new pod its phase, its quality of service, its priority and its tolerations; keep addresses in step."""
    spec = new["spec"]
    if old is None:
        set_defaults(spec, priority=0, preemptionPolicy="PreemptLowerPriority")
        if spec["terminationGracePeriodSeconds"] < 0:
            spec["terminationGracePeriodSeconds"] = 1  # what a negative one means
    else:
        set_defaults(spec, **{key: old["spec"][key] for key in ("priority", "preemptionPolicy") if key in old["spec"]})
    _tolerate(spec)
    status: Object = new["status"] if old is not None else _first_status(spec)
    new["status"] = status
    if status.get("podIP") and status["podIP"] not in [each.get("ip") for each in status.get("podIPs") or ()][:1]:
        status["podIPs"] = [{"ip": status["podIP"]}]
    if status.get("podIPs") and not status.get("podIP"):
        status["podIP"] = status["podIPs"][0]["ip"]
    if status.get("hostIP") and not status.get("hostIPs"):
        status["hostIPs"] = [{"ip": status["hostIP"]}]


def _first_status(spec: Object) -> Object:
    status: Object = {"phase": "Pending", "qosClass": quality_of_service(spec)}
    if spec.get("schedulingGates"):
        message = "Scheduling is blocked due to non-empty scheduling gates"
        gated = {"type": "PodScheduled", "status": "False", "reason": "SchedulingGated", "message": message}
        status["conditions"] = [{**gated, "lastProbeTime": None, "lastTransitionTime": timestamp()}]
    return status


def _tolerate(spec: Object) -> None:
    tolerations = spec.setdefault("tolerations", [])
    for key in (_NOT_READY, _UNREACHABLE):
        if not any(_is_tolerated(each, key) for each in tolerations):
            tolerations.append(
                {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": _TOLERATED}
            )


def _is_tolerated(toleration: Mapping[str, JSON], key: str) -> bool:
    return toleration.get("key") in (key, None, "") and toleration.get("effect") in ("NoExecute", None, "")


def quality_of_service(spec: Mapping[str, JSON]) -> str:
    """BestEffort asks for nothing, Guaranteed has equal requests and limits everywhere, Burstable is the rest."""
    containers = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
    resources = [each.get("resources") or {} for each in containers]
    asked = [
        {key: each[part][key] for key in ("cpu", "memory") if key in (each.get(part) or {})}
        for each in resources
        for part in ("requests", "limits")
    ]
    if not any(asked):
        return "BestEffort"
    pairs = zip(asked[::2], asked[1::2], strict=True)
    return "Guaranteed" if all(len(limits) == 2 and requests == limits for requests, limits in pairs) else "Burstable"


# -- validation ------------------------------------------------------------------------------------------------

_RESTART = ("Always", "OnFailure", "Never")
_PULL = ("Always", "IfNotPresent", "Never")
_DNS = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_PROTOCOLS = ("SCTP", "TCP", "UDP")


def validate_pod(new: Object, old: Object | None) -> Iterator[FieldError]:
    """Check a pod; of an existing one only a few fields of the spec may change."""
    yield from validate_pod_spec(new["spec"], "spec")
    if old is None and new["spec"].get("ephemeralContainers"):
        yield field_forbidden("spec.ephemeralContainers", "cannot be set on create")
    if old is not None:
        yield from _lost_tolerations(new["spec"], old["spec"])
    if old is not None and _frozen(new["spec"]) != _frozen(old["spec"]):
        why = (
            "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
            "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
            "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
        )
        yield field_forbidden("spec", why)


def _lost_tolerations(new: Mapping[str, JSON], old: Mapping[str, JSON]) -> Iterator[FieldError]:
    """Tolerations may be added; an existing one may only change its seconds."""

    def identity(toleration: Mapping[str, JSON]) -> dict[str, JSON]:
        return {key: value for key, value in toleration.items() if key != "tolerationSeconds"}

    kept = [identity(each) for each in new.get("tolerations") or ()]
    if any(identity(each) not in kept for each in old.get("tolerations") or ()):
        why = "existing toleration can not be modified except its tolerationSeconds"
        yield field_forbidden("spec.tolerations", why)


def _frozen(spec: Mapping[str, JSON]) -> JSON:
    rest = copied({key: value for key, value in spec.items() if key not in ("activeDeadlineSeconds", "tolerations")})
    if spec.get("schedulingGates"):
        for key in ("nodeSelector", "affinity", "schedulingGates"):
            rest.pop(key, None)
    rest.pop("schedulingGates", None)
    for key in ("containers", "initContainers"):
        for container in rest.get(key) or ():
            container.pop("image", None)
    return rest


def validate_pod_spec(spec: Mapping[str, JSON], path: str) -> Iterator[FieldError]:
    """Check the spec of a pod or a template: what operators get wrong first."""
    volumes = volume_names(spec)
    yield from _volumes(spec.get("volumes") or (), f"{path}.volumes")
    containers = spec.get("containers")
    if not containers:
        yield required(f"{path}.containers")
    seen: set[str] = set()
    for key in ("containers", "initContainers"):
        for index, container in enumerate(spec.get(key) or ()):
            where = f"{path}.{key}[{index}]"
            yield from validate_container(container, where, volumes, seen)
            yield from container_rules(container, where, host_network=bool(spec.get("hostNetwork")))
    if spec.get("restartPolicy") not in _RESTART:
        yield not_supported(f"{path}.restartPolicy", spec.get("restartPolicy"), _RESTART)
    if spec.get("dnsPolicy") not in _DNS:
        yield not_supported(f"{path}.dnsPolicy", spec.get("dnsPolicy"), _DNS)
    yield from pod_rules(spec, path)
    for name in ("nodeName", "serviceAccountName"):
        for why in names.subdomain(spec[name]) if spec.get(name) else ():
            yield invalid_value(f"{path}.{name}", spec[name], why)


def volume_names(spec: Mapping[str, JSON]) -> set[str]:
    """Name the volumes that can be mounted: those that nothing is wrong with."""
    return {each.get("name", "") for each in spec.get("volumes") or () if not any(volume_rules(each, ""))}


def _volumes(volumes: JSON, path: str) -> Iterator[FieldError]:
    seen: set[str] = set()
    for index, volume in enumerate(volumes):
        name, where = volume.get("name", ""), f"{path}[{index}].name"
        if not name:
            yield required(where)
        else:
            yield from (invalid_value(where, name, why) for why in names.label(name))
        if name in seen:
            yield duplicate(where, name)
        seen.add(name)


def validate_container(
    container: Mapping[str, JSON], path: str, volumes: set[str], seen: set[str]
) -> Iterator[FieldError]:
    """Check a container of a pod; its name is added to those that were seen."""
    name = container.get("name", "")
    if not name:
        yield required(f"{path}.name")
    else:
        yield from (invalid_value(f"{path}.name", name, why) for why in names.label(name))
    if name and name in seen:
        yield duplicate(f"{path}.name", name)
    seen.add(name)
    image = container.get("image", "")
    if not image:
        yield required(f"{path}.image")
    elif image != image.strip():
        yield invalid_value(f"{path}.image", image, "must not have leading or trailing whitespace")
    if container.get("imagePullPolicy") not in _PULL:
        yield not_supported(f"{path}.imagePullPolicy", container.get("imagePullPolicy"), _PULL)
    yield from _ports(container.get("ports") or (), f"{path}.ports")
    yield from _environment(container.get("env") or (), f"{path}.env")
    for index, mount in enumerate(container.get("volumeMounts") or ()):
        yield from _mount(mount, f"{path}.volumeMounts[{index}]", volumes)
    yield from _resources(container.get("resources") or {}, f"{path}.resources")


def _ports(ports: JSON, path: str) -> Iterator[FieldError]:
    for index, port in enumerate(ports):
        where = f"{path}[{index}]"
        number = port.get("containerPort", 0)
        if number == 0:
            yield required(f"{where}.containerPort")
        elif not 1 <= number <= 65535:
            yield invalid_value(f"{where}.containerPort", number, "must be between 1 and 65535, inclusive")
        if port.get("protocol") not in _PROTOCOLS:
            yield not_supported(f"{where}.protocol", port.get("protocol"), _PROTOCOLS)


def _environment(variables: JSON, path: str) -> Iterator[FieldError]:
    for index, variable in enumerate(variables):
        where = f"{path}[{index}]"
        if not variable.get("name"):
            yield required(f"{where}.name")
        elif "=" in variable["name"]:
            yield invalid_value(
                f"{where}.name",
                variable["name"],
                "a valid environment variable name must consist only of printable ASCII characters other than '='",
            )
        if variable.get("value") and variable.get("valueFrom"):
            yield invalid_value(f"{where}.valueFrom", "", "may not be specified when `value` is not empty")


def _mount(mount: Mapping[str, JSON], path: str, volumes: set[str]) -> Iterator[FieldError]:
    name = mount.get("name", "")
    if not name:
        yield required(f"{path}.name")
    elif name not in volumes:
        yield FieldError("FieldValueNotFound", f"Not found: {shown_value(name)}", f"{path}.name")
    if not mount.get("mountPath"):
        yield required(f"{path}.mountPath")


def _resources(resources: Mapping[str, JSON], path: str) -> Iterator[FieldError]:
    from pyctrl.api import Quantity

    limits = resources.get("limits") or {}
    for name, quantity in (resources.get("requests") or {}).items():
        if name in limits and Quantity(quantity) > Quantity(limits[name]):
            why = f"must be less than or equal to {name} limit of {limits[name]}"
            yield invalid_value(f"{path}.requests", quantity, why)
