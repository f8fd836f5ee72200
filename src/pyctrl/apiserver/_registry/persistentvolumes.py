"""PersistentVolumes and PersistentVolumeClaims."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from pyctrl._validation import names
from pyctrl.api import Quantity
from pyctrl.apiserver._errors import FieldError, field_forbidden, invalid_value, not_supported, required
from pyctrl.apiserver._meta.system_fields import timestamp
from pyctrl.apiserver._meta.validation import MetadataCheck
from pyctrl.apiserver._registry.builtin_resource import BuiltinResource
from pyctrl.apiserver._registry.strategy import Object, Strategy
from pyctrl.apiserver._registry.table_cells import Cells, access_modes, spec_of, status_of
from pyctrl.apiserver._schema.defaulting import copied, set_defaults
from pyctrl.apiserver._schema.schema import JSON

__all__ = ["RESOURCES"]

_ACCESS_MODES: Final = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
_VOLUME_MODES: Final = ("Block", "Filesystem")
_RECLAIM_POLICIES: Final = ("Delete", "Recycle", "Retain")
_BETA_CLASS: Final = "volume.beta.kubernetes.io/storage-class"
_MOUNT_OPTIONS: Final = "volume.beta.kubernetes.io/mount-options"
_CLAIM_FIELDS: Final = (
    ("AccessModes", "accessModes", None),
    ("Selector", "selector", None),
    ("Resources", "resources", None),
    ("VolumeName", "volumeName", ""),
    ("StorageClassName", "storageClassName", None),
    ("VolumeMode", "volumeMode", None),
    ("DataSource", "dataSource", None),
    ("DataSourceRef", "dataSourceRef", None),
    ("VolumeAttributesClassName", "volumeAttributesClassName", None),
)
_NFS: Final = (("Server", "server", ""), ("Path", "path", ""), ("ReadOnly", "readOnly", False))
_CSI: Final = (
    ("Driver", "driver", ""),
    ("VolumeHandle", "volumeHandle", ""),
    ("ReadOnly", "readOnly", False),
    ("FSType", "fsType", ""),
    ("VolumeAttributes", "volumeAttributes", None),
    ("ControllerPublishSecretRef", "controllerPublishSecretRef", None),
    ("NodeStageSecretRef", "nodeStageSecretRef", None),
    ("NodePublishSecretRef", "nodePublishSecretRef", None),
    ("ControllerExpandSecretRef", "controllerExpandSecretRef", None),
    ("NodeExpandSecretRef", "nodeExpandSecretRef", None),
)
_COMMON: Final = ("hostPath", "nfs", "local", "csi")
#: The volume sources in the order of Go's struct, with the fields of common ones.
_SOURCES: Final[tuple[tuple[str, str, Sequence[tuple[str, str, JSON]]], ...]] = (
    ("GCEPersistentDisk", "gcePersistentDisk", ()),
    ("AWSElasticBlockStore", "awsElasticBlockStore", ()),
    ("HostPath", "hostPath", (("Path", "path", ""), ("Type", "type", None))),
    ("Glusterfs", "glusterfs", ()),
    ("NFS", "nfs", _NFS),
    ("RBD", "rbd", ()),
    ("Quobyte", "quobyte", ()),
    ("ISCSI", "iscsi", ()),
    ("FlexVolume", "flexVolume", ()),
    ("Cinder", "cinder", ()),
    ("CephFS", "cephfs", ()),
    ("FC", "fc", ()),
    ("Flocker", "flocker", ()),
    ("AzureFile", "azureFile", ()),
    ("VsphereVolume", "vsphereVolume", ()),
    ("AzureDisk", "azureDisk", ()),
    ("PhotonPersistentDisk", "photonPersistentDisk", ()),
    ("PortworxVolume", "portworxVolume", ()),
    ("ScaleIO", "scaleIO", ()),
    ("Local", "local", (("Path", "path", ""), ("FSType", "fsType", None))),
    ("StorageOS", "storageos", ()),
    ("CSI", "csi", _CSI),
)


def _default_claim(obj: Object) -> None:
    """Default to a filesystem volume."""
    set_defaults(obj["spec"], volumeMode="Filesystem")
    set_defaults(obj["status"], phase="Pending")


def _prepare_claim(new: Object, old: Object | None) -> None:
    """Set the phase of a new claim, and drop a data source of an unsupported kind."""
    if old is None:
        new["status"] = {"phase": "Pending"}
        source = new["spec"].get("dataSource")
        if source and (source.get("apiGroup") or "", source.get("kind")) not in (
            ("", "PersistentVolumeClaim"),
            ("snapshot.storage.k8s.io", "VolumeSnapshot"),
        ):
            del new["spec"]["dataSource"]
        elif source:
            set_defaults(new["spec"], dataSourceRef=copied(source))


def _validate_claim(new: Object, old: Object | None) -> Iterator[FieldError]:
    """Check access modes, requests and class of a claim, and that its spec does not change."""
    spec = new["spec"]
    yield from _access_modes(spec.get("accessModes"), "at least 1 access mode is required")
    yield from _selector(spec.get("selector") or {}, "spec.selector")
    yield from _amount((spec.get("resources") or {}).get("requests") or {}, "spec.resources")
    yield from _class_name(spec)
    yield from _volume_mode(spec)
    if old is not None:
        yield from _claim_change(new, old)


def _claim_warnings(new: Object) -> Iterator[str]:
    """Warn about the deprecated class annotation and about fractional bytes."""
    yield from _class_warning(new)
    for amounts in ("requests", "limits"):
        of = (new["spec"].get("resources") or {}).get(amounts) or {}
        yield from _fraction_warning(f"spec.resources.{amounts}[storage]", of.get("storage"))


def _volume_warnings(new: Object) -> Iterator[str]:
    """Warn about deprecated annotations and the deprecated reclaim policy Recycle."""
    yield from _class_warning(new)
    if _MOUNT_OPTIONS in (new["metadata"].get("annotations") or {}):
        yield f'metadata.annotations[{_MOUNT_OPTIONS}]: deprecated since v1.31; use "mountOptions" attribute instead'
    if new["spec"].get("persistentVolumeReclaimPolicy") == "Recycle":
        instead = "Instead, the recommended approach is to use dynamic provisioning."
        yield f"spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. {instead}"


def _class_warning(new: Object) -> Iterator[str]:
    if _BETA_CLASS in (new["metadata"].get("annotations") or {}):
        yield f'metadata.annotations[{_BETA_CLASS}]: deprecated since v1.8; use "storageClassName" attribute instead'


def _fraction_warning(path: str, amount: JSON) -> Iterator[str]:
    if amount is not None and Quantity(amount).value % 1:
        yield f'{path}: fractional byte value "{Quantity(amount)}" is invalid, must be an integer'


def _access_modes(modes: JSON, why: str) -> Iterator[FieldError]:
    if not modes:
        yield required("spec.accessModes", why)
        return
    yield from (not_supported("spec.accessModes", each, _ACCESS_MODES) for each in modes if each not in _ACCESS_MODES)
    if "ReadWriteOncePod" in modes and len(set(modes)) > 1:
        yield field_forbidden("spec.accessModes", "may not use ReadWriteOncePod with other access modes")


def _selector(selector: Mapping[str, JSON], path: str) -> Iterator[FieldError]:
    for key, value in (selector.get("matchLabels") or {}).items():
        yield from (invalid_value(f"{path}.matchLabels", key, why) for why in names.qualified_name(key))
        yield from (invalid_value(f"{path}.matchLabels", value, why) for why in names.label_value(value))


def _amount(amounts: Mapping[str, JSON], path: str) -> Iterator[FieldError]:
    if "storage" not in amounts:
        yield required(f"{path}[storage]")
    elif Quantity(amounts["storage"]) <= 0:
        yield invalid_value(f"{path}[storage]", amounts["storage"], "must be greater than zero")


def _class_name(spec: Mapping[str, JSON]) -> Iterator[FieldError]:
    name = spec.get("storageClassName")
    yield from (invalid_value("spec.storageClassName", name, why) for why in (names.subdomain(name) if name else ()))


def _volume_mode(spec: Mapping[str, JSON]) -> Iterator[FieldError]:
    mode = spec.get("volumeMode")
    if mode and mode not in _VOLUME_MODES:
        yield not_supported("spec.volumeMode", mode, _VOLUME_MODES)


def _claim_change(new: Object, old: Object) -> Iterator[FieldError]:
    """Check that an update changes only what is not set yet, and for a bound claim its size and attributes class."""
    before, after = copied(old["spec"]), copied(new["spec"])
    requested, earlier = _requested(after), _requested(before)
    if not before.get("volumeName"):
        before["volumeName"] = after.get("volumeName", "")
    if before.get("storageClassName") is None and _BETA_CLASS not in (new["metadata"].get("annotations") or {}):
        before["storageClassName"] = after.get("storageClassName")
    is_bound = new["status"].get("phase") == "Bound" or old["status"].get("phase") == "Bound"
    if is_bound and earlier is not None:
        after["resources"]["requests"]["storage"] = earlier
        before["volumeAttributesClassName"] = after.get("volumeAttributesClassName")
    shown = [_claim_struct(each) for each in (before, after)]
    if shown[0] != shown[1]:
        exceptions = "resources.requests and volumeAttributesClassName for bound claims"
        yield field_forbidden("spec", f"spec is immutable after creation except {exceptions}{_go_diff(*shown)}")
    elif requested is not None and earlier is not None and Quantity(requested) < Quantity(earlier):
        capacity = (old["status"].get("capacity") or {}).get("storage")
        if capacity is not None and Quantity(requested) <= Quantity(capacity):
            yield field_forbidden("spec.resources.requests.storage", "field can not be less than status.capacity")
    if new["spec"].get("volumeMode") != old["spec"].get("volumeMode"):
        yield invalid_value("volumeMode", new["spec"].get("volumeMode"), "field is immutable")


def _requested(spec: Mapping[str, JSON]) -> JSON:
    return ((spec.get("resources") or {}).get("requests") or {}).get("storage")


def _claim_struct(spec: Mapping[str, JSON]) -> JSON:
    found = _go_struct(spec, _CLAIM_FIELDS) or {}
    resources = spec.get("resources") or {}
    found["Resources"] = {"Limits": resources.get("limits"), "Requests": resources.get("requests")}
    return found


def _default_volume(obj: Object) -> None:
    """Default to the reclaim policy Retain and a filesystem volume."""
    spec = obj["spec"]
    set_defaults(spec, persistentVolumeReclaimPolicy="Retain", volumeMode="Filesystem")
    set_defaults(obj["status"], phase="Pending")
    if spec.get("hostPath") is not None:
        spec["hostPath"].setdefault("type", "")


def _prepare_volume(new: Object, old: Object | None) -> None:
    """Set the phase of a new volume, and the time of the last change of phase."""
    if old is None:
        new["status"] = {"phase": "Pending", "lastPhaseTransitionTime": timestamp()}
    elif new["status"].get("phase") != old["status"].get("phase"):
        new["status"]["lastPhaseTransitionTime"] = timestamp()


def _validate_volume(new: Object, old: Object | None) -> Iterator[FieldError]:
    """Check access modes, capacity and the source of a volume; the source does not change."""
    spec = new["spec"]
    yield from _access_modes(spec.get("accessModes"), "")
    yield from _capacity(spec.get("capacity") or {})
    policy = spec.get("persistentVolumeReclaimPolicy")
    if policy and policy not in _RECLAIM_POLICIES:
        yield not_supported("spec.persistentVolumeReclaimPolicy", policy, _RECLAIM_POLICIES)
    yield from _node_affinity(spec)
    yield from _sources(spec)
    if policy == "Recycle" and (spec.get("hostPath") or {}).get("path") == "/":
        why = "may not be 'recycle' for a hostPath mount of '/'"
        yield field_forbidden("spec.persistentVolumeReclaimPolicy", why)
    yield from _class_name(spec)
    yield from _volume_mode(spec)
    if old is not None:
        yield from _volume_change(new["spec"], old["spec"])


def _capacity(capacity: Mapping[str, JSON]) -> Iterator[FieldError]:
    if not capacity:
        yield required("spec.capacity")
    if "storage" not in capacity or len(capacity) > 1:
        yield not_supported("spec.capacity", dict(sorted(capacity.items())), ("storage",))
    elif Quantity(capacity["storage"]) <= 0:
        yield invalid_value("spec.capacity[storage]", capacity["storage"], "must be greater than zero")


def _node_affinity(spec: Mapping[str, JSON]) -> Iterator[FieldError]:
    selector = (spec.get("nodeAffinity") or {}).get("required")
    if selector is not None and not selector.get("nodeSelectorTerms"):
        yield required("spec.nodeAffinity.required.nodeSelectorTerms", "must have at least one node selector term")
    if spec.get("local") is not None and selector is None:
        yield required("spec.nodeAffinity", "Local volume requires node affinity")


def _sources(spec: Mapping[str, JSON]) -> Iterator[FieldError]:
    present = [key for _, key, _ in _SOURCES if spec.get(key) is not None]
    if not present:
        yield required("spec", "must specify a volume type")
    has_several = len(present) > 1 and _are_common(present)
    for key in sorted(present, key=_COMMON.index) if has_several else ():
        if key != "hostPath":
            yield field_forbidden(f"spec.{key}", "may not specify more than 1 volume type")
            return
    for key in present:
        yield from _source(key, spec[key], f"spec.{key}")


def _are_common(present: Sequence[str]) -> bool:
    return all(key in _COMMON for key in present)


def _source(key: str, source: Mapping[str, JSON], path: str) -> Iterator[FieldError]:
    match key:
        case "hostPath" | "local":
            if not source.get("path"):
                yield required(f"{path}.path")
            elif ".." in source["path"].split("/"):
                yield invalid_value(f"{path}.path", source["path"], "must not contain '..'")
        case "nfs":
            yield from (required(f"{path}.{each}") for each in ("server", "path") if not source.get(each))
            if source.get("path") and not source["path"].startswith("/"):
                yield invalid_value(f"{path}.path", source["path"], "must be an absolute path")
        case "csi":
            yield from _driver(source.get("driver") or "", f"{path}.driver")
            if not source.get("volumeHandle"):
                yield required(f"{path}.volumeHandle")


def _driver(name: str, path: str) -> Iterator[FieldError]:
    if not name:
        yield required(path)
        return
    yield from (invalid_value(path, name, why) for why in names.subdomain(name.lower()))


def _volume_change(new: Mapping[str, JSON], old: Mapping[str, JSON]) -> Iterator[FieldError]:
    before, after = (
        {name: _shown_source(spec.get(key), fields) for name, key, fields in _SOURCES} for spec in (old, new)
    )
    if before != after:
        field = "spec.persistentvolumesource"
        yield field_forbidden(field, f"{field} is immutable after creation{_go_diff(before, after)}")
    if new.get("volumeMode") != old.get("volumeMode"):
        yield invalid_value("volumeMode", new.get("volumeMode"), "field is immutable")
    yield from _node_affinity(new)  # as upstream, a second time, with a second error
    if old.get("nodeAffinity") is not None and new.get("nodeAffinity") != old.get("nodeAffinity"):
        why = "field is immutable, except for updating from beta label to GA"
        yield invalid_value("nodeAffinity", _affinity_struct(new.get("nodeAffinity")), why)


def _shown_source(source: Mapping[str, JSON] | None, fields: Sequence[tuple[str, str, JSON]]) -> JSON:
    return _go_struct(source, fields) if fields else source


def _affinity_struct(affinity: Mapping[str, JSON] | None) -> JSON:
    if affinity is None:
        return None

    def requirements(each: Sequence[Mapping[str, JSON]] | None) -> JSON:
        fields = (("Key", "key", ""), ("Operator", "operator", ""), ("Values", "values", None))
        return None if each is None else [_go_struct(one, fields) for one in each]

    terms = [
        {
            "MatchExpressions": requirements(term.get("matchExpressions")),
            "MatchFields": requirements(term.get("matchFields")),
        }
        for term in (affinity.get("required") or {}).get("nodeSelectorTerms") or ()
    ]
    return {"Required": {"NodeSelectorTerms": terms}}


#: The fields of a Go struct in order: Go name, JSON name, zero value.
_Fields: TypeAlias = Sequence[tuple[str, str, JSON]]
_CONTEXT = 3  # lines of context in a diff


def _go_struct(value: Mapping[str, JSON] | None, fields: _Fields) -> dict[str, JSON] | None:
    """Return an object as its internal Go type prints: every field, by its Go name."""
    if value is None:
        return None
    return {name: value.get(key, absent) for name, key, absent in fields}


def _go_diff(old: JSON, new: JSON) -> str:
    """Return a unified diff without its header, with a newline at the end."""
    before, after = (json.dumps(each, indent=1, ensure_ascii=False).splitlines(keepends=True) for each in (old, new))
    before[-1], after[-1] = before[-1] + "\n", after[-1] + "\n"
    lines = list(difflib.unified_diff(before, after, n=_CONTEXT))
    return "\n" + "".join(lines[2:])


def _class_of(obj: Object) -> str:
    """Return the storage class, of which the old annotation has precedence."""
    annotated = (obj["metadata"].get("annotations") or {}).get("volume.beta.kubernetes.io/storage-class")
    return str(spec_of(obj).get("storageClassName") or "" if annotated is None else annotated)


def _claim_cells(obj: Object) -> Cells:
    spec, status = spec_of(obj), status_of(obj)
    is_bound = bool(spec.get("volumeName"))
    phase = "Terminating" if obj["metadata"].get("deletionTimestamp") else status.get("phase", "")
    return {
        "Status": phase,
        "Volume": spec.get("volumeName", ""),
        "Capacity": (status.get("capacity") or {}).get("storage", "0") if is_bound else "",
        "Access Modes": access_modes(status.get("accessModes")) if is_bound else "",
        "StorageClass": _class_of(obj),
        "VolumeAttributesClass": spec.get("volumeAttributesClassName", "<unset>"),
        "VolumeMode": spec.get("volumeMode", "<unset>"),
    }


def _volume_cells(obj: Object) -> Cells:
    spec, status = spec_of(obj), status_of(obj)
    claim = spec.get("claimRef")
    return {
        "Capacity": (spec.get("capacity") or {}).get("storage", "0"),
        "Access Modes": access_modes(spec.get("accessModes")),
        "Reclaim Policy": spec.get("persistentVolumeReclaimPolicy", ""),
        "Status": "Terminating" if obj["metadata"].get("deletionTimestamp") else status.get("phase", ""),
        "Claim": f"{claim.get('namespace', '')}/{claim.get('name', '')}" if claim is not None else "",
        "StorageClass": _class_of(obj),
        "VolumeAttributesClass": spec.get("volumeAttributesClassName", "<unset>"),
        "Reason": status.get("reason", ""),
        "VolumeMode": spec.get("volumeMode", "<unset>"),
    }


RESOURCES: Final = (
    BuiltinResource(
        group="",
        kind="PersistentVolumeClaim",
        strategy=Strategy(
            on_update=(MetadataCheck.CHANGE, MetadataCheck.WHOLE),
            returns_deleted_object=True,
            defaults=(_default_claim,),
            prepares=(_prepare_claim,),
            validates=(_validate_claim,),
            warns=_claim_warnings,
        ),
        cells=_claim_cells,
    ),
    BuiltinResource(
        group="",
        kind="PersistentVolume",
        strategy=Strategy(
            on_update=(MetadataCheck.WHOLE, MetadataCheck.WHOLE),
            returns_deleted_object=True,
            defaults=(_default_volume,),
            prepares=(_prepare_volume,),
            validates=(_validate_volume,),
            warns=_volume_warnings,
        ),
        cells=_volume_cells,
    ),
)
