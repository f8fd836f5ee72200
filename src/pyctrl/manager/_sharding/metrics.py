"""The metrics of sharding."""

from __future__ import annotations

from collections.abc import Iterable

from pyctrl._metrics import MetricFamily, counter, gauge
from pyctrl.manager._sharding.statistics import ShardingStatistics

__all__ = ["sharding_metrics"]


def sharding_metrics(ring: str, sharding: ShardingStatistics) -> Iterable[MetricFamily]:
    """Return the metrics of a replica of a ring."""
    labels = {"ring": ring}
    share = sharding.slots / sharding.fair_slots if sharding.fair_slots else 0.0
    yield gauge("pyctrl_shard_members", "Replicas that may work, as this one knows", (labels, sharding.members))
    yield gauge("pyctrl_shard_joined", "1 once all others know this replica", (labels, float(sharding.has_joined)))
    yield gauge("pyctrl_shard_slots", "Slots whose requests this replica takes", (labels, sharding.slots))
    yield gauge("pyctrl_shard_slots_all", "Slots of the whole ring", (labels, sharding.all_slots))
    yield gauge("pyctrl_shard_imbalance", "Slots relative to a fair share; 1 is fair", (labels, share))
    yield gauge("pyctrl_shard_requests", "Requests that are ready or running here", (labels, sharding.requests))
    yield counter("pyctrl_shard_slots_taken_total", "Slots that this replica has taken", (labels, sharding.taken))
    yield counter("pyctrl_shard_slots_yielded_total", "Slots that it has given up", (labels, sharding.yielded))
    yield counter("pyctrl_shard_terms_total", "Times this replica has joined", (labels, sharding.terms))
    yield counter("pyctrl_shard_losses_total", "Times its Lease was not renewed in time", (labels, sharding.losses))
    yield counter("pyctrl_shard_cancelled_total", "Reconciles cancelled to move", (labels, sharding.cancelled))
    yield counter("pyctrl_shard_failures_total", "Failed requests for Leases", (labels, sharding.failures))
