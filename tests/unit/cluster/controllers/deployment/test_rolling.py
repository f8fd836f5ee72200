"""Arithmetic of rollouts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyctrl.api import ObjectMeta
from pyctrl.cluster._controllers.deployment.rolling import DESIRED_REPLICAS, MAX_REPLICAS, Rollout, ScaleStep
from pyctrl.cluster._controllers.replicaset import desired_replicas
from pyctrl.kinds.apps.v1 import (
    Deployment,
    DeploymentSpec,
    DeploymentStrategy,
    ReplicaSet,
    ReplicaSetSpec,
    ReplicaSetStatus,
    RollingUpdateDeployment,
)


def deployment(
    replicas: int, *, surge: int | str = "25%", unavailable: int | str = "25%", type: str = "RollingUpdate"
) -> Deployment:
    """Make a Deployment."""
    rolling = RollingUpdateDeployment(max_surge=surge, max_unavailable=unavailable)
    strategy = DeploymentStrategy(type=type, rolling_update=rolling)
    return Deployment(spec=DeploymentSpec(replicas=replicas, strategy=strategy))


def replica_set(name: str, size: int, *, available: int | None = None, told: int | None = None) -> ReplicaSet:
    """Make a ReplicaSet with available pods (by default all), annotated with a Deployment size."""
    have = size if available is None else available
    annotations = {} if told is None else {DESIRED_REPLICAS: str(told), MAX_REPLICAS: str(told + -(-told // 4))}
    return ReplicaSet(
        metadata=ObjectMeta(name=name, annotations=annotations),
        spec=ReplicaSetSpec(replicas=size),
        status=ReplicaSetStatus(replicas=size, available_replicas=have),
    )


def sizes(steps: list[ScaleStep]) -> dict[str, int]:
    """Return the last size of each ReplicaSet."""
    return {found.metadata.name: size for found, size in steps}


def test_a_new_replica_set_starts_with_the_replicas_that_surge_allows() -> None:
    """The first ReplicaSet starts with all replicas, a later one with those that maxSurge allows."""
    assert Rollout(deployment(4), None, []).new_replica_set_size() == 4
    assert Rollout(deployment(4), None, [replica_set("old", 4)]).new_replica_set_size() == 1


def test_old_pods_go_as_new_ones_become_available() -> None:
    """At 25 % of 4 the rollout scales by one pod at a time, first up, then down."""
    wanted = deployment(4)
    assert sizes(Rollout(wanted, replica_set("new", 1, available=0), [replica_set("old", 4)]).rollout_steps()) == {
        "old": 3
    }
    assert sizes(Rollout(wanted, replica_set("new", 1), [replica_set("old", 3)]).rollout_steps()) == {"new": 2}
    assert sizes(Rollout(wanted, replica_set("new", 2), [replica_set("old", 3)]).rollout_steps()) == {"old": 1}
    assert sizes(Rollout(wanted, replica_set("new", 4), [replica_set("old", 1)]).rollout_steps()) == {"old": 0}
    assert Rollout(wanted, replica_set("new", 4), [replica_set("old", 0)]).rollout_steps() == []


def test_pods_that_are_not_available_go_first() -> None:
    """Unavailable old pods are scaled down before new pods are available."""
    wanted = deployment(4, surge=0, unavailable=2)
    rollout = Rollout(wanted, replica_set("new", 0), [replica_set("old", 4, available=2)])
    assert sizes(rollout.rollout_steps()) == {"old": 2}


def test_scaling_without_a_rollout_resizes_the_one_set() -> None:
    """With one ReplicaSet, the size is applied directly."""
    assert sizes(Rollout(deployment(7), replica_set("new", 3, told=3), []).scale_steps()) == {"new": 7}
    assert sizes(Rollout(deployment(0), replica_set("new", 3, told=3), []).scale_steps()) == {"new": 0}


@pytest.mark.parametrize(
    ("replicas", "new", "old", "wanted"),
    [
        (10, 3, 5, {"old": 8, "new": 5}),  # recorded from kube-controller-manager: 6 to 10, with 8 pods of two sets
        (3, 3, 5, {"old": 2, "new": 2}),  # 2.5 and 1.5 round to 3 and 2: one too many, removed from the biggest
        (0, 3, 5, {"old": 0, "new": 0}),
    ],
)
def test_scaling_in_the_middle_keeps_proportions(replicas: int, new: int, old: int, wanted: dict[str, int]) -> None:
    """Each ReplicaSet scales in proportion, and the sum is the new limit."""
    rollout = Rollout(deployment(replicas), replica_set("new", new, told=6), [replica_set("old", old, told=6)])
    assert rollout.is_scaling
    assert sizes(rollout.scale_steps()) == wanted


def test_a_set_that_has_everything_ends_the_others() -> None:
    """When the new ReplicaSet is saturated, the old ones are scaled to 0 at once."""
    rollout = Rollout(deployment(6), replica_set("new", 6, told=6), [replica_set("old", 2, told=5)])
    assert sizes(rollout.scale_steps()) == {"old": 0}


def test_a_size_that_is_known_is_no_scaling() -> None:
    """Only a ReplicaSet annotated with another size means that the Deployment was scaled."""
    assert not Rollout(deployment(6), replica_set("new", 2, told=6), [replica_set("old", 5, told=6)]).is_scaling
    assert not Rollout(deployment(6), replica_set("new", 2), [replica_set("old", 0, told=5)]).is_scaling


def test_recreate_empties_the_old_before_the_new_begins() -> None:
    """Recreate scales old ReplicaSets to 0 first, then the new one to all replicas."""
    recreate = deployment(3, type="Recreate")
    assert sizes(Rollout(recreate, replica_set("new", 0), [replica_set("old", 3)]).rollout_steps()) == {"old": 0}
    assert sizes(Rollout(recreate, replica_set("new", 0), [replica_set("old", 0)]).rollout_steps()) == {"new": 3}
    assert Rollout(recreate, None, [replica_set("old", 0)]).new_replica_set_size() == 3


def test_limits_of_zero_allow_one_unavailable_pod() -> None:
    """If both limits round to 0, one pod can be unavailable."""
    assert Rollout(deployment(2, surge=0, unavailable="25%"), None, []).max_unavailable == 1


@given(
    replicas=st.integers(1, 20),
    surge=st.sampled_from([0, 1, 3, "25%", "100%"]),
    unavailable=st.sampled_from([0, 1, 3, "25%", "100%"]),
    start=st.integers(0, 20),
    broken=st.booleans(),
)
def test_a_rollout_keeps_its_limits_and_ends(
    replicas: int, surge: int | str, unavailable: int | str, start: int, broken: bool
) -> None:
    """A rollout with any limits never exceeds them and completes."""
    wanted = deployment(replicas, surge=surge, unavailable=unavailable)
    old = replica_set("old", start, available=0 if broken else start)
    rollout = Rollout(wanted, None, [old])
    new = replica_set("new", rollout.new_replica_set_size())
    for _ in range(100):
        available_before = (new.status.available_replicas or 0) + (old.status.available_replicas or 0)
        total_before = desired_replicas(new) + desired_replicas(old)
        rollout = Rollout(wanted, new, [old])
        steps = sizes(rollout.rollout_steps())
        if not steps:
            break
        new = replica_set("new", steps.get("new", desired_replicas(new)))
        size = steps.get("old", desired_replicas(old))
        old = replica_set("old", size, available=0 if broken else size)
        assert desired_replicas(new) + size <= max(total_before, replicas + rollout.max_surge)
        if not broken:
            assert desired_replicas(new) + size >= min(available_before, replicas - rollout.max_unavailable)
    assert (desired_replicas(new), desired_replicas(old)) == (replicas, 0)


def test_surge_is_rounded_up_and_unavailability_down() -> None:
    """25 % of 5 pods are two more pods, and one that may be unavailable."""
    rollout = Rollout(deployment(5), None, [])

    assert (rollout.max_surge, rollout.max_unavailable) == (2, 1)
