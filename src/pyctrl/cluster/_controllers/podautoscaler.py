"""Horizontal pod autoscaler: keeps the replicas of its target within limits, and reports that there are no metrics.

The cluster has no metrics APIs. So the rules are those of kube-controller-manager's controller
(pkg/controller/podautoscaler) in a cluster without metrics-server: limits apply, and a target within them is left as
it is, with a condition that names the first metric.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Literal, NamedTuple

from pyctrl import _clock
from pyctrl.api import GroupVersionKind, Key
from pyctrl.client import CurrentScale, get_scale, merge_from, set_scale
from pyctrl.cluster._legacy_event_recorder import LegacyEventRecorder
from pyctrl.controller import Builder, Controller, ManagedCluster, Reconciler, Request, Result, on_create
from pyctrl.errors import ApiError, NotFound, PyctrlError
from pyctrl.kinds.autoscaling.v2 import (
    HorizontalPodAutoscaler,
    HorizontalPodAutoscalerCondition,
    MetricSpec,
    MetricStatus,
)

__all__ = ["PERIOD", "HorizontalPodAutoscalerReconciler", "add_horizontal_pod_autoscalers"]

PERIOD = timedelta(seconds=15)  # --horizontal-pod-autoscaler-sync-period; the first run is a period after the creation
_NO_SERVER = "the server could not find the requested resource"
_NO_RESOURCE_METRICS = f"unable to fetch metrics from resource metrics API: {_NO_SERVER} (get pods.metrics.k8s.io)"
_NO_CUSTOM_METRICS = (
    "unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.k8s.io) registered"
)


def add_horizontal_pod_autoscalers(host: ManagedCluster) -> Controller:
    """Run the horizontal pod autoscaler in a manager."""
    return (
        Builder(host)
        .reconciles(HorizontalPodAutoscaler, predicates=[on_create])  # all other changes count in the next period
        .options(name="horizontalpodautoscaler", workers=2)
        .build(HorizontalPodAutoscalerReconciler(LegacyEventRecorder(host.live_client, "horizontal-pod-autoscaler")))
    )


class _Missing(NamedTuple):
    """A metric that the cluster does not have."""

    reason: str
    why: str
    what: str  # in the message about all metrics


class HorizontalPodAutoscalerReconciler(Reconciler[HorizontalPodAutoscaler]):
    """Scales the target of an autoscaler into its limits, and updates the status."""

    def __init__(self, events: LegacyEventRecorder) -> None:
        self._events = events
        self._known: set[Key] = set()

    async def reconcile(self, request: Request) -> Result | None:
        hpa = await self.client.find(HorizontalPodAutoscaler, request.key)
        if hpa is None:
            self._known.discard(request.key)
            return None
        if request.key in self._known:
            before = hpa.deep_copy()
            await self._scale(hpa)
            await self._write(hpa, before)
        self._known.add(request.key)
        return Result(requeue_after=PERIOD)

    async def _write(self, hpa: HorizontalPodAutoscaler, before: HorizontalPodAutoscaler) -> None:
        if hpa.status.to_wire() != before.status.to_wire():
            try:
                await self.client.status.patch(hpa, merge_from(before))
            except NotFound:
                return  # deleted meanwhile

    async def _scale(self, hpa: HorizontalPodAutoscaler) -> None:
        target, live = hpa.spec.scale_target_ref, self.client.live
        kind = GroupVersionKind.parse(target.api_version or "v1", target.kind)
        try:
            scale = await get_scale(live, kind, Key(hpa.metadata.namespace, target.name))
        except PyctrlError as error:
            why = _text(error)
            await self._events.warning(hpa, "FailedGetScale", why)
            message = f"the HPA controller was unable to get the target's current scale: {why}"
            _set_condition(hpa, "AbleToScale", "False", "FailedGetScale", message)
            return
        message = "the HPA controller was able to get the target's current scale"
        _set_condition(hpa, "AbleToScale", "True", "SucceededGetScale", message)
        desired, reason = _within_limits(hpa, scale)
        if desired is None:
            await self._report_missing_metrics(hpa, scale)
        elif reason:
            await self._rescale(hpa, kind, scale, desired, reason)
        else:
            _set_status(hpa, scale.replicas, desired)

    async def _rescale(
        self, hpa: HorizontalPodAutoscaler, kind: GroupVersionKind, scale: CurrentScale, desired: int, reason: str
    ) -> None:
        key = Key(hpa.metadata.namespace, hpa.spec.scale_target_ref.name)
        try:
            await set_scale(self.client.live, kind, key, desired)
        except PyctrlError as error:
            why = _text(error)
            await self._events.warning(hpa, "FailedRescale", f"New size: {desired}; reason: {reason}; error: {why}")
            message = f"the HPA controller was unable to update the target scale: {why}"
            _set_condition(hpa, "AbleToScale", "False", "FailedUpdateScale", message)
            hpa.status.current_replicas = scale.replicas or None
            return
        message = f"the HPA controller was able to update the target scale to {desired}"
        _set_condition(hpa, "AbleToScale", "True", "SucceededRescale", message)
        await self._events.normal(hpa, "SuccessfulRescale", f"New size: {desired}; reason: {reason}")
        _set_status(hpa, scale.replicas, desired)
        hpa.status.last_scale_time = _clock.now().replace(microsecond=0)

    async def _report_missing_metrics(self, hpa: HorizontalPodAutoscaler, scale: CurrentScale) -> None:
        """Report that no metric has a value, as the condition and Events."""
        hpa.status.current_replicas = scale.replicas or None
        if not str(scale.selector):
            await self._events.warning(hpa, "SelectorRequired", "selector is required")
            message = "the HPA target's scale is missing a selector"
            _set_condition(hpa, "ScalingActive", "False", "InvalidSelector", message)
            await self._events.warning(hpa, "FailedComputeMetricsReplicas", "selector is required")
            return
        missing = list(_missing(hpa))
        for each in missing:
            await self._events.warning(hpa, each.reason, each.why)
        first, count = missing[0], len(missing)
        message = f"the HPA was unable to compute the replica count: {first.why}"
        _set_condition(hpa, "ScalingActive", "False", first.reason, message)
        what = f"invalid metrics ({count} invalid out of {count}), first error is: failed to get {first.what}"
        await self._events.warning(hpa, "FailedComputeMetricsReplicas", f"{what}: {first.why}")
        hpa.status.current_metrics = [MetricStatus() for _ in missing]


def _within_limits(hpa: HorizontalPodAutoscaler, scale: CurrentScale) -> tuple[int | None, str]:
    """Return the desired replicas and why they differ from the current ones; None if metrics decide."""
    least = 1 if hpa.spec.min_replicas is None else hpa.spec.min_replicas
    if scale.replicas == 0 and least != 0:
        message = "scaling is disabled since the replica count of the target is zero"
        _set_condition(hpa, "ScalingActive", "False", "ScalingDisabled", message)
        return 0, ""
    if scale.replicas > hpa.spec.max_replicas:
        return hpa.spec.max_replicas, "Current number of replicas above Spec.MaxReplicas"
    if scale.replicas < least:
        return least, "Current number of replicas below Spec.MinReplicas"
    return None, ""


def _missing(hpa: HorizontalPodAutoscaler) -> Iterator[_Missing]:
    for spec in hpa.spec.metrics:
        yield _missing_metric(spec, hpa.metadata.namespace)


def _missing_metric(spec: MetricSpec, namespace: str) -> _Missing:
    """Return why a metric has no value, in the words of the clients of the metrics APIs."""
    if spec.resource is not None:
        name, kind = spec.resource.name, "usage" if spec.resource.target.average_value is not None else "utilization"
        why = f"failed to get {name} {kind}: unable to get metrics for resource {name}: {_NO_RESOURCE_METRICS}"
        return _Missing("FailedGetResourceMetric", why, f"{name} resource metric value")
    if (source := spec.container_resource) is not None:
        name, kind = source.name, "usage" if source.target.average_value is not None else "utilization"
        why = f"failed to get {name} {kind}: unable to get metrics for resource {name}: {_NO_RESOURCE_METRICS}"
        return _Missing("FailedGetContainerResourceMetric", why, f"{source.container} container metric value")
    if spec.pods is not None:
        why = f"unable to get metric {spec.pods.metric.name}: {_NO_CUSTOM_METRICS}"
        return _Missing("FailedGetPodsMetric", why, "pods metric value")
    if spec.object is not None:
        of = spec.object.described_object
        on = f"{of.kind} on {namespace} {of.name}"  # upstream's order
        why = f"unable to get metric {spec.object.metric.name}: {on}/{_NO_CUSTOM_METRICS}"
        return _Missing("FailedGetObjectMetric", why, "object metric value")
    name = spec.external.metric.name if spec.external is not None else ""
    no_api = f"unable to fetch metrics from external metrics API: {_NO_SERVER} (get {name}.external.metrics.k8s.io)"
    why = f"unable to get external metric {namespace}/{name}/nil: {no_api}"
    return _Missing("FailedGetExternalMetric", why, f"{name} external metric value")


def _text(error: PyctrlError) -> str:
    """Return the message of the server, or the error."""
    return error.message if isinstance(error, ApiError) else str(error)


def _set_status(hpa: HorizontalPodAutoscaler, current: int, desired: int) -> None:
    status = hpa.status
    status.current_replicas, status.desired_replicas, status.current_metrics = current or None, desired, []


def _set_condition(
    hpa: HorizontalPodAutoscaler, type: str, status: Literal["True", "False"], reason: str, message: str
) -> None:
    """Set a condition; its time changes with its status."""
    conditions = hpa.status.conditions
    found = next((each for each in conditions if each.type == type), None)
    if found is None:
        found = HorizontalPodAutoscalerCondition(type=type)
        conditions.append(found)
    if found.status != status:
        found.last_transition_time = _clock.now().replace(microsecond=0)
    found.status, found.reason, found.message = status, reason, message
