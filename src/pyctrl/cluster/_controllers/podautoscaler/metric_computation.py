"""Computation of the replicas for each metric of an autoscaler, with the status of the metric.

Reasons, messages and descriptions are those of upstream's controller (pkg/controller/podautoscaler/horizontal.go).
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

from pyctrl.api import LabelSelector, Quantity, QuantityFamily
from pyctrl.client import CurrentScale
from pyctrl.cluster._controllers.podautoscaler.metrics_client import MetricsClient, MetricsError
from pyctrl.cluster._controllers.podautoscaler.replica_calculator import (
    Tolerances,
    Usage,
    per_pod_replicas,
    plain_replicas,
    ratio_replicas,
    resource_replicas,
)
from pyctrl.errors import SelectorError
from pyctrl.kinds.autoscaling.v2 import (
    ContainerResourceMetricStatus,
    ExternalMetricSource,
    ExternalMetricStatus,
    HorizontalPodAutoscalerBehavior,
    MetricIdentifier,
    MetricSpec,
    MetricStatus,
    MetricTarget,
    MetricValueStatus,
    ObjectMetricSource,
    ObjectMetricStatus,
    PodsMetricSource,
    PodsMetricStatus,
    ResourceMetricStatus,
)
from pyctrl.kinds.core.v1 import Pod
from pyctrl.kinds.meta.v1 import LabelSelector as WireLabelSelector

__all__ = ["ComputedMetric", "MetricComputation", "MissingMetric", "tolerances_of"]

_DEFAULT_TOLERANCE = 0.1  # --horizontal-pod-autoscaler-tolerance


class ComputedMetric(NamedTuple):
    """The replicas for a metric, how Events and conditions call it, and its status."""

    replicas: int
    name: str
    status: MetricStatus


class MissingMetric(Exception):
    """Raised when no replicas follow from a metric.

    Attributes:
        reason: the reason of the Event and of the condition.
        why: the text of both.
        text: the text in the message about all metrics.
    """

    def __init__(self, reason: str, why: str, text: str) -> None:
        super().__init__(text)
        self.reason, self.why, self.text = reason, why, text


def tolerances_of(behavior: HorizontalPodAutoscalerBehavior | None) -> Tolerances:
    """Return the tolerances of an autoscaler."""
    down = behavior.scale_down.tolerance if behavior is not None and behavior.scale_down is not None else None
    up = behavior.scale_up.tolerance if behavior is not None and behavior.scale_up is not None else None
    return Tolerances(
        _DEFAULT_TOLERANCE if down is None else float(down), _DEFAULT_TOLERANCE if up is None else float(up)
    )


class MetricComputation:
    """Computes the replicas for metrics of one autoscaler.

    Args:
        metrics: reads the metrics.
        namespace: the namespace of the autoscaler.
        scale: the scale of its target.
        pods: the pods that the target selects.
        tolerances: those of the autoscaler.
    """

    def __init__(
        self, metrics: MetricsClient, namespace: str, scale: CurrentScale, pods: Sequence[Pod], tolerances: Tolerances
    ) -> None:
        self._metrics, self._namespace, self._scale = metrics, namespace, scale
        self._pods, self._tolerances = pods, tolerances

    async def compute(self, spec: MetricSpec) -> ComputedMetric:
        """Return the replicas for a metric.

        Raises:
            MissingMetric: the metric has no value, or no replicas follow from it.
        """
        if spec.object is not None:
            return await self._object(spec.object)
        if spec.pods is not None:
            return await self._of_pods(spec.pods)
        if spec.external is not None:
            return await self._external(spec.external)
        if spec.container_resource is not None:
            container = spec.container_resource.container
            return await self._of_resource(spec.container_resource.name, container, spec.container_resource.target)
        if spec.resource is not None:
            return await self._of_resource(spec.resource.name, "", spec.resource.target)
        why = f'unknown metric source type "{spec.type}"'
        raise MissingMetric("InvalidMetricSourceType", why, why)

    async def _of_resource(self, resource: str, container: str, target: MetricTarget) -> ComputedMetric:
        try:
            usage = await self._resource_usage(resource, container, target)
        except MetricsError as error:
            kind = "usage" if target.average_value is not None else "utilization"
            why = f"failed to get {resource} {kind}: {error}"
            if container:
                text = f"failed to get {container} container metric value: {why}"
                raise MissingMetric("FailedGetContainerResourceMetric", why, text) from error
            text = f"failed to get {resource} resource metric value: {why}"
            raise MissingMetric("FailedGetResourceMetric", why, text) from error
        family = QuantityFamily.BINARY_SI if resource == "memory" else QuantityFamily.DECIMAL_SI
        current = MetricValueStatus(average_value=_quantity(usage.value, family), average_utilization=usage.utilization)
        name = _resource_name(resource, container, target)
        if container:
            of_container = ContainerResourceMetricStatus(name=resource, container=container, current=current)
            status = MetricStatus(type="ContainerResource", container_resource=of_container)
        else:
            status = MetricStatus(type="Resource", resource=ResourceMetricStatus(name=resource, current=current))
        return ComputedMetric(usage.replicas, name, status)

    async def _resource_usage(self, resource: str, container: str, target: MetricTarget) -> Usage:
        try:
            measured = await self._metrics.resource_metric(resource, self._namespace, self._scale.selector, container)
        except MetricsError as error:
            raise MetricsError(f"unable to get metrics for resource {resource}: {error}") from None
        replicas, pods, tolerances = self._scale.replicas, self._pods, self._tolerances
        if target.average_value is not None:
            wanted = target.average_value.as_int("m")
            return plain_replicas(measured, pods, replicas, wanted, tolerances, resource=resource)
        wanted = target.average_utilization or 0
        return resource_replicas(measured, pods, replicas, wanted, resource, container, tolerances)

    async def _of_pods(self, source: PodsMetricSource) -> ComputedMetric:
        metric, selector = source.metric, self._scale.selector
        try:
            of_metric = _parse(metric.selector)
            try:
                measured = await self._metrics.pods_metric(metric.name, self._namespace, selector, of_metric)
            except MetricsError as error:
                raise MetricsError(f"unable to get metric {metric.name}: {error}") from None
            wanted = _milli(source.target.average_value)
            usage = plain_replicas(measured, self._pods, self._scale.replicas, wanted, self._tolerances)
        except MetricsError as error:
            text = f"failed to get pods metric value: {error}"
            raise MissingMetric("FailedGetPodsMetric", str(error), text) from error
        current = MetricValueStatus(average_value=_quantity(usage.value))
        status = MetricStatus(type="Pods", pods=PodsMetricStatus(metric=metric, current=current))
        return ComputedMetric(usage.replicas, f"pods metric {metric.name}", status)

    async def _object(self, source: ObjectMetricSource) -> ComputedMetric:
        metric, described, target = source.metric, source.described_object, source.target
        is_average = target.type == "AverageValue" and target.average_value is not None
        if not is_average and (target.type != "Value" or target.value is None):
            why = "invalid object metric source: neither a value target nor an average value target was set"
            raise MissingMetric("FailedGetObjectMetric", why, f"failed to get object metric value: {why}")
        try:
            of_metric = _parse(metric.selector)
            try:
                value = await self._metrics.object_metric(metric.name, self._namespace, described, of_metric)
            except MetricsError as error:
                on = f"{described.kind} on {self._namespace} {described.name}"  # upstream's order
                raise MetricsError(f"unable to get metric {metric.name}: {on}/{error}") from None
            usage, current = self._from_total(value, target if is_average else MetricTarget(value=target.value))
        except MetricsError as error:
            inner = f"failed to get {metric.name} object metric: {error}" if is_average else str(error)
            text = f"failed to get object metric value: {inner}"
            raise MissingMetric("FailedGetObjectMetric", str(error), text) from error
        of_object = ObjectMetricStatus(described_object=described, metric=metric, current=current)
        name = _external_name(metric) if is_average else f"{described.kind} metric {metric.name}"  # upstream's mistake
        return ComputedMetric(usage.replicas, name, MetricStatus(type="Object", object=of_object))

    async def _external(self, source: ExternalMetricSource) -> ComputedMetric:
        metric, target = source.metric, source.target
        try:
            of_metric = _parse(metric.selector)
            try:
                values = await self._metrics.external_metric(metric.name, self._namespace, of_metric)
            except MetricsError as error:
                which = f"{self._namespace}/{metric.name}/{_go_text(metric.selector)}"
                raise MetricsError(f"unable to get external metric {which}: {error}") from None
            usage, current = self._from_total(sum(values), target)
        except MetricsError as error:
            is_average = target.average_value is not None
            inner = f"{metric.name} external metric" if is_average else f"external metric {metric.name}"
            text = f"failed to get {metric.name} external metric value: failed to get {inner}: {error}"
            raise MissingMetric("FailedGetExternalMetric", str(error), text) from error
        status = MetricStatus(type="External", external=ExternalMetricStatus(metric=metric, current=current))
        return ComputedMetric(usage.replicas, _external_name(metric), status)

    def _from_total(self, value: int, target: MetricTarget) -> tuple[Usage, MetricValueStatus]:
        """Return the replicas for one value, which counts for each pod or for all of them together."""
        if target.average_value is not None:
            usage = per_pod_replicas(
                value, self._scale.current_replicas, _milli(target.average_value), self._tolerances
            )
            return usage, MetricValueStatus(average_value=_quantity(usage.value))
        usage = ratio_replicas(value, self._pods, self._scale.replicas, _milli(target.value), self._tolerances)
        return usage, MetricValueStatus(value=_quantity(usage.value))


def _parse(selector: WireLabelSelector | None) -> LabelSelector | None:
    try:
        return None if selector is None else LabelSelector.from_wire(selector)
    except SelectorError as error:
        raise MetricsError(str(error)) from error


def _resource_name(resource: str, container: str, target: MetricTarget) -> str:
    if target.average_value is not None:
        return f"{resource} resource"
    of = "container resource" if container else "resource"
    return f"{resource} {of} utilization (percentage of request)"


def _external_name(metric: MetricIdentifier) -> str:
    return f"external metric {metric.name}({_go_text(metric.selector)})"


def _go_text(selector: WireLabelSelector | None) -> str:
    """Return a selector as Go prints it."""
    if selector is None:
        return "nil"
    labels = "".join(f"{name}: {value}," for name, value in sorted(selector.match_labels.items()))
    expressions = "".join(
        f"LabelSelectorRequirement{{Key:{each.key},Operator:{each.operator},Values:[{' '.join(each.values)}],}},"
        for each in selector.match_expressions
    )
    lists = f"MatchExpressions:[]LabelSelectorRequirement{{{expressions}}}"
    return f"&LabelSelector{{MatchLabels:map[string]string{{{labels}}},{lists},}}"


def _milli(quantity: Quantity | None) -> int:
    return 0 if quantity is None else quantity.as_int("m")


def _quantity(thousandths: int, family: QuantityFamily = QuantityFamily.DECIMAL_SI) -> Quantity:
    return Quantity(Decimal(thousandths) / 1000, family=family)
