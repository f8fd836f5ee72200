"""Defaults of pods and pod templates."""

from __future__ import annotations

import re

from pyctrl.api import Quantity
from pyctrl.apiserver._registry.strategy import Object
from pyctrl.apiserver._schema.defaulting import set_defaults, set_missing
from pyctrl.apiserver._schema.schema import JSON

__all__ = ["default_pod", "default_template", "default_volume_source"]

# The reference of an image: a domain with upper case letters has a dot or a port, and other parts are in lower case.
_IMAGE = re.compile(
    r"(?P<name>((?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])(?:\.(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9]))*"
    r"(?::\d+)?/)?[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*)"
    r"(?::(?P<tag>\w[\w.-]{0,127}))?(?P<digest>@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?"
)
_LONGEST_IMAGE = 255
_FILE_MODE = 420  # 0644
_NOTHING = Quantity("0")
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


def default_pod(obj: Object) -> None:
    """Fill a pod. Requests default to the limits, in pods only."""
    spec = obj["spec"]
    _default_pod_spec(spec)
    set_defaults(spec, enableServiceLinks=True)
    if spec.get("hostNetwork"):
        _default_host_ports(spec)
    for container in (*(spec.get("initContainers") or ()), *(spec.get("containers") or ())):
        limits = container.get("resources", {}).get("limits")
        if limits:
            requests = container["resources"].setdefault("requests", {})
            for resource, quantity in limits.items():
                requests.setdefault(resource, quantity)
    _default_pod_requests(spec)


def _default_host_ports(spec: Object) -> None:
    for container in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())):
        for port in container.get("ports") or ():
            if not port.get("hostPort"):
                port["hostPort"] = port.get("containerPort", 0)


def _default_pod_requests(spec: Object) -> None:
    """Default the requests of a whole pod with limits to those of its containers, or to its limits."""
    resources = spec.get("resources") or {}
    limits = resources.get("limits") or {}
    if limits or resources.get("requests"):
        pages = {name: each for name, each in _totals(spec, "limits").items() if name.startswith("hugepages-")}
        limits = {**pages, **limits}
    if not limits:
        return
    resources["limits"] = limits
    used = {name: each for name, each in _totals(spec, "requests").items() if name in ("cpu", "memory")}
    own = {name: each for name, each in limits.items() if name in ("cpu", "memory") or name.startswith("hugepages-")}
    if requests := {**own, **used, **(resources.get("requests") or {})}:
        resources["requests"] = requests


def _totals(spec: Object, part: str) -> dict[str, str]:
    """Return what the containers of a pod need at most: together, with the sidecars, or one init container."""
    running: dict[str, Quantity] = {}
    most: dict[str, Quantity] = {}
    for container in spec.get("initContainers") or ():
        is_sidecar = container.get("restartPolicy") == "Always"
        for name, text in ((container.get("resources") or {}).get(part) or {}).items():
            amount = running.get(name, _NOTHING) + Quantity(text)
            if is_sidecar:
                running[name] = amount
            most[name] = max(most.get(name, _NOTHING), amount)
    for container in spec.get("containers") or ():
        for name, text in ((container.get("resources") or {}).get(part) or {}).items():
            running[name] = running.get(name, _NOTHING) + Quantity(text)
    return {
        name: max(running.get(name, _NOTHING), most.get(name, _NOTHING)).canonical() for name in {**most, **running}
    }


def default_template(template: Object) -> None:
    """Fill the pod template of a workload."""
    _default_pod_spec(template["spec"])


def _default_pod_spec(spec: Object) -> None:
    """Fill the spec of a pod or a template."""
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
            _default_container(container)
    for volume in spec.get("volumes") or ():
        _default_volume(volume)


def _default_container(container: Object) -> None:
    set_defaults(
        container,
        terminationMessagePath="/dev/termination-log",
        terminationMessagePolicy="File",
        imagePullPolicy=_pull_policy(container.get("image", "")),
    )
    for port in container.get("ports") or ():
        set_defaults(port, protocol="TCP")
    for variable in container.get("env") or ():
        if (reference := (variable.get("valueFrom") or {}).get("fieldRef")) is not None:
            set_defaults(reference, apiVersion="v1")
    for key in ("livenessProbe", "readinessProbe", "startupProbe"):
        if (probe := container.get(key)) is not None:
            set_defaults(probe, timeoutSeconds=1, periodSeconds=10, successThreshold=1, failureThreshold=3)
            _default_handler(probe)
    for key in ("postStart", "preStop"):
        if (handler := (container.get("lifecycle") or {}).get(key)) is not None:
            _default_handler(handler)


def _default_handler(handler: Object) -> None:
    if (request := handler.get("httpGet")) is not None:
        set_defaults(request, path="/", scheme="HTTP")
    if (call := handler.get("grpc")) is not None:
        set_defaults(call, service="")


def _pull_policy(image: str) -> str:
    """Return Always for the tag `latest`, which is also the default tag; IfNotPresent for all other images."""
    found = _IMAGE.fullmatch(image)
    if found is None or found["digest"] or _full_length(found["name"]) > _LONGEST_IMAGE:
        return "IfNotPresent"
    return "Always" if found["tag"] in (None, "latest") else "IfNotPresent"


def _full_length(name: str) -> int:
    """Return the length of an image's name with the domain and the library that a short name implies."""
    domain, slash, _ = name.partition("/")
    if slash and ("." in domain or ":" in domain or domain == "localhost"):
        return len(name)
    return len(f"docker.io/{name}" if slash else f"docker.io/library/{name}")


def default_volume_source(volume: Object) -> None:
    """Fill the source of a volume, of a pod or of a PersistentVolume."""
    for source, values in _VOLUME_DEFAULTS.items():
        for key, value in values.items() if volume.get(source) is not None else ():
            if volume[source].get(key) is None or (volume[source][key] == "" and source != "azureDisk"):
                volume[source][key] = value


def _default_volume(volume: Object) -> None:
    if not any(key != "name" for key in volume):
        volume["emptyDir"] = {}
    default_volume_source(volume)
    for source in (volume.get("projected") or {}).get("sources") or ():
        if (token := source.get("serviceAccountToken")) is not None:
            set_defaults(token, expirationSeconds=3600)
        for item in (source.get("downwardAPI") or {}).get("items") or ():
            if (reference := item.get("fieldRef")) is not None:
                set_defaults(reference, apiVersion="v1")
    for item in (volume.get("downwardAPI") or {}).get("items") or ():
        if (reference := item.get("fieldRef")) is not None:
            set_defaults(reference, apiVersion="v1")
    if (image := volume.get("image")) is not None:
        set_defaults(image, pullPolicy=_pull_policy(image.get("reference") or ""))
    if claim := (volume.get("ephemeral") or {}).get("volumeClaimTemplate"):
        set_missing(claim["spec"], volumeMode="Filesystem")
