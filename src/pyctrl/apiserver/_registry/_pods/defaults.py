"""Defaults of pods and pod templates."""

from __future__ import annotations

from pyctrl.apiserver._registry.strategy import Object
from pyctrl.apiserver._schema.defaulting import set_defaults
from pyctrl.apiserver._schema.schema import JSON

__all__ = ["default_pod", "default_template"]

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


def default_pod(obj: Object) -> None:
    """Fill a pod. Requests default to the limits, in pods only."""
    spec = obj["spec"]
    _default_pod_spec(spec)
    set_defaults(spec, enableServiceLinks=True)
    for container in (*(spec.get("initContainers") or ()), *(spec.get("containers") or ())):
        limits = container.get("resources", {}).get("limits")
        if limits:
            requests = container["resources"].setdefault("requests", {})
            for resource, quantity in limits.items():
                requests.setdefault(resource, quantity)


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
    """Return Always for the tag `latest`, which is also the default tag; IfNotPresent for other tags and digests."""
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
