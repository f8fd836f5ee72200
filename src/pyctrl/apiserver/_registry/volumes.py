"""Claims, volumes and storage classes: their defaults, what the server decides about them, and what it refuses."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from pyctrl import _clock
from pyctrl._validation import names
from pyctrl.api import Quantity
from pyctrl.apiserver._errors import FieldError, field_forbidden, invalid_value, not_supported, required
from pyctrl.apiserver._registry.strategy import Object
from pyctrl.apiserver._schema.defaulting import copied, set_defaults
from pyctrl.apiserver._schema.schema import JSON

_MODES: Final = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
_VOLUME_MODES: Final = ("Block", "Filesystem")
_POLICIES: Final = ("Delete", "Recycle", "Retain")
_BINDING: Final = ("Immediate", "WaitForFirstConsumer")
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
#: The sources of volumes in the order of Go's struct, with the fields of those that are met.
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


# -- claims ----------------------------------------------------------------------------------------------------


def default_claim(obj: Object) -> None:
    """A file system."""
    set_defaults(obj["spec"], volumeMode="Filesystem")
    set_defaults(obj["status"], phase="Pending")


def prepare_claim(new: Object, old: Object | None) -> None:
    """A new claim is pending, and protected while pods use it; it has no source that no claim can have."""
    if old is None:
        new["status"] = {"phase": "Pending"}
        _protect(new, "kubernetes.io/pvc-protection")
        source = new["spec"].get("dataSource")
        if source and (source.get("apiGroup") or "", source.get("kind")) not in (
            ("", "PersistentVolumeClaim"),
            ("snapshot.storage.k8s.io", "VolumeSnapshot"),
        ):
            del new["spec"]["dataSource"]
        elif source:
            set_defaults(new["spec"], dataSourceRef=copied(source))


def validate_claim(new: Object, old: Object | None) -> Iterator[FieldError]:
    """Check a claim: it asks for modes and for storage, and stays what it is."""
    spec = new["spec"]
    yield from _access_modes(spec.get("accessModes"), "at least 1 access mode is required")
    yield from _selector(spec.get("selector") or {}, "spec.selector")
    yield from _amount((spec.get("resources") or {}).get("requests") or {}, "spec.resources")
    yield from _class_name(spec)
    yield from _volume_mode(spec)
    if old is not None:
        yield from _claim_change(new, old)


def claim_warnings(new: Object) -> Iterator[str]:
    """Tell of the class's name where it was before 1.6, and of parts of bytes."""
    yield from _class_warning(new)
    for amounts in ("requests", "limits"):
        of = (new["spec"].get("resources") or {}).get(amounts) or {}
        yield from _fraction_warning(f"spec.resources.{amounts}[storage]", of.get("storage"))


def volume_warnings(new: Object) -> Iterator[str]:
    """Tell of what is said in annotations, and of recycling."""
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
    yield from (not_supported("spec.accessModes", each, _MODES) for each in modes if each not in _MODES)
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
    """Nothing of a claim changes but what it has not said, and the size of one that is bound."""
    before, after = copied(old["spec"]), copied(new["spec"])
    wanted, had = _requested(after), _requested(before)
    if not before.get("volumeName"):
        before["volumeName"] = after.get("volumeName", "")
    if before.get("storageClassName") is None and _BETA_CLASS not in (new["metadata"].get("annotations") or {}):
        before["storageClassName"] = after.get("storageClassName")
    is_bound = new["status"].get("phase") == "Bound" or old["status"].get("phase") == "Bound"
    if is_bound and had is not None:
        after["resources"]["requests"]["storage"] = had
        before["volumeAttributesClassName"] = after.get("volumeAttributesClassName")
    shown = [_claim_struct(each) for each in (before, after)]
    if shown[0] != shown[1]:
        exceptions = "resources.requests and volumeAttributesClassName for bound claims"
        yield field_forbidden("spec", f"spec is immutable after creation except {exceptions}{go_diff(*shown)}")
    elif wanted is not None and had is not None and Quantity(wanted) < Quantity(had):
        has = (old["status"].get("capacity") or {}).get("storage")
        if has is not None and Quantity(wanted) <= Quantity(has):
            yield field_forbidden("spec.resources.requests.storage", "field can not be less than status.capacity")
    if new["spec"].get("volumeMode") != old["spec"].get("volumeMode"):
        yield invalid_value("volumeMode", new["spec"].get("volumeMode"), "field is immutable")


def _requested(spec: Mapping[str, JSON]) -> JSON:
    return ((spec.get("resources") or {}).get("requests") or {}).get("storage")


def _claim_struct(spec: Mapping[str, JSON]) -> JSON:
    found = go_struct(spec, _CLAIM_FIELDS) or {}
    resources = spec.get("resources") or {}
    found["Resources"] = {"Limits": resources.get("limits"), "Requests": resources.get("requests")}
    return found


# -- volumes ---------------------------------------------------------------------------------------------------


def default_volume(obj: Object) -> None:
    """Retained, a file system."""
    spec = obj["spec"]
    set_defaults(spec, persistentVolumeReclaimPolicy="Retain", volumeMode="Filesystem")
    set_defaults(obj["status"], phase="Pending")
    if spec.get("hostPath") is not None:
        spec["hostPath"].setdefault("type", "")


def prepare_volume(new: Object, old: Object | None) -> None:
    """A new volume is pending, and protected while claims use it; the time of the last change of phase is kept."""
    if old is None:
        new["status"] = {"phase": "Pending", "lastPhaseTransitionTime": _timestamp()}
        _protect(new, "kubernetes.io/pv-protection")
    elif new["status"].get("phase") != old["status"].get("phase"):
        new["status"]["lastPhaseTransitionTime"] = _timestamp()


def _protect(obj: Object, finalizer: str) -> None:
    finalizers = obj["metadata"].setdefault("finalizers", [])
    if finalizer not in finalizers:
        finalizers.append(finalizer)


def _timestamp() -> str:
    return _clock.now().strftime("%Y-%m-%dT%H:%M:%SZ")


def validate_volume(new: Object, old: Object | None) -> Iterator[FieldError]:
    """Check a volume: it has modes, a size and one source, which stays."""
    spec = new["spec"]
    yield from _access_modes(spec.get("accessModes"), "")
    yield from _capacity(spec.get("capacity") or {})
    policy = spec.get("persistentVolumeReclaimPolicy")
    if policy and policy not in _POLICIES:
        yield not_supported("spec.persistentVolumeReclaimPolicy", policy, _POLICIES)
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
    required_ = (spec.get("nodeAffinity") or {}).get("required")
    if required_ is not None and not required_.get("nodeSelectorTerms"):
        yield required("spec.nodeAffinity.required.nodeSelectorTerms", "must have at least one node selector term")
    if spec.get("local") is not None and required_ is None:
        yield required("spec.nodeAffinity", "Local volume requires node affinity")


def _sources(spec: Mapping[str, JSON]) -> Iterator[FieldError]:
    given = [key for _, key, _ in _SOURCES if spec.get(key) is not None]
    if not given:
        yield required("spec", "must specify a volume type")
    for key in sorted(given, key=("hostPath", "nfs", "local", "csi").index) if len(given) > 1 and _known(given) else ():
        if key != "hostPath":
            yield field_forbidden(f"spec.{key}", "may not specify more than 1 volume type")
            return
    for key in given:
        yield from _source(key, spec[key], f"spec.{key}")


def _known(given: Sequence[str]) -> bool:
    return all(key in ("hostPath", "nfs", "local", "csi") for key in given)


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
        what = "spec.persistentvolumesource"
        yield field_forbidden(what, f"{what} is immutable after creation{go_diff(before, after)}")
    if new.get("volumeMode") != old.get("volumeMode"):
        yield invalid_value("volumeMode", new.get("volumeMode"), "field is immutable")
    yield from _node_affinity(new)  # kube-apiserver checks it twice, and says so twice
    if old.get("nodeAffinity") is not None and new.get("nodeAffinity") != old.get("nodeAffinity"):
        why = "field is immutable, except for updating from beta label to GA"
        yield invalid_value("nodeAffinity", _affinity_struct(new.get("nodeAffinity")), why)


def _shown_source(source: Mapping[str, JSON] | None, fields: Sequence[tuple[str, str, JSON]]) -> JSON:
    return go_struct(source, fields) if fields else source


def _affinity_struct(affinity: Mapping[str, JSON] | None) -> JSON:
    if affinity is None:
        return None

    def requirements(each: Sequence[Mapping[str, JSON]] | None) -> JSON:
        names_ = (("Key", "key", ""), ("Operator", "operator", ""), ("Values", "values", None))
        return None if each is None else [go_struct(one, names_) for one in each]

    terms = [
        {
            "MatchExpressions": requirements(term.get("matchExpressions")),
            "MatchFields": requirements(term.get("matchFields")),
        }
        for term in (affinity.get("required") or {}).get("nodeSelectorTerms") or ()
    ]
    return {"Required": {"NodeSelectorTerms": terms}}


# -- classes ---------------------------------------------------------------------------------------------------


def default_storage_class(obj: Object) -> None:
    """Volumes are deleted with their claims and bound at once."""
    set_defaults(obj, reclaimPolicy="Delete", volumeBindingMode="Immediate")


def validate_storage_class(new: Object, old: Object | None) -> Iterator[FieldError]:
    """Check a class: it names who makes volumes, and stays what it is but for growing and mounting."""
    if old is not None:
        for key in ("parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"):
            if new.get(key) != old.get(key):
                yield invalid_value(key, new.get(key), "field is immutable")
        return
    provisioner = new.get("provisioner") or ""
    if not provisioner:
        yield required("provisioner")
    else:
        lowered = provisioner.lower()
        yield from (invalid_value("provisioner", lowered, why) for why in names.qualified_name(lowered))
    if "" in (new.get("parameters") or {}):
        yield invalid_value("parameters", "", "field can not be empty.")
    if new["reclaimPolicy"] not in ("Delete", "Retain"):
        yield not_supported("reclaimPolicy", new["reclaimPolicy"], ("Delete", "Retain"))
    if new["volumeBindingMode"] not in _BINDING:
        yield not_supported("volumeBindingMode", new["volumeBindingMode"], _BINDING)
    yield from _topologies(new.get("allowedTopologies") or ())


def _topologies(topologies: Sequence[Mapping[str, JSON]]) -> Iterator[FieldError]:
    for index, term in enumerate(topologies):
        for place, each in enumerate(term.get("matchLabelExpressions") or ()):
            if not each.get("values"):
                yield required(f"allowedTopologies[{index}].matchLabelExpressions[{place}].values")


#: A Go struct: its field names in order, where each is in the object, and what it is when it is absent.
Fields: TypeAlias = Sequence[tuple[str, str, JSON]]

CONTEXT = 3  # lines around a change


def go_struct(value: Mapping[str, JSON] | None, fields: Fields) -> dict[str, JSON] | None:
    """Give an object as its internal Go type prints: every field, under its Go name."""
    if value is None:
        return None
    return {name: value.get(key, absent) for name, key, absent in fields}


def go_diff(old: JSON, new: JSON) -> str:
    """Give the lines that differ, with some around them, as a unified diff without its head; ends with a newline."""
    before, after = (json.dumps(each, indent=1, ensure_ascii=False).splitlines(keepends=True) for each in (old, new))
    before[-1], after[-1] = before[-1] + "\n", after[-1] + "\n"
    lines = list(difflib.unified_diff(before, after, n=CONTEXT))
    return "\n" + "".join(lines[2:])
