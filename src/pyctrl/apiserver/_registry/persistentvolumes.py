"""PersistentVolumes and PersistentVolumeClaims."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from pyctrl._lazy_imports import lazy_function
from pyctrl.api import Quantity
from pyctrl.apiserver._errors import FieldError, field_forbidden, invalid_value
from pyctrl.apiserver._meta.system_fields import timestamp
from pyctrl.apiserver._meta.validation import MetadataCheck
from pyctrl.apiserver._registry._pods.defaults import default_volume_source
from pyctrl.apiserver._registry.builtin_resource import BuiltinResource
from pyctrl.apiserver._registry.go_structs import go_diff, go_struct
from pyctrl.apiserver._registry.strategy import Object, Strategy
from pyctrl.apiserver._registry.table_cells import Cells, access_modes, spec_of, status_of
from pyctrl.apiserver._schema.defaulting import copied, set_defaults, set_missing
from pyctrl.apiserver._schema.schema import JSON

if TYPE_CHECKING:
    from pyctrl.apiserver._registry._pods.warnings import node_term_warnings
    from pyctrl.apiserver._registry.volume_claims import validate_claim_spec, validate_claim_status
    from pyctrl.apiserver._registry.volume_validation import validate_volume_spec
else:  # imported with the first object
    node_term_warnings = lazy_function("pyctrl.apiserver._registry._pods.warnings", "node_term_warnings")
    validate_claim_spec = lazy_function("pyctrl.apiserver._registry.volume_claims", "validate_claim_spec")
    validate_claim_status = lazy_function("pyctrl.apiserver._registry.volume_claims", "validate_claim_status")
    validate_volume_spec = lazy_function("pyctrl.apiserver._registry.volume_validation", "validate_volume_spec")

__all__ = ["RESOURCES"]

_BETA_CLASS: Final = "volume.beta.kubernetes.io/storage-class"
_MOUNT_OPTIONS: Final = "volume.beta.kubernetes.io/mount-options"
_MOUNTED: Final = (  # sources that mount options apply to
    *("gcePersistentDisk", "awsElasticBlockStore", "glusterfs", "nfs", "rbd", "quobyte", "iscsi", "cinder", "cephfs"),
    *("azureFile", "vsphereVolume", "azureDisk", "photonPersistentDisk"),
)
_SOURCE_WARNINGS: Final = {
    "cephfs": "spec.cephfs: deprecated in v1.28, non-functional in v1.31+",
    "photonPersistentDisk": "spec.photonPersistentDisk: deprecated in v1.11, non-functional in v1.16+",
    "scaleIO": "spec.scaleIO: deprecated in v1.16, non-functional in v1.22+",
    "storageos": "spec.storageOS: deprecated in v1.22, non-functional in v1.25+",
    "glusterfs": "spec.glusterfs: deprecated in v1.25, non-functional in v1.26+",
    "rbd": "spec.rbd: deprecated in v1.28, non-functional in v1.31+",
}


def _default_claim(obj: Object) -> None:
    """Default to a filesystem volume."""
    set_missing(obj["spec"], volumeMode="Filesystem")
    set_defaults(obj["status"], phase="Pending")


def _prepare_claim(new: Object, old: Object | None) -> None:
    """Set the phase of a new claim, and make the two fields of its data source agree."""
    if old is None:
        new["status"] = {"phase": "Pending"}
    spec, before = new["spec"], (old or {}).get("spec") or {}
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    if (reference or {}).get("namespace") and before.get("dataSourceRef") is None:
        del spec["dataSourceRef"]  # the feature CrossNamespaceVolumeDataSource is off by default
        reference = None
    is_known = source and (source.get("apiGroup") or "", source.get("kind")) in (
        ("", "PersistentVolumeClaim"),
        ("snapshot.storage.k8s.io", "VolumeSnapshot"),
    )
    had_source = before.get("dataSource") is not None or before.get("dataSourceRef") is not None
    if source is not None and not is_known and reference is None and not had_source:
        del spec["dataSource"]
    elif source is not None and reference is None:
        spec["dataSourceRef"] = copied(source)
    elif reference is not None and source is None and not reference.get("namespace"):
        spec["dataSource"] = {key: value for key, value in reference.items() if key != "namespace"}


def _validate_claim(new: Object, old: Object | None) -> Iterator[FieldError]:
    """Check the spec of a claim, and that it does not change."""
    yield from validate_claim_spec(new["spec"], "spec", old and old["spec"])
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
    terms = ((new["spec"].get("nodeAffinity") or {}).get("required") or {}).get("nodeSelectorTerms") or ()
    for index, term in enumerate(terms):
        where = f"spec.nodeAffinity.required.nodeSelectorTerms[{index}]"
        yield from node_term_warnings(term, where, check_values=False)
    yield from (why for key, why in _SOURCE_WARNINGS.items() if new["spec"].get(key) is not None)


def _class_warning(new: Object) -> Iterator[str]:
    if _BETA_CLASS in (new["metadata"].get("annotations") or {}):
        yield f'metadata.annotations[{_BETA_CLASS}]: deprecated since v1.8; use "storageClassName" attribute instead'


def _fraction_warning(path: str, amount: JSON) -> Iterator[str]:
    if amount is not None and Quantity(amount).value % 1:
        yield f'{path}: fractional byte value "{Quantity(amount)}" is invalid, must be an integer'


def _claim_change(new: Object, old: Object) -> Iterator[FieldError]:
    """Check that an update changes only what is not set yet, and for a bound claim its size and attributes class."""
    before, after = copied(old["spec"]), copied(new["spec"])
    requested, earlier = _requested(after), _requested(before)
    if not before.get("volumeName"):
        before["volumeName"] = after.get("volumeName", "")
    yield from _class_change(new, old, before)
    is_bound = new["status"].get("phase") == "Bound"
    if is_bound and (after.get("resources") or {}).get("requests") is not None and earlier is not None:
        after["resources"]["requests"]["storage"] = earlier
    if is_bound:
        before["volumeAttributesClassName"] = after.get("volumeAttributesClassName")
    shown = [go_struct("PersistentVolumeClaimSpec", each) for each in (before, after)]
    if shown[0] != shown[1]:
        exceptions = "resources.requests and volumeAttributesClassName for bound claims"
        yield field_forbidden("spec", f"spec is immutable after creation except {exceptions}{go_diff(*shown)}")
    capacity = (old["status"].get("capacity") or {}).get("storage") or "0"
    if Quantity(requested or "0") < Quantity(earlier or "0") and Quantity(requested or "0") <= Quantity(capacity):
        yield field_forbidden("spec.resources.requests.storage", "field can not be less than status.capacity")
    if new["spec"].get("volumeMode") != old["spec"].get("volumeMode"):
        yield invalid_value("volumeMode", new["spec"].get("volumeMode"), "field is immutable")


def _class_change(new: Object, old: Object, before: dict[str, JSON]) -> Iterator[FieldError]:
    """Check the storage class; set the one that an update may set in `before`, the spec that is compared.

    The annotation of old clients may become the field of the same value. Otherwise it does not change, and the field is
    set once, to the value of the annotation if there is one.
    """
    annotation, earlier = (_beta_class(each) for each in (new, old))
    wanted, is_unset = new["spec"].get("storageClassName"), before.get("storageClassName") is None
    may_set = is_unset and wanted is not None and earlier in (None, wanted)
    replaces = may_set and earlier is not None and annotation in (None, earlier)
    if not replaces and (annotation or "") != (earlier or ""):
        yield invalid_value(f"metadata.annotations.{_BETA_CLASS}", annotation or "", "field is immutable")
    if may_set:
        before["storageClassName"] = wanted


def _beta_class(obj: Object) -> str | None:
    found: str | None = (obj["metadata"].get("annotations") or {}).get(_BETA_CLASS)
    return found


def _requested(spec: Mapping[str, JSON]) -> JSON:
    return ((spec.get("resources") or {}).get("requests") or {}).get("storage")


def _default_volume(obj: Object) -> None:
    """Default to the reclaim policy Retain and a filesystem volume."""
    spec = obj["spec"]
    set_defaults(spec, persistentVolumeReclaimPolicy="Retain")
    set_missing(spec, volumeMode="Filesystem")
    set_defaults(obj["status"], phase="Pending")
    default_volume_source(spec)


def _prepare_volume(new: Object, old: Object | None) -> None:
    """Set the phase of a new volume, and the time of the last change of phase."""
    if old is None:
        new["status"] = {"phase": "Pending", "lastPhaseTransitionTime": timestamp()}
        return
    status, before = new["status"], old["status"]
    is_given = status.get("lastPhaseTransitionTime") not in (None, before.get("lastPhaseTransitionTime"))
    if status.get("phase") != before.get("phase") and not is_given:
        status["lastPhaseTransitionTime"] = timestamp()
    elif status.get("lastPhaseTransitionTime") is None and before.get("lastPhaseTransitionTime"):
        status["lastPhaseTransitionTime"] = before["lastPhaseTransitionTime"]


def _validate_volume(new: Object, old: Object | None) -> Iterator[FieldError]:
    """Check a volume; its source does not change."""
    spec, metadata = new["spec"], new["metadata"]
    yield from validate_volume_spec(spec, "spec", metadata.get("name", ""))
    if _MOUNT_OPTIONS in (metadata.get("annotations") or {}) and not any(spec.get(key) for key in _MOUNTED):
        why = "may not specify mount options for this volume type"
        yield field_forbidden(f"metadata.annotations.{_MOUNT_OPTIONS}", why)
    if old is not None:
        yield from validate_volume_spec(spec, "spec", metadata.get("name", ""))  # as upstream, a second time
        yield from _volume_change(spec, old["spec"])


def _volume_change(new: Mapping[str, JSON], old: Mapping[str, JSON]) -> Iterator[FieldError]:
    before, after = (_shown_source(each) for each in (old, new))
    csi, was = after["CSI"], before["CSI"]
    if csi is not None and was is not None and was["ControllerExpandSecretRef"] is None:
        csi["ControllerExpandSecretRef"] = None
    if before != after:
        field = "spec.persistentvolumesource"
        yield field_forbidden(field, f"{field} is immutable after creation{go_diff(before, after)}")
    if new.get("volumeMode") != old.get("volumeMode"):
        yield invalid_value("volumeMode", new.get("volumeMode"), "field is immutable")
    if old.get("nodeAffinity") is not None and new.get("nodeAffinity") != old.get("nodeAffinity"):
        why = "field is immutable, except for updating from beta label to GA"
        yield invalid_value("nodeAffinity", go_struct("VolumeNodeAffinity", new.get("nodeAffinity")), why)
    if old.get("volumeAttributesClassName") is not None and new.get("volumeAttributesClassName") is None:
        yield field_forbidden("spec.volumeAttributesClassName", "update from non-nil value to nil is forbidden")


def _shown_source(spec: Mapping[str, JSON]) -> dict[str, JSON]:
    return go_struct("PersistentVolumeSource", spec) or {}


def _class_of(obj: Object) -> str:
    """Return the storage class, of which the old annotation has precedence."""
    annotated = _beta_class(obj)
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
            validates_status=(validate_claim_status,),
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
