"""Deployments, replica sets, stateful sets, daemon sets, jobs and cron jobs: defaults, decisions and checks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from pyctrl._go.text import shown_value
from pyctrl.api import LabelSelector
from pyctrl.apiserver._errors import FieldError, invalid_value, not_supported, required
from pyctrl.apiserver._meta.validation import validate_labels
from pyctrl.apiserver._registry import field_validation as rules
from pyctrl.apiserver._registry.pods import default_template, validate_pod_spec
from pyctrl.apiserver._registry.strategy import Object
from pyctrl.apiserver._schema.defaulting import set_defaults
from pyctrl.apiserver._schema.schema import JSON

_TEMPLATE_GENERATION = "deprecated.daemonset.template.generation"


# -- defaults --------------------------------------------------------------------------------------------------


def default_deployment(obj: Object) -> None:
    """One replica, rolling by quarters, ten old revisions, ten minutes to progress."""
    spec = obj["spec"]
    set_defaults(spec, replicas=1, revisionHistoryLimit=10, progressDeadlineSeconds=600)
    strategy = spec["strategy"]
    set_defaults(strategy, type="RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        set_defaults(strategy, rollingUpdate={})
        set_defaults(strategy["rollingUpdate"], maxUnavailable="25%", maxSurge="25%")
    default_template(spec["template"])


def default_replica_set(obj: Object) -> None:
    """One replica."""
    set_defaults(obj["spec"], replicas=1)
    default_template(obj["spec"]["template"])


def default_replication_controller(obj: Object) -> None:
    """One replica; the selector and labels follow the template's labels."""
    spec = obj["spec"]
    set_defaults(spec, replicas=1)
    if spec.get("template"):
        default_template(spec["template"])
        labels = spec["template"]["metadata"].get("labels") or {}
        if labels:
            set_defaults(spec, selector=dict(labels))
            set_defaults(obj["metadata"], labels=dict(labels))


def default_stateful_set(obj: Object) -> None:
    """One replica, in order, rolling; claims are filled like any claim."""
    spec = obj["spec"]
    set_defaults(spec, replicas=1, podManagementPolicy="OrderedReady", revisionHistoryLimit=10)
    set_defaults(spec, persistentVolumeClaimRetentionPolicy={})
    set_defaults(spec["persistentVolumeClaimRetentionPolicy"], whenDeleted="Retain", whenScaled="Retain")
    strategy = spec["updateStrategy"]
    set_defaults(strategy, type="RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        set_defaults(strategy, rollingUpdate={})
        set_defaults(strategy["rollingUpdate"], partition=0)
        strategy["rollingUpdate"].pop("maxUnavailable", None)  # of a feature that is off by default in 1.36
    for claim in spec.get("volumeClaimTemplates") or ():
        claim.update(kind="PersistentVolumeClaim", apiVersion="v1")
        set_defaults(claim["spec"], volumeMode="Filesystem")
        set_defaults(claim["status"], phase="Pending")
    default_template(spec["template"])


def default_daemon_set(obj: Object) -> None:
    """Rolling, one node at a time."""
    spec = obj["spec"]
    set_defaults(spec, revisionHistoryLimit=10)
    strategy = spec["updateStrategy"]
    set_defaults(strategy, type="RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        set_defaults(strategy, rollingUpdate={})
        rolling = strategy["rollingUpdate"]
        set_defaults(rolling, maxUnavailable=0 if rolling.get("maxSurge") else 1, maxSurge=0)
    default_template(spec["template"])


def default_job_spec(spec: Object) -> None:
    """One pod to completion, six retries."""
    if spec.get("completions") is None and spec.get("parallelism") is None:
        spec["completions"] = 1
    set_defaults(spec, parallelism=1, completionMode="NonIndexed", suspend=False)
    set_defaults(spec, backoffLimit=2**31 - 1 if spec.get("backoffLimitPerIndex") is not None else 6)
    set_defaults(spec, podReplacementPolicy="Failed" if spec.get("podFailurePolicy") else "TerminatingOrFailed")
    spec.setdefault("manualSelector", False)
    default_template(spec["template"])


def default_job(obj: Object) -> None:
    """The defaults of its spec; without labels it gets its pods'."""
    default_job_spec(obj["spec"])
    label_job(obj, None)


def label_job(new: Object, _old: Object | None) -> None:
    """Give a job without labels those of its pods."""
    labels = new["spec"]["template"]["metadata"].get("labels")
    if labels and not new["metadata"].get("labels"):
        new["metadata"]["labels"] = dict(labels)


def default_cron_job(obj: Object) -> None:
    """Runs may overlap, three successes and one failure are kept; the job template gets its pod's defaults only."""
    spec = obj["spec"]
    set_defaults(spec, concurrencyPolicy="Allow", suspend=False, successfulJobsHistoryLimit=3, failedJobsHistoryLimit=1)
    default_template(spec["jobTemplate"]["spec"]["template"])


# -- what the server decides -----------------------------------------------------------------------------------


def prepare_daemon_set(new: Object, old: Object | None) -> None:
    """Count the template's generations in the annotation that old clients read."""
    annotations = new["metadata"].setdefault("annotations", {})
    if old is None:
        annotations[_TEMPLATE_GENERATION] = "1"
        return
    before = int((old["metadata"].get("annotations") or {}).get(_TEMPLATE_GENERATION, "1"))
    changed = new["spec"]["template"] != old["spec"]["template"]
    annotations[_TEMPLATE_GENERATION] = str(before + 1 if changed else before)


def prepare_job(new: Object, old: Object | None) -> None:
    """Give a job a selector of its own, and its pods the labels for it, unless it brings them."""
    spec = new["spec"]
    if old is not None:
        return
    if spec.get("manualSelector"):
        if not new["metadata"].get("labels") and (given := spec["template"]["metadata"].get("labels")):
            new["metadata"]["labels"] = dict(given)
        return
    uid, name = new["metadata"].get("uid", ""), new["metadata"].get("name", "")
    labels = spec["template"]["metadata"].setdefault("labels", {})
    for key, value in (
        ("batch.kubernetes.io/controller-uid", uid),
        ("batch.kubernetes.io/job-name", name),
        ("controller-uid", uid),
        ("job-name", name),
    ):
        labels[key] = value
    spec["selector"] = {"matchLabels": {"batch.kubernetes.io/controller-uid": uid}}


# -- validation ------------------------------------------------------------------------------------------------


def _selects_template(spec: Mapping[str, JSON], kind: str) -> Iterator[FieldError]:
    """The selector is there, is one, is not empty, and matches the template's labels."""
    selector, labels = spec.get("selector"), spec["template"]["metadata"].get("labels")
    if selector is None and kind != "daemonset":
        yield required("spec.selector")
    wrong = list(rules.label_selector(selector, "spec.selector"))
    yield from wrong
    if selector == {}:
        why = f"empty selector is invalid for {kind}"
        yield invalid_value("spec.selector", selector, why)
    if wrong:
        yield from _no_selector(selector, kind)
    elif selector is None or not LabelSelector.from_wire(selector).matches(labels or {}):
        why = "`selector` does not match template `labels`"
        yield invalid_value("spec.template.metadata.labels", labels, why)


def _no_selector(selector: JSON, kind: str) -> Iterator[FieldError]:
    """Tell once more of a selector that is none, as far as the kind does."""
    if kind == "deployment":
        yield invalid_value("spec.selector", selector, "invalid label selector")
    elif kind == "statefulset":
        yield FieldError("FieldValueInvalid", f"Invalid value: {shown_value(selector)}", "spec.selector")


def _template(template: Mapping[str, JSON], path: str) -> Iterator[FieldError]:
    yield from validate_labels(template["metadata"].get("labels") or {}, f"{path}.labels")
    yield from validate_pod_spec(template["spec"], f"{path}.spec")


def _always(template: Mapping[str, JSON]) -> Iterator[FieldError]:
    policy = template["spec"].get("restartPolicy")
    if policy != "Always":
        yield not_supported("spec.template.spec.restartPolicy", policy, ("Always",))


def _lasting_pods(spec: Mapping[str, JSON], kind: str = "deployment") -> Iterator[FieldError]:
    """Check the template of pods that are to run for ever, and that the selector finds them."""
    yield from _selects_template(spec, kind)
    yield from _template(spec["template"], "spec.template")
    yield from _always(spec["template"])


def _immutable_selector(new: Object, old: Object | None) -> Iterator[FieldError]:
    if old is not None and new["spec"].get("selector") != old["spec"].get("selector"):
        yield invalid_value("spec.selector", new["spec"].get("selector"), "field is immutable")


def _not_negative(spec: Mapping[str, JSON], *keys: str) -> Iterator[FieldError]:
    for key in keys:
        if isinstance(spec.get(key), int) and spec[key] < 0:
            yield invalid_value(f"spec.{key}", spec[key], "must be greater than or equal to 0")


def validate_deployment(new: Object, old: Object | None) -> Iterator[FieldError]:
    """Check a deployment; its selector never changes."""
    spec = new["spec"]
    yield from _not_negative(spec, "replicas")
    yield from _lasting_pods(spec)
    strategy = spec["strategy"]
    if strategy["type"] not in ("Recreate", "RollingUpdate"):
        internal = {"Type": strategy["type"], "RollingUpdate": strategy.get("rollingUpdate")}
        yield not_supported("spec.strategy", internal, ("Recreate", "RollingUpdate"))
    elif strategy["type"] == "Recreate" and strategy.get("rollingUpdate") is not None:
        why = "Forbidden: may not be specified when strategy `type` is 'Recreate'"
        yield FieldError("FieldValueForbidden", why, "spec.strategy.rollingUpdate")
    elif strategy["type"] == "RollingUpdate":
        yield from _rolling(strategy["rollingUpdate"], "spec.strategy.rollingUpdate")
    yield from _not_negative(spec, "minReadySeconds", "revisionHistoryLimit")
    if (spec.get("progressDeadlineSeconds") or 0) <= spec.get("minReadySeconds", 0):
        why = "must be greater than minReadySeconds"
        yield invalid_value("spec.progressDeadlineSeconds", spec.get("progressDeadlineSeconds"), why)
    yield from _immutable_selector(new, old)


def _rolling(rolling: Mapping[str, JSON], path: str) -> Iterator[FieldError]:
    """How many pods may be missing, and how many too many: not neither."""
    missing, surplus = rolling.get("maxUnavailable"), rolling.get("maxSurge")
    for key, value in (("maxUnavailable", missing), ("maxSurge", surplus)):
        if isinstance(value, str) and not re.fullmatch("[0-9]+%", value):
            yield invalid_value(f"{path}.{key}", value, _NO_PERCENT)
        elif isinstance(value, int) and value < 0:
            yield invalid_value(f"{path}.{key}", value, rules.NEGATIVE)
    if missing in (0, "0%") and surplus in (0, "0%"):
        yield invalid_value(f"{path}.maxUnavailable", missing, "may not be 0 when `maxSurge` is 0")
    if isinstance(missing, str) and re.fullmatch("[0-9]+%", missing) and int(missing[:-1]) > 100:
        yield invalid_value(f"{path}.maxUnavailable", missing, "must not be greater than 100%")


_NO_PERCENT = (
    "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for "
    "validation is '[0-9]+%')"
)


def validate_daemon_set(new: Object, old: Object | None) -> Iterator[FieldError]:
    """Check a daemon set; its selector never changes."""
    yield from _immutable_selector(new, old)
    yield from _lasting_pods(new["spec"], "daemonset")
    yield from _not_negative(new["spec"], "minReadySeconds", "revisionHistoryLimit")


def validate_replica_set(new: Object, old: Object | None) -> Iterator[FieldError]:
    """Check a replica set (or daemon set); its selector never changes."""
    spec = new["spec"]
    yield from _not_negative(spec, "replicas", "minReadySeconds")
    yield from _lasting_pods(spec)
    yield from _immutable_selector(new, old)


_STATEFUL = (
    "replicas",
    "ordinals",
    "template",
    "updateStrategy",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
    "minReadySeconds",
)


def validate_stateful_set(new: Object, old: Object | None) -> Iterator[FieldError]:
    """Check a stateful set; only a few fields of its spec may change."""
    spec = new["spec"]
    yield from _not_negative(spec, "replicas", "minReadySeconds")
    yield from _lasting_pods(_with_claimed_volumes(spec), "statefulset")
    if old is not None and _without(spec, _STATEFUL) != _without(old["spec"], _STATEFUL):
        why = (
            "Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', "
            "'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' "
            "are forbidden"
        )
        yield FieldError("FieldValueForbidden", why, "spec")


def _with_claimed_volumes(spec: Mapping[str, JSON]) -> dict[str, JSON]:
    """Give the template the volumes that its pods will have: one of each claim, in the place of others of its name."""
    template = spec["template"]
    names = dict.fromkeys(each["metadata"].get("name", "") for each in spec.get("volumeClaimTemplates") or ())
    kept = [each for each in template["spec"].get("volumes") or () if each.get("name") not in names]
    claimed = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in names]
    return {**spec, "template": {**template, "spec": {**template["spec"], "volumes": [*kept, *claimed]}}}


def _without(spec: Mapping[str, JSON], keys: tuple[str, ...]) -> dict[str, JSON]:
    return {key: value for key, value in spec.items() if key not in keys}


def validate_job(new: Object, old: Object | None) -> Iterator[FieldError]:
    """Check a job; what it runs never changes."""
    spec = new["spec"]
    yield from _job_spec(spec, "spec")
    if spec.get("selector") is None:
        yield required("spec.selector")
    if old is not None:
        yield from _job_completions(spec, old["spec"])
        for key in _IMMUTABLE_OF_JOBS:
            if spec.get(key) != old["spec"].get(key) and not (key == "template" and old["spec"].get("suspend")):
                yield invalid_value(f"spec.{key}", spec.get(key), "field is immutable")


_IMMUTABLE_OF_JOBS = (
    "selector",
    "template",
    "completionMode",
    "podFailurePolicy",
    "backoffLimitPerIndex",
    "managedBy",
    "successPolicy",
)


def _job_completions(spec: Mapping[str, JSON], old: Mapping[str, JSON]) -> Iterator[FieldError]:
    """Check that only the number of indexes changes, and only together with parallelism."""
    completions = spec.get("completions")
    if completions == old.get("completions"):
        return
    if spec.get("completionMode") != "Indexed":
        yield invalid_value("spec.completions", completions, "field is immutable")
    elif completions is not None and completions != spec.get("parallelism"):
        yield invalid_value("spec.completions", completions, "can only be modified in tandem with spec.parallelism")


def _job_spec(spec: Mapping[str, JSON], path: str) -> Iterator[FieldError]:
    keys = ("parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished")
    for key in keys:
        if isinstance(spec.get(key), int) and spec[key] < 0:
            yield invalid_value(f"{path}.{key}", spec[key], "must be greater than or equal to 0")
    yield from _template(spec["template"], f"{path}.template")
    policy = spec["template"]["spec"].get("restartPolicy")
    if policy not in ("OnFailure", "Never"):
        yield required(f"{path}.template.spec.restartPolicy", 'valid values: "OnFailure", "Never"')
    if spec.get("completionMode") not in (None, "NonIndexed", "Indexed"):
        yield not_supported(f"{path}.completionMode", spec["completionMode"], ("NonIndexed", "Indexed"))


def validate_cron_job(new: Object, old: Object | None) -> Iterator[FieldError]:
    """Check a cron job: schedule, policy, the job it makes, and a name that leaves room for the job's."""
    spec = new["spec"]
    name = new["metadata"].get("name", "")
    if len(name) > 52:
        yield invalid_value("metadata.name", name, "must be no more than 52 characters")
    schedule = spec.get("schedule", "")
    if not schedule:
        yield required("spec.schedule")
    elif len(schedule.split()) != 5 and not schedule.startswith("@"):
        why = f"expected exactly 5 fields, found {len(schedule.split())}: [{' '.join(schedule.split())}]"
        yield invalid_value("spec.schedule", schedule, why)
    yield from _not_negative(spec, "startingDeadlineSeconds", "successfulJobsHistoryLimit", "failedJobsHistoryLimit")
    if spec.get("concurrencyPolicy") not in ("Allow", "Forbid", "Replace"):
        yield not_supported("spec.concurrencyPolicy", spec.get("concurrencyPolicy"), ("Allow", "Forbid", "Replace"))
    yield from _job_spec(spec["jobTemplate"]["spec"], "spec.jobTemplate.spec")
