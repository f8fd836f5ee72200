"""Horizontal pod autoscaler: sets the replicas of its target by metrics, within limits.

The rules are those of kube-controller-manager's controller (pkg/controller/podautoscaler). Without an extension API
server for its metrics, a target within its limits stays as it is, with a condition that names the first metric.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import NamedTuple

from pyctrl import _clock
from pyctrl.api import GroupVersionKind, Key, LabelSelector
from pyctrl.client import CurrentScale, get_scale, merge_from, set_scale
from pyctrl.cluster._controllers.podautoscaler.metric_computation import (
    ComputedMetric,
    MetricComputation,
    MissingMetric,
    tolerances_of,
)
from pyctrl.cluster._controllers.podautoscaler.metrics_client import MetricsClient
from pyctrl.cluster._controllers.podautoscaler.scale_history import Limits, ScaleHistory, ScalingCondition
from pyctrl.cluster._legacy_event_recorder import LegacyEventRecorder
from pyctrl.controller import Builder, Controller, ManagedCluster, Reconciler, Request, Result, on_create
from pyctrl.errors import ApiError, NotFound, PyctrlError
from pyctrl.kinds.autoscaling.v2 import (
    HorizontalPodAutoscaler,
    HorizontalPodAutoscalerCondition,
    MetricStatus,
)
from pyctrl.kinds.core.v1 import Pod

__all__ = ["PERIOD", "HorizontalPodAutoscalerReconciler", "add_horizontal_pod_autoscalers"]

PERIOD = timedelta(seconds=15)  # --horizontal-pod-autoscaler-sync-period; the first run is a period after the creation


def add_horizontal_pod_autoscalers(host: ManagedCluster) -> Controller:
    """Run the horizontal pod autoscaler in a manager."""
    return (
        Builder(host)
        .reconciles(HorizontalPodAutoscaler, predicates=[on_create])  # all other changes count in the next period
        .reads(Pod)
        .options(name="horizontalpodautoscaler", workers=2)
        .build(HorizontalPodAutoscalerReconciler(LegacyEventRecorder(host.live_client, "horizontal-pod-autoscaler")))
    )


class _CannotCompute(Exception):
    """Raised when no replicas follow from the metrics; the text is that of the Event after the status was written."""


class _Recommendation(NamedTuple):
    """The replicas that the metrics recommend, the decisive metric, and the status of each metric."""

    replicas: int
    metric: str
    statuses: list[MetricStatus]


class _Change(NamedTuple):
    """The replicas to set and why."""

    replicas: int
    reason: str


class HorizontalPodAutoscalerReconciler(Reconciler[HorizontalPodAutoscaler]):
    """Scales the target of an autoscaler, and updates the status."""

    def __init__(self, events: LegacyEventRecorder) -> None:
        self._events = events
        self._histories: dict[Key, ScaleHistory] = {}
        self._selectors: dict[Key, LabelSelector] = {}  # the pods of each autoscaler's target

    async def reconcile(self, request: Request) -> Result | None:
        hpa = await self.client.find(HorizontalPodAutoscaler, request.key)
        if hpa is None:
            self._histories.pop(request.key, None)
            self._selectors.pop(request.key, None)
            return None
        if request.key in self._histories:
            before, failure = hpa.deep_copy(), ""
            try:
                await self._scale(hpa, self._histories[request.key])
            except _CannotCompute as error:
                failure = str(error)
            await self._write(hpa, before)
            if failure:
                await self._events.warning(hpa, "FailedComputeMetricsReplicas", failure)
        self._histories.setdefault(request.key, ScaleHistory())
        return Result(requeue_after=PERIOD)

    async def _write(self, hpa: HorizontalPodAutoscaler, before: HorizontalPodAutoscaler) -> None:
        if hpa.status.to_wire() != before.status.to_wire():
            try:
                await self.client.status.patch(hpa, merge_from(before))
            except NotFound:
                return  # deleted meanwhile

    async def _scale(self, hpa: HorizontalPodAutoscaler, history: ScaleHistory) -> None:
        target = hpa.spec.scale_target_ref
        kind = GroupVersionKind.parse(target.api_version or "v1", target.kind)
        try:
            scale = await get_scale(self.client.live, kind, Key(hpa.metadata.namespace, target.name))
        except PyctrlError as error:
            why = _text(error)
            await self._events.warning(hpa, "FailedGetScale", why)
            message = f"the HPA controller was unable to get the target's current scale: {why}"
            _set_condition(hpa, ScalingCondition("AbleToScale", "False", "FailedGetScale", message))
            return
        message = "the HPA controller was able to get the target's current scale"
        _set_condition(hpa, ScalingCondition("AbleToScale", "True", "SucceededGetScale", message))
        history.begin(scale.replicas)
        statuses: list[MetricStatus] = []
        if scale.replicas == 0:
            message = "scaling is disabled since the replica count of the target is zero"
            _set_condition(hpa, ScalingCondition("ScalingActive", "False", "ScalingDisabled", message))
            change = None
        elif (change := _into_limits(hpa, scale)) is None:
            recommended = await self._recommend(hpa, scale)
            statuses = recommended.statuses
            change = _normalize(hpa, history, scale.replicas, recommended)
        if change is None:
            _set_status(hpa, scale.replicas, scale.replicas, statuses)
        else:
            await self._rescale(hpa, kind, scale, change, statuses, history)

    async def _rescale(
        self,
        hpa: HorizontalPodAutoscaler,
        kind: GroupVersionKind,
        scale: CurrentScale,
        change: _Change,
        statuses: list[MetricStatus],
        history: ScaleHistory,
    ) -> None:
        key = Key(hpa.metadata.namespace, hpa.spec.scale_target_ref.name)
        size = f"New size: {change.replicas}; reason: {change.reason}"
        try:
            await set_scale(self.client.live, kind, key, change.replicas)
        except PyctrlError as error:
            why = _text(error)
            await self._events.warning(hpa, "FailedRescale", f"{size}; error: {why}")
            message = f"the HPA controller was unable to update the target scale: {why}"
            _set_condition(hpa, ScalingCondition("AbleToScale", "False", "FailedUpdateScale", message))
            _set_status(hpa, scale.replicas, hpa.status.desired_replicas, statuses)
            return
        message = f"the HPA controller was able to update the target scale to {change.replicas}"
        _set_condition(hpa, ScalingCondition("AbleToScale", "True", "SucceededRescale", message))
        await self._events.normal(hpa, "SuccessfulRescale", size)
        history.store(hpa.spec.behavior, scale.replicas, change.replicas)
        _set_status(hpa, scale.replicas, change.replicas, statuses)
        hpa.status.last_scale_time = _clock.now().replace(microsecond=0)

    async def _recommend(self, hpa: HorizontalPodAutoscaler, scale: CurrentScale) -> _Recommendation:
        """Return the highest number of replicas that a metric recommends.

        Raises:
            _CannotCompute: no metric has a value, or one without a value could prevent scaling down.
        """
        pods = await self._pods_of(hpa, scale)
        tolerances = tolerances_of(hpa.spec.behavior)
        metrics = MetricsClient(self.client.live)
        computation = MetricComputation(metrics, hpa.metadata.namespace, scale, pods, tolerances)
        best: ComputedMetric | None = None
        missing: list[MissingMetric] = []
        statuses = []
        for spec in hpa.spec.metrics:
            try:
                computed = await computation.compute(spec)
            except MissingMetric as error:
                await self._events.warning(hpa, error.reason, error.why)
                missing.append(error)
                statuses.append(MetricStatus())
                continue
            statuses.append(computed.status)
            if best is None or best.replicas == 0 or computed.replicas > best.replicas:
                best = computed
        if best is None or (missing and best.replicas < scale.replicas):
            first, count = missing[0], f"{len(missing)} invalid out of {len(statuses)}"
            message = f"the HPA was unable to compute the replica count: {first.why}"
            _set_condition(hpa, ScalingCondition("ScalingActive", "False", first.reason, message))
            _set_status(hpa, scale.replicas, hpa.status.desired_replicas, statuses)
            raise _CannotCompute(f"invalid metrics ({count}), first error is: {first.text}")
        message = f"the HPA was able to successfully calculate a replica count from {best.name}"
        _set_condition(hpa, ScalingCondition("ScalingActive", "True", "ValidMetricFound", message))
        return _Recommendation(best.replicas, best.name, statuses)

    async def _pods_of(self, hpa: HorizontalPodAutoscaler, scale: CurrentScale) -> Sequence[Pod]:
        """Return the pods of the target.

        Raises:
            _CannotCompute: the target has no selector, or another autoscaler controls some of the pods.
        """
        if not str(scale.selector):
            message = "the HPA target's scale is missing a selector"
            await self._refuse(hpa, scale, "InvalidSelector", message, "SelectorRequired", "selector is required")
        self._selectors[hpa.key] = scale.selector
        pods = await self.client.list(Pod, namespace=hpa.metadata.namespace, labels=scale.selector)
        others = {key: each for key, each in self._selectors.items() if key.namespace == hpa.metadata.namespace}
        keys = [key for key, each in sorted(others.items()) if any(each.matches(pod.metadata.labels) for pod in pods)]
        if len(keys) > 1:
            names = " ".join(f"{key.namespace}/{key.name}" for key in keys)
            message = f"pods by selector {scale.selector} are controlled by multiple HPAs: [{names}]"
            await self._refuse(hpa, scale, "AmbiguousSelector", message, "AmbiguousSelector", message)
        return pods

    async def _refuse(
        self, hpa: HorizontalPodAutoscaler, scale: CurrentScale, reason: str, message: str, event: str, text: str
    ) -> None:
        """Report a selector with which no metrics can be computed."""
        await self._events.warning(hpa, event, text)
        _set_condition(hpa, ScalingCondition("ScalingActive", "False", reason, message))
        _set_status(hpa, scale.replicas, hpa.status.desired_replicas, [])
        raise _CannotCompute(text)


def _into_limits(hpa: HorizontalPodAutoscaler, scale: CurrentScale) -> _Change | None:
    """Return the change into the limits; None if metrics decide."""
    if scale.replicas > hpa.spec.max_replicas:
        return _Change(hpa.spec.max_replicas, "Current number of replicas above Spec.MaxReplicas")
    if scale.replicas < _least(hpa):
        return _Change(_least(hpa), "Current number of replicas below Spec.MinReplicas")
    return None


def _normalize(
    hpa: HorizontalPodAutoscaler, history: ScaleHistory, current: int, recommended: _Recommendation
) -> _Change | None:
    """Return the change to the recommended replicas, stabilized and limited; None if there is nothing to change."""
    reason = ""
    if recommended.replicas > current:
        reason = f"{recommended.metric} above target"
    elif recommended.replicas < current:
        reason = "All metrics below target"
    limits = Limits(_least(hpa), hpa.spec.max_replicas)
    normalized = history.normalize(hpa.spec.behavior, limits, current, recommended.replicas)
    for condition in normalized.conditions:
        _set_condition(hpa, condition)
    return None if normalized.replicas == current else _Change(normalized.replicas, reason)


def _least(hpa: HorizontalPodAutoscaler) -> int:
    return 1 if hpa.spec.min_replicas is None else hpa.spec.min_replicas


def _text(error: PyctrlError) -> str:
    """Return the message of the server, or the error."""
    return error.message if isinstance(error, ApiError) else str(error)


def _set_status(hpa: HorizontalPodAutoscaler, current: int, desired: int, statuses: list[MetricStatus]) -> None:
    status = hpa.status
    status.current_replicas, status.desired_replicas, status.current_metrics = current or None, desired, statuses


def _set_condition(hpa: HorizontalPodAutoscaler, condition: ScalingCondition) -> None:
    """Set a condition; its time changes with its status."""
    conditions = hpa.status.conditions
    found = next((each for each in conditions if each.type == condition.type), None)
    if found is None:
        found = HorizontalPodAutoscalerCondition(type=condition.type)
        conditions.append(found)
    if found.status != condition.status:
        found.last_transition_time = _clock.now().replace(microsecond=0)
    found.status, found.reason, found.message = condition.status, condition.reason, condition.message
