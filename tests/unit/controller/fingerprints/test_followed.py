"""What a controller follows: which first lists a start holds back, and of what a restart knows nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pyctrl.controller import Builder, for_object, for_owner, reading
from pyctrl.controller._fingerprints.followed import FollowedKinds
from pyctrl.kinds.core.v1 import ConfigMap, Pod, Secret, Service
from tests.unit.controller._hosts import Journal, make_host


def followed(wire: Callable[[Builder[Any]], Builder[Any]]) -> FollowedKinds:
    """Return what a controller of ConfigMaps follows."""
    controller = wire(Builder(make_host()).reconciles(ConfigMap)).build(Journal())
    return FollowedKinds(controller.kind, controller.cluster, controller.sources)


async def test_first_lists_of_reconciled_and_owned_kinds_are_held() -> None:
    """A start holds the reconciled kind and the owned ones back, but no kind that is only read: nothing has read it."""
    found = followed(lambda builder: builder.owns(Service).watches(Pod, for_owner(ConfigMap)).reads(Secret))
    assert [source.gvk.kind for source in found.sources] == ["ConfigMap", "Service", "Pod"]
    assert {informer.gvk.kind for informer in found.owned} == {"Service", "Pod"}
    assert found.unknown == ""


async def test_the_manner_of_following_is_described() -> None:
    """The same kinds in another manner, or in another order, are told apart and are not."""
    owns, reads = followed(lambda builder: builder.owns(Service)), followed(lambda builder: builder.reads(Service))
    assert owns.described != reads.described
    one = followed(lambda builder: builder.owns(Service).reads(Secret))
    other = followed(lambda builder: builder.reads(Secret).owns(Service))
    assert one.described == other.described


@pytest.mark.parametrize(
    ("wire", "unknown"),
    [
        (lambda builder: builder.watches(Pod, for_object), "it watches Pod with a handler of its own"),
        (lambda builder: builder.watches(Pod, for_owner(Secret)), "it watches Pod with a handler of its own"),
        (lambda builder: builder.reads(reading(Pod, triggers=False)), ""),
    ],
    ids=["handler", "owner of another kind", "only cached"],
)
async def test_a_handler_of_its_own_makes_everything_unknown(
    wire: Callable[[Builder[Any]], Builder[Any]], unknown: str
) -> None:
    """A handler that may map what no run reads leaves no fingerprint; a kind that is only cached does."""
    assert followed(wire).unknown.startswith(unknown)
    assert bool(followed(wire).unknown) is bool(unknown)
