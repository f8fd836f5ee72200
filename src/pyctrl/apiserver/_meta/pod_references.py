"""References of a pod to other API objects: a mirror pod must not have any, and a node may read those of its pods."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

__all__ = ["api_reference", "config_map_names", "secret_names"]


#: Volume sources that are read from the API, in the order of kube-apiserver's search.
_VOLUMES: Final = {
    "configMap": "configmaps (via configmap volumes)",
    "secret": "secrets (via secret volumes)",
    "csi": "csidrivers (via CSI volumes)",
    "glusterfs": "endpoints (via glusterFS volumes)",
    "persistentVolumeClaim": "persistentvolumeclaims",
    "ephemeral": "persistentvolumeclaims (via ephemeral volumes)",
    "azureFile": "secrets (via azureFile volumes)",
}
_PROJECTED: Final = {
    "configMap": "configmaps (via projected volumes)",
    "secret": "secrets (via projected volumes)",
    "serviceAccountToken": "serviceaccounts (via projected volumes)",
    "clusterTrustBundle": "clustertrustbundles",
    "podCertificate": "podcertificates",
}
_SECRET_REFS: Final = ("cephfs", "cinder", "flexVolume", "rbd", "scaleIO", "iscsi", "storageos")


def api_reference(spec: Mapping[str, Any]) -> str:
    """Return the resource of the first reference of a pod, as in kube-apiserver's errors; "" without one."""
    if spec.get("serviceAccountName"):
        return "serviceaccounts"
    if any(secret_names(spec)):
        return "secrets"
    if any(config_map_names(spec)):
        return "configmaps"
    if spec.get("resourceClaims"):
        return "resourceclaims"
    return next((found for volume in spec.get("volumes") or () if (found := _volume(volume))), "")


def _volume(volume: Mapping[str, Any]) -> str:
    for key, resource in _VOLUMES.items():
        if volume.get(key) is not None:
            return resource
    sources = (volume.get("projected") or {}).get("sources") or ()
    return next((name for source in sources for key, name in _PROJECTED.items() if source.get(key) is not None), "")


def secret_names(spec: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of the secrets; "" for a reference without a name."""
    yield from (each.get("name") or "" for each in spec.get("imagePullSecrets") or ())
    yield from _environment(spec, "secretRef", "secretKeyRef")
    for volume in spec.get("volumes") or ():
        yield (volume.get("azureFile") or {}).get("secretName") or ""
        yield (volume.get("secret") or {}).get("secretName") or ""
        yield ((volume.get("csi") or {}).get("nodePublishSecretRef") or {}).get("name") or ""
        yield from (((volume.get(key) or {}).get("secretRef") or {}).get("name") or "" for key in _SECRET_REFS)
        yield from _projected(volume, "secret")


def config_map_names(spec: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of the ConfigMaps; "" for a reference without a name."""
    yield from _environment(spec, "configMapRef", "configMapKeyRef")
    for volume in spec.get("volumes") or ():
        yield (volume.get("configMap") or {}).get("name") or ""
        yield from _projected(volume, "configMap")


def _environment(spec: Mapping[str, Any], whole: str, key: str) -> Iterator[str]:
    kinds = ("initContainers", "containers", "ephemeralContainers")
    for container in (each for kind in kinds for each in spec.get(kind) or ()):
        yield from ((each.get(whole) or {}).get("name") or "" for each in container.get("envFrom") or ())
        sources = (each.get("valueFrom") or {} for each in container.get("env") or ())
        yield from ((source.get(key) or {}).get("name") or "" for source in sources)


def _projected(volume: Mapping[str, Any], key: str) -> Iterator[str]:
    sources = (volume.get("projected") or {}).get("sources") or ()
    yield from ((source.get(key) or {}).get("name") or "" for source in sources)
