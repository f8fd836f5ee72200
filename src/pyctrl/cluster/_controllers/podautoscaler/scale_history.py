"""Scale history: recent recommendations and changes of an autoscaler, which stabilize and limit its next change.

The rules are upstream's (pkg/controller/podautoscaler/horizontal.go): without `behavior`, the highest recommendation
of the last five minutes counts, and replicas at most double; with it, its windows and policies apply.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal, NamedTuple

from pyctrl import _clock
from pyctrl.kinds.autoscaling.v2 import HorizontalPodAutoscalerBehavior, HPAScalingRules

__all__ = ["DOWNSCALE_STABILIZATION", "Limits", "NormalizedReplicas", "ScaleHistory", "ScalingCondition"]

DOWNSCALE_STABILIZATION = timedelta(minutes=5)  # --horizontal-pod-autoscaler-downscale-stabilization
_MAX_INT32 = 2**31 - 1


class ScalingCondition(NamedTuple):
    """A condition of an autoscaler."""

    type: str
    status: Literal["True", "False"]
    reason: str
    message: str


class Limits(NamedTuple):
    """The replicas that an autoscaler allows."""

    least: int
    most: int


class NormalizedReplicas(NamedTuple):
    """The replicas to set, and the conditions that explain them."""

    replicas: int
    conditions: tuple[ScalingCondition, ScalingCondition]


class _Sample(NamedTuple):
    """A recommendation, or the size of a change, and its time."""

    replicas: int
    time: datetime


@dataclass
class ScaleHistory:
    """What one autoscaler recommended and changed."""

    recommendations: list[_Sample] = field(default_factory=list)
    ups: list[_Sample] = field(default_factory=list)
    downs: list[_Sample] = field(default_factory=list)

    def begin(self, current: int) -> None:
        """Record the replicas of the target before the first recommendation."""
        if not self.recommendations:
            self.recommendations.append(_Sample(current, _clock.now()))

    def store(self, behavior: HorizontalPodAutoscalerBehavior | None, before: int, after: int) -> None:
        """Record a change of the replicas, which later policies count."""
        if behavior is None:
            return
        rules, changes = (behavior.scale_up, self.ups) if after > before else (behavior.scale_down, self.downs)
        period = max((each.period_seconds for each in rules.policies), default=0) if rules is not None else 0
        _record(changes, _Sample(abs(after - before), _clock.now()), before=_seconds_ago(period))

    def normalize(
        self, behavior: HorizontalPodAutoscalerBehavior | None, limits: Limits, current: int, desired: int
    ) -> NormalizedReplicas:
        """Stabilize and limit the desired replicas, and record them as a recommendation."""
        if behavior is None:
            stable, reason, message = self._stabilize(desired)
            limited = _limit(limits, current, stable)
        else:
            up, down = behavior.scale_up or HPAScalingRules(), behavior.scale_down or HPAScalingRules()
            stable, reason, message = self._stabilize_with(up, down, current, desired)
            limited = self._limit_with(up, down, limits, current, stable)
        if stable == desired:
            reason, message = "ReadyForNewScale", "recommended size matches current size"
        able = ScalingCondition("AbleToScale", "True", reason, message)
        is_limited: Literal["True", "False"] = "False" if limited.replicas == stable else "True"
        return NormalizedReplicas(
            limited.replicas, (able, ScalingCondition("ScalingLimited", is_limited, limited.reason, limited.message))
        )

    def _stabilize(self, desired: int) -> tuple[int, str, str]:
        cutoff = _clock.now() - DOWNSCALE_STABILIZATION
        recent = [each.replicas for each in self.recommendations if each.time >= cutoff]
        _record(self.recommendations, _Sample(desired, _clock.now()), before=cutoff)
        return max([desired, *recent]), *_SCALE_DOWN_STABILIZED

    def _stabilize_with(
        self, up: HPAScalingRules, down: HPAScalingRules, current: int, desired: int
    ) -> tuple[int, str, str]:
        default = int(DOWNSCALE_STABILIZATION.total_seconds())
        down_window = default if down.stabilization_window_seconds is None else down.stabilization_window_seconds
        up_cutoff, down_cutoff = _seconds_ago(up.stabilization_window_seconds or 0), _seconds_ago(down_window)
        lowest = min([desired, *(each.replicas for each in self.recommendations if each.time > up_cutoff)])
        highest = max([desired, *(each.replicas for each in self.recommendations if each.time > down_cutoff)])
        _record(self.recommendations, _Sample(desired, _clock.now()), before=min(up_cutoff, down_cutoff))
        stable = min(max(current, lowest), highest)
        return stable, *(_SCALE_UP_STABILIZED if desired >= current else _SCALE_DOWN_STABILIZED)

    def _limit_with(
        self, up: HPAScalingRules, down: HPAScalingRules, limits: Limits, current: int, desired: int
    ) -> _Limited:
        if desired > current:
            fastest = max(current, self._fastest_up(up, current))
            most = min(limits.most, fastest)
            if desired > most:
                return _Limited(most, *(_SCALE_UP_LIMIT if limits.most > fastest else _TOO_MANY))
        elif desired < current:
            fastest = min(current, self._fastest_down(down, current))
            least = max(limits.least, fastest)
            if desired < least:
                return _Limited(least, *(_SCALE_DOWN_LIMIT if limits.least < fastest else _TOO_FEW))
        return _Limited(desired, *_WITHIN_RANGE)

    def _fastest_up(self, rules: HPAScalingRules, current: int) -> int:
        """Return the most replicas that the policies for scaling up allow now."""
        if rules.select_policy == "Disabled":
            return current
        proposals = self._proposals(rules, current, 1)
        return min(proposals, default=_MAX_INT32) if rules.select_policy == "Min" else max(proposals, default=0)

    def _fastest_down(self, rules: HPAScalingRules, current: int) -> int:
        """Return the fewest replicas that the policies for scaling down allow now."""
        if rules.select_policy == "Disabled":
            return current
        proposals = self._proposals(rules, current, -1)
        return max(proposals, default=0) if rules.select_policy == "Min" else min(proposals, default=_MAX_INT32)

    def _proposals(self, rules: HPAScalingRules, current: int, sign: Literal[1, -1]) -> Iterator[int]:
        """Yield the replicas that each policy allows: up, for the sign 1, or down. It rounds up, or down."""
        for policy in rules.policies:
            start = self._at_start_of_period(policy.period_seconds, current)
            if policy.type == "Pods":
                yield start + sign * policy.value
            else:
                part = start * (1 + sign * policy.value / 100)
                yield math.ceil(part) if sign > 0 else int(part)

    def _at_start_of_period(self, period_seconds: int, current: int) -> int:
        cutoff = _seconds_ago(period_seconds)
        return current - _sum_since(self.ups, cutoff) + _sum_since(self.downs, cutoff)


class _Limited(NamedTuple):
    replicas: int
    reason: str
    message: str


_SCALE_UP_STABILIZED = (
    "ScaleUpStabilized",
    "recent recommendations were lower than current one, applying the lowest recent recommendation",
)
_SCALE_DOWN_STABILIZED = (
    "ScaleDownStabilized",
    "recent recommendations were higher than current one, applying the highest recent recommendation",
)
_SCALE_UP_LIMIT = ("ScaleUpLimit", "the desired replica count is increasing faster than the maximum scale rate")
_SCALE_DOWN_LIMIT = ("ScaleDownLimit", "the desired replica count is decreasing faster than the maximum scale rate")
_TOO_MANY = ("TooManyReplicas", "the desired replica count is more than the maximum replica count")
_TOO_FEW = ("TooFewReplicas", "the desired replica count is less than the minimum replica count")
_WITHIN_RANGE = ("DesiredWithinRange", "the desired count is within the acceptable range")


def _limit(limits: Limits, current: int, desired: int) -> _Limited:
    """Limit the replicas without `behavior`: they at most double, or grow to four."""
    fastest = max(2 * current, 4)
    if desired < limits.least:
        return _Limited(limits.least, *_TOO_FEW)
    if desired > min(limits.most, fastest):
        return _Limited(min(limits.most, fastest), *(_SCALE_UP_LIMIT if limits.most > fastest else _TOO_MANY))
    return _Limited(desired, *_WITHIN_RANGE)


def _record(samples: list[_Sample], sample: _Sample, *, before: datetime) -> None:
    """Add a sample, in place of the last one that is older than a time."""
    old = [index for index, each in enumerate(samples) if each.time < before]
    if old:
        samples[old[-1]] = sample
    else:
        samples.append(sample)


def _sum_since(samples: Sequence[_Sample], cutoff: datetime) -> int:
    return sum(each.replicas for each in samples if each.time > cutoff)


def _seconds_ago(seconds: int) -> datetime:
    return _clock.now() - timedelta(seconds=seconds)
