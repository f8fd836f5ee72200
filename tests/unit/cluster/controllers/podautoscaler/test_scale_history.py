"""Stabilization and limits of autoscalers, in virtual time. The expected values follow upstream's rules."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pyctrl.cluster._controllers.podautoscaler.scale_history import Limits, ScaleHistory
from pyctrl.kinds.autoscaling.v2 import HorizontalPodAutoscalerBehavior

pytestmark = pytest.mark.virtual_time

LIMITS = Limits(1, 100)
NO_WINDOW: dict[str, Any] = {"stabilizationWindowSeconds": 0, "selectPolicy": "Max"}
FAST = [{"type": "Percent", "value": 100, "periodSeconds": 15}]


def behavior(**rules: dict[str, Any]) -> HorizontalPodAutoscalerBehavior:
    """Make a behavior; rules that are left out have no window and allow 100 % in 15 seconds."""
    default = {**NO_WINDOW, "policies": FAST}
    wire = {name: {**default, **rules.get(name, {})} for name in ("scaleUp", "scaleDown")}
    return HorizontalPodAutoscalerBehavior.from_wire(wire)


async def test_replicas_go_down_only_after_five_minutes_of_lower_recommendations() -> None:
    """Without a behavior, the highest recommendation of the last five minutes counts."""
    history = ScaleHistory()
    history.begin(10)
    lower = history.normalize(None, LIMITS, 10, 3)
    assert (lower.replicas, [each.reason for each in lower.conditions]) == (
        10,
        ["ScaleDownStabilized", "DesiredWithinRange"],
    )
    await asyncio.sleep(299)
    assert history.normalize(None, LIMITS, 10, 4).replicas == 10
    await asyncio.sleep(2)
    later = history.normalize(None, LIMITS, 10, 3)
    assert (later.replicas, later.conditions[0].reason) == (4, "ScaleDownStabilized")


@pytest.mark.parametrize(
    ("limits", "current", "desired", "wanted", "reason", "is_limited"),
    [
        (LIMITS, 1, 9, 4, "ScaleUpLimit", "True"),  # at least up to four
        (LIMITS, 10, 50, 20, "ScaleUpLimit", "True"),  # at most doubled
        (Limits(1, 15), 10, 50, 15, "TooManyReplicas", "True"),
        (Limits(3, 15), 5, 0, 3, "TooFewReplicas", "True"),
        (LIMITS, 10, 12, 12, "DesiredWithinRange", "False"),
    ],
)
async def test_replicas_at_most_double_without_a_behavior(
    limits: Limits, current: int, desired: int, wanted: int, reason: str, is_limited: str
) -> None:
    """One change at most doubles the replicas, or makes them four, within the limits of the autoscaler."""
    normalized = ScaleHistory().normalize(None, limits, current, desired)
    condition = normalized.conditions[1]
    assert (normalized.replicas, condition.reason, condition.status) == (wanted, reason, is_limited)


async def test_a_policy_counts_the_changes_of_its_period() -> None:
    """With two pods a minute, a third pod is added when the first change is a minute old."""
    history = ScaleHistory()
    slow = behavior(scaleUp={"policies": [{"type": "Pods", "value": 2, "periodSeconds": 60}]})
    first = history.normalize(slow, LIMITS, 1, 9)
    assert (first.replicas, first.conditions[1].reason) == (3, "ScaleUpLimit")
    history.store(slow, 1, 3)
    await asyncio.sleep(30)
    assert history.normalize(slow, LIMITS, 3, 9).replicas == 3
    await asyncio.sleep(31)
    assert history.normalize(slow, LIMITS, 3, 9).replicas == 5


@pytest.mark.parametrize(("select", "wanted"), [("Max", 20), ("Min", 13), ("Disabled", 10)])
async def test_the_select_policy_decides_between_policies_that_scale_up(select: str, wanted: int) -> None:
    """Max takes the policy that adds most, Min the one that adds least, and Disabled adds nothing."""
    policies = [*FAST, {"type": "Pods", "value": 3, "periodSeconds": 15}]
    rules = behavior(scaleUp={"policies": policies, "selectPolicy": select})
    assert ScaleHistory().normalize(rules, LIMITS, 10, 90).replicas == wanted


@pytest.mark.parametrize(("select", "wanted"), [("Max", 5), ("Min", 7), ("Disabled", 10)])
async def test_the_select_policy_decides_between_policies_that_scale_down(select: str, wanted: int) -> None:
    """Max takes the policy that removes most, Min the one that removes least, and Disabled removes nothing."""
    policies = [
        {"type": "Percent", "value": 50, "periodSeconds": 15},
        {"type": "Pods", "value": 3, "periodSeconds": 15},
    ]
    rules = behavior(scaleDown={"policies": policies, "selectPolicy": select})
    normalized = ScaleHistory().normalize(rules, LIMITS, 10, 1)
    assert (normalized.replicas, normalized.conditions[1].reason) == (wanted, "ScaleDownLimit")


async def test_the_window_for_scaling_up_takes_the_lowest_recommendation() -> None:
    """With a window of a minute, replicas grow only when all recommendations of the minute were higher."""
    history, rules = ScaleHistory(), behavior(scaleUp={"stabilizationWindowSeconds": 60})
    history.begin(2)
    early = history.normalize(rules, LIMITS, 2, 4)
    assert (early.replicas, early.conditions[0].reason) == (2, "ScaleUpStabilized")
    await asyncio.sleep(61)
    assert history.normalize(rules, LIMITS, 2, 4).replicas == 4


async def test_the_default_window_for_scaling_down_is_five_minutes() -> None:
    """A behavior without a window for scaling down has that of autoscalers without a behavior."""
    history, rules = ScaleHistory(), behavior(scaleDown={"stabilizationWindowSeconds": None})
    history.begin(8)
    assert history.normalize(rules, LIMITS, 8, 6).replicas == 8
    await asyncio.sleep(301)
    assert history.normalize(rules, LIMITS, 8, 6).replicas == 6
