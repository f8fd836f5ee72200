"""Validation of the volumes of pods and pod templates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from pyctrl._validation import names
from pyctrl.apiserver._errors import FieldError, duplicate, field_forbidden, invalid_value, required
from pyctrl.apiserver._registry._pods import volume_sources as sources
from pyctrl.apiserver._registry._pods.projected_volumes import downward_api, projected
from pyctrl.apiserver._registry.field_validation import (
    invalid_name,
    no_backsteps,
    required_name,
    required_texts,
    text_of,
)
from pyctrl.apiserver._registry.volume_claims import validate_claim_template
from pyctrl.apiserver._schema.schema import JSON

__all__ = ["validate_volumes"]

_Part: TypeAlias = Mapping[str, JSON]
_Check: TypeAlias = Callable[[_Part, str], Iterator[FieldError]]
_MANY = "may not specify more than 1 volume type"
_LONG = (
    "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is "
    "specified."
)
_LONGEST_PORTAL = 64


def validate_volumes(
    volumes: Sequence[_Part], path: str, *, pod_name: str = "", is_pod: bool
) -> tuple[dict[str, _Part], list[FieldError]]:
    """Return the valid volumes by name, which containers can mount, and the errors of the others.

    Args:
        pod_name: The name of the pod; "" for a template. Claims of ephemeral volumes are named after it.
    """
    valid: dict[str, _Part] = {}
    found: list[FieldError] = []
    created = {f"{pod_name}-{each.get('name', '')}" for each in volumes if each.get("ephemeral") and pod_name}
    for index, volume in enumerate(volumes):
        name, where = text_of(volume, "name"), f"{path}[{index}]"
        errors = [*_source(volume, where, pod_name, is_pod=is_pod), *required_name(names.label, name, f"{where}.name")]
        if name in valid:
            errors.append(duplicate(f"{where}.name", name))
        if not errors:
            valid[name] = volume
        found += errors
        claim = text_of(volume.get("persistentVolumeClaim") or {}, "claimName")
        if claim in created:
            why = "must not reference a PVC that gets created for an ephemeral volume"
            found.append(invalid_value(f"{where}.persistentVolumeClaim.claimName", claim, why))
    return valid, found


def _source(volume: _Part, path: str, pod_name: str, *, is_pod: bool) -> Iterator[FieldError]:
    is_first = True
    for key in (key for key in _SOURCES if key in volume):
        source = volume[key]
        if source is None:
            continue
        if is_first:
            where = _PATHS.get(key, key)
            if key == "image" and is_pod:
                yield from required_texts(source, f"{path}.image", "reference")
            yield from _SOURCES[key](source, f"{path}.{where}")
        else:
            yield field_forbidden(f"{path}.{_PATHS_OF_SECOND.get(key, key)}", _MANY)
        if key == "iscsi":
            yield from _long_portal(source, text_of(volume, "name"), path)
        if key == "ephemeral" and is_first:
            yield from _claim_name(text_of(volume, "name"), pod_name, path)
        is_first = False
    if is_first:
        yield required(path, "must specify a volume type")


def _long_portal(source: _Part, name: str, path: str) -> Iterator[FieldError]:
    portal = text_of(source, "targetPortal")
    if source.get("initiatorName") is not None and len(f"{name}:{portal}") > _LONGEST_PORTAL:
        yield invalid_value(f"{path}.name", name, _LONG)


def _claim_name(volume: str, pod_name: str, path: str) -> Iterator[FieldError]:
    claim = f"{pod_name}-{volume}"
    for why in names.subdomain(claim) if pod_name and volume else ():
        yield invalid_value(f"{path}.name", volume, f'PVC name "{claim}": {why}')


def _empty_dir(source: _Part, path: str) -> Iterator[FieldError]:
    if sources.is_negative(source.get("sizeLimit")):
        yield field_forbidden(f"{path}.sizeLimit", "SizeLimit field must be a valid resource quantity")


def _git_repo(source: _Part, path: str) -> Iterator[FieldError]:
    yield from required_texts(source, path, "repository")
    directory = text_of(source, "directory")
    if directory.startswith("/"):
        yield invalid_value(f"{path}.directory", directory, "must be a relative path")
    yield from no_backsteps(directory, f"{path}.directory")


def _csi(source: _Part, path: str) -> Iterator[FieldError]:
    yield from sources.csi_driver_name(text_of(source, "driver"), f"{path}.driver")
    if (reference := source.get("nodePublishSecretRef")) is not None:
        name = text_of(reference, "name")
        if not name:
            yield required(f"{path}.nodePublishSecretRef.name")
        else:
            yield from invalid_name(names.subdomain, name, f"{path}.name")


def _ephemeral(source: _Part, path: str) -> Iterator[FieldError]:
    if source.get("volumeClaimTemplate") is None:
        yield required(f"{path}.volumeClaimTemplate")
    else:
        yield from validate_claim_template(source["volumeClaimTemplate"], f"{path}.volumeClaimTemplate")


def _image(source: _Part, path: str) -> Iterator[FieldError]:
    yield from sources.pull_policy(text_of(source, "pullPolicy"), f"{path}.pullPolicy")


_SOURCES: Final[Mapping[str, _Check]] = {  # in the order of kube-apiserver's checks
    "emptyDir": _empty_dir,
    "hostPath": sources.host_path,
    "gitRepo": _git_repo,
    "gcePersistentDisk": sources.partition_of("pdName"),
    "awsElasticBlockStore": sources.partition_of("volumeID"),
    "secret": sources.files_of("secretName"),
    "nfs": sources.nfs,
    "iscsi": sources.iscsi,
    "glusterfs": sources.needs("endpoints", "path"),
    "flocker": sources.flocker,
    "persistentVolumeClaim": sources.needs("claimName"),
    "rbd": sources.needs("monitors", "image"),
    "cinder": sources.cinder,
    "cephfs": sources.needs("monitors"),
    "quobyte": sources.quobyte,
    "downwardAPI": downward_api,
    "fc": sources.fibre_channel,
    "flexVolume": sources.flex_volume,
    "configMap": sources.files_of("name"),
    "azureFile": sources.needs("secretName", "shareName"),
    "vsphereVolume": sources.needs("volumePath"),
    "photonPersistentDisk": sources.needs("pdID"),
    "portworxVolume": sources.needs("volumeID"),
    "azureDisk": sources.azure_disk,
    "storageos": sources.storage_os,
    "projected": projected,
    "scaleIO": sources.needs("gateway", "system", "volumeName"),
    "csi": _csi,
    "ephemeral": _ephemeral,
    "image": _image,
}
_PATHS: Final = {"gcePersistentDisk": "persistentDisk"}
_PATHS_OF_SECOND: Final = {"cephfs": "cephFS", "downwardAPI": "downwarAPI"}  # upstream's spelling
