"""StatefulSets and ControllerRevisions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from pyctrl._validation import names
from pyctrl.apiserver._errors import FieldError
from pyctrl.apiserver._meta.validation import MetadataCheck
from pyctrl.apiserver._registry._pods.defaults import default_template
from pyctrl.apiserver._registry.builtin_resource import BuiltinResource
from pyctrl.apiserver._registry.field_validation import not_negative
from pyctrl.apiserver._registry.pod_templates import validate_lasting_pods
from pyctrl.apiserver._registry.scale import ScaleREST
from pyctrl.apiserver._registry.strategy import Object, Strategy
from pyctrl.apiserver._registry.table_cells import NONE, Cells, containers_of, spec_of, status_of
from pyctrl.apiserver._schema.defaulting import set_defaults
from pyctrl.apiserver._schema.schema import JSON

__all__ = ["RESOURCES"]

_MUTABLE = (
    "replicas",
    "ordinals",
    "template",
    "updateStrategy",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
    "minReadySeconds",
)


def _default_stateful_set(obj: Object) -> None:
    """Default to one replica, ordered pods and a rolling update; fill the claim templates like claims."""
    spec = obj["spec"]
    set_defaults(spec, replicas=1, podManagementPolicy="OrderedReady", revisionHistoryLimit=10)
    set_defaults(spec, persistentVolumeClaimRetentionPolicy={})
    set_defaults(spec["persistentVolumeClaimRetentionPolicy"], whenDeleted="Retain", whenScaled="Retain")
    strategy = spec["updateStrategy"]
    set_defaults(strategy, type="RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        set_defaults(strategy, rollingUpdate={})
        set_defaults(strategy["rollingUpdate"], partition=0)
        strategy["rollingUpdate"].pop("maxUnavailable", None)  # the feature gate is off by default in 1.36
    for claim in spec.get("volumeClaimTemplates") or ():
        claim.update(kind="PersistentVolumeClaim", apiVersion="v1")
        set_defaults(claim["spec"], volumeMode="Filesystem")
        set_defaults(claim["status"], phase="Pending")
    default_template(spec["template"])


def _validate_stateful_set(new: Object, old: Object | None) -> Iterator[FieldError]:
    """Check a StatefulSet; only a few fields of its spec may change."""
    spec = new["spec"]
    yield from not_negative(spec, "spec", "replicas", "minReadySeconds")
    yield from validate_lasting_pods(_with_claimed_volumes(spec), "statefulset")
    if old is not None and _without(spec, _MUTABLE) != _without(old["spec"], _MUTABLE):
        why = (
            "Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', "
            "'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' "
            "are forbidden"
        )
        yield FieldError("FieldValueForbidden", why, "spec")


def _with_claimed_volumes(spec: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return the spec with a volume for each claim template, in place of volumes with the same name."""
    template = spec["template"]
    claims = dict.fromkeys(each["metadata"].get("name", "") for each in spec.get("volumeClaimTemplates") or ())
    kept = [each for each in template["spec"].get("volumes") or () if each.get("name") not in claims]
    claimed = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in claims]
    return {**spec, "template": {**template, "spec": {**template["spec"], "volumes": [*kept, *claimed]}}}


def _without(spec: Mapping[str, JSON], keys: tuple[str, ...]) -> dict[str, JSON]:
    return {key: value for key, value in spec.items() if key not in keys}


def _stateful_set_cells(obj: Object) -> Cells:
    spec, status = spec_of(obj), status_of(obj)
    return {"Ready": f"{status.get('readyReplicas', 0)}/{spec.get('replicas', 0)}", **containers_of(spec["template"])}


def _revision_cells(obj: Object) -> Cells:
    owner = next((each for each in obj["metadata"].get("ownerReferences") or () if each.get("controller")), None)
    shown = NONE
    if owner is not None:
        group = str(owner.get("apiVersion", "")).rpartition("/")[0]
        shown = f"{str(owner['kind']).lower()}{'.' + group if group else ''}/{owner['name']}"
    return {"Controller": shown, "Revision": obj.get("revision", 0)}


RESOURCES: Final = (
    BuiltinResource(
        group="apps",
        kind="StatefulSet",
        strategy=Strategy(
            name_rule=names.label,
            has_generation=True,
            defaults=(_default_stateful_set,),
            validates=(_validate_stateful_set,),
        ),
        cells=_stateful_set_cells,
        rest={"scale": ScaleREST},
    ),
    BuiltinResource(
        group="apps",
        kind="ControllerRevision",
        strategy=Strategy(on_update=(MetadataCheck.CHANGE, MetadataCheck.WHOLE)),
        cells=_revision_cells,
    ),
)
