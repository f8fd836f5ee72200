"""The arithmetic of a rollout."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyctrl.api import ObjectMeta
from pyctrl.cluster._rollout import Rollout, desired_of, same_template, template_hash
from pyctrl.kinds.apps.v1 import (
    Deployment,
    DeploymentSpec,
    DeploymentStrategy,
    ReplicaSet,
    ReplicaSetSpec,
    ReplicaSetStatus,
    RollingUpdateDeployment,
)
from pyctrl.kinds.core.v1 import Container, PodSpec, PodTemplateSpec


def deployment(
    replicas: int, *, surge: int | str = "25%", unavailable: int | str = "25%", type: str = "RollingUpdate"
) -> Deployment:
    """Make a Deployment."""
    rolling = RollingUpdateDeployment(max_surge=surge, max_unavailable=unavailable)
    strategy = DeploymentStrategy(type=type, rolling_update=rolling)
    return Deployment(spec=DeploymentSpec(replicas=replicas, strategy=strategy))


def replica_set(name: str, size: int, *, available: int | None = None) -> ReplicaSet:
    """Make a ReplicaSet of which so many pods (by default all) are available."""
    have = size if available is None else available
    return ReplicaSet(
        metadata=ObjectMeta(name=name),
        spec=ReplicaSetSpec(replicas=size),
        status=ReplicaSetStatus(replicas=size, available_replicas=have),
    )


def test_new_set_starts_with_the_room_that_surge_leaves() -> None:
    """The first set gets everything; a later one as much as fits over the old pods."""
    assert Rollout(deployment(4), None, []).first_size() == 4
    assert Rollout(deployment(4), None, [replica_set("old", 4)]).first_size() == 1


def test_old_pods_go_as_new_ones_become_available() -> None:
    """At 25 % of 4: one more and one fewer at a time."""
    assert Rollout(deployment(4), replica_set("new", 1, available=0), [replica_set("old", 4)]).step() == {"old": 3}
    assert Rollout(deployment(4), replica_set("new", 1), [replica_set("old", 3)]).step() == {"new": 2, "old": 2}
    assert Rollout(deployment(4), replica_set("new", 4), [replica_set("old", 1)]).step() == {"old": 0}
    assert Rollout(deployment(4), replica_set("new", 4), [replica_set("old", 0)]).step() == {}


def test_pods_that_are_not_available_go_first() -> None:
    """Broken old pods are taken although nothing new is available yet."""
    rollout = Rollout(
        deployment(4, surge=0, unavailable=2), replica_set("new", 0), [replica_set("old", 4, available=2)]
    )
    assert rollout.step() == {"old": 2}


def test_scaling_without_a_rollout_resizes_the_one_set() -> None:
    """With one template, the size goes straight to the set."""
    assert Rollout(deployment(7), replica_set("new", 3), []).step() == {"new": 7}
    assert Rollout(deployment(0), replica_set("new", 3), []).step() == {"new": 0}


def test_a_paused_deployment_can_be_scaled_but_moves_no_pods() -> None:
    """Paused, the one set follows the size; with two sets half way, nothing moves."""
    paused = deployment(5)
    paused.spec.paused = True
    assert Rollout(paused, None, [replica_set("old", 3)]).step() == {"old": 5}
    assert Rollout(paused, replica_set("new", 1), [replica_set("old", 3)]).step() == {}


def test_recreate_waits_for_the_old_to_be_gone() -> None:
    """No new pod before the last old one has gone."""
    gone, going = replica_set("old", 0), replica_set("old", 0)
    going.status.replicas = 2
    recreate = deployment(3, type="Recreate")
    assert Rollout(recreate, replica_set("new", 0), [replica_set("old", 3)]).step() == {"old": 0}
    assert Rollout(recreate, replica_set("new", 0), [going]).step() == {}
    assert Rollout(recreate, replica_set("new", 0), [gone]).step() == {"new": 3}
    assert Rollout(recreate, None, [replica_set("old", 3)]).first_size() == 0


def test_both_limits_zero_would_never_move() -> None:
    """When surge and unavailable round to nothing, one pod may be missing."""
    assert Rollout(deployment(2, surge=0, unavailable="25%"), None, []).unavailable == 1


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
    """Whatever the limits: never too many pods, never too few available ones, and the end is reached."""
    wanted = deployment(replicas, surge=surge, unavailable=unavailable)
    old = replica_set("old", start, available=0 if broken else start)
    rollout = Rollout(wanted, None, [old])
    new = replica_set("new", rollout.first_size())
    for _ in range(100):
        available_before = (new.status.available_replicas or 0) + (old.status.available_replicas or 0)
        total_before = desired_of(new) + desired_of(old)
        rollout = Rollout(wanted, new, [old])
        sizes = rollout.step()
        if not sizes:
            break
        new = replica_set("new", sizes.get("new", desired_of(new)))
        size = sizes.get("old", desired_of(old))
        old = replica_set("old", size, available=0 if broken else size)
        assert desired_of(new) + size <= max(total_before, replicas + rollout.surge)
        if not broken:
            assert desired_of(new) + size >= min(available_before, replicas - rollout.unavailable)
    assert (desired_of(new), desired_of(old)) == (replicas, 0)


def template(image: str, **labels: str) -> PodTemplateSpec:
    """Make a pod template."""
    return PodTemplateSpec(
        metadata=ObjectMeta(labels=labels), spec=PodSpec(containers=[Container(name="c", image=image)])
    )


def test_the_hash_label_does_not_make_another_template() -> None:
    """The label that ReplicaSets add to their pods is not part of what makes templates differ."""
    hashed = template("a", app="x")
    hashed.metadata.labels["pod-template-hash"] = "abc"
    assert same_template(template("a", app="x"), hashed)
    assert not same_template(template("a", app="x"), template("b", app="x"))


def test_hash_depends_on_template_and_collisions() -> None:
    """Equal templates have equal hashes; another image or another count of collisions another one."""
    first = template_hash(template("a"), 0)
    assert first == template_hash(template("a"), 0)
    assert len({first, template_hash(template("b"), 0), template_hash(template("a"), 1)}) == 3
    assert first.isalnum()


@pytest.mark.parametrize("replicas", [None, 5])
def test_a_set_that_does_not_say_wants_one_pod(replicas: int | None) -> None:
    """Replicas default to one."""
    assert desired_of(ReplicaSet(spec=ReplicaSetSpec(replicas=replicas))) == (5 if replicas else 1)
