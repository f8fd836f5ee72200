"""Controllers: sources, predicates, handlers, the work queue, workers, and the builder that wires them.

A `Source` follows the changes of a kind, keeps those that its predicates accept, and maps them to requests by its
handler. The queue holds each request once. A worker takes it and calls your `Reconciler`, whose result decides when the
request runs again. The `Builder` makes a controller of these parts and adds it to a `ManagedCluster`: a Manager is one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyctrl._lazy_imports import lazy_names
from pyctrl.controller._builder import Builder
from pyctrl.controller._causes import (
    ChangeCause,
    OmittedCauses,
    ReconcileCause,
    RetryCause,
    TimerCause,
    TriggerCause,
    reconcile_causes,
)
from pyctrl.controller._controller import Controller
from pyctrl.controller._handlers import Handler, Requests, for_object, for_owner, mapped
from pyctrl.controller._managed_cluster import ClusterAware, ManagedCluster, ManagedFleet
from pyctrl.controller._object_change import ObjectChange
from pyctrl.controller._object_reconciler import ObjectReconciler
from pyctrl.controller._options import Absence, ControllerOptions, OnSyncFailure
from pyctrl.controller._predicates import (
    Predicate,
    annotations_changed,
    changed,
    generation_changed,
    labels_changed,
    labels_match,
    on_create,
    on_delete,
    on_update,
    resource_version_changed,
    where,
)
from pyctrl.controller._reads.reading import Reading, reading
from pyctrl.controller._reads.subscriptions import Subscriptions
from pyctrl.controller._reads.undeclared import UndeclaredRead, reporting_undeclared_reads
from pyctrl.controller._reads.views import ReadView
from pyctrl.controller._reconcile_handler import reconcile_id
from pyctrl.controller._reconciler import Reconciler
from pyctrl.controller._request import Request, Result
from pyctrl.controller._sharding.shard_key import SLOTS, ShardBy, ShardKey, all_slots, by_label, slot_of_text, slots_in
from pyctrl.controller._sources.kind import KindSource
from pyctrl.controller._sources.source import ChannelSource, Source, TickSource
from pyctrl.controller._state import ControllerState
from pyctrl.controller._workqueue.priority_heap import LOW_PRIORITY
from pyctrl.controller._workqueue.queue import Queue
from pyctrl.controller._workqueue.rate_limiters import ExponentialBackoff, MaxOfRateLimiter, RateLimiter, TokenBucket
from pyctrl.controller._workqueue.request_sinks import RequestSink
from pyctrl.controller._workqueue.work_item import Done, Outcome, Retry, Terminal, WorkItem

if TYPE_CHECKING:
    from pyctrl.controller._finalizers import FinalizeHandler, FinalizeResult, Finalizers
    from pyctrl.controller._fingerprints.fingerprints import FingerprintKeeping
    from pyctrl.controller._fleet_controller import FleetController
    from pyctrl.controller._reads.statistics import SubscriptionStatistics
    from pyctrl.controller._sharding.controller_shard import ControllerShard, ShardAssignment
    from pyctrl.controller._statistics import ControllerStatistics, QueueStatistics, ReconcileStatistics

__all__ = [
    "LOW_PRIORITY",
    "SLOTS",
    "Absence",
    "Builder",
    "ChangeCause",
    "ChannelSource",
    "ClusterAware",
    "Controller",
    "ControllerOptions",
    "ControllerShard",
    "ControllerState",
    "ControllerStatistics",
    "Done",
    "ExponentialBackoff",
    "FinalizeHandler",
    "FinalizeResult",
    "Finalizers",
    "FingerprintKeeping",
    "FleetController",
    "Handler",
    "KindSource",
    "ManagedCluster",
    "ManagedFleet",
    "MaxOfRateLimiter",
    "ObjectChange",
    "ObjectReconciler",
    "OmittedCauses",
    "OnSyncFailure",
    "Outcome",
    "Predicate",
    "Queue",
    "QueueStatistics",
    "RateLimiter",
    "ReadView",
    "Reading",
    "ReconcileCause",
    "ReconcileStatistics",
    "Reconciler",
    "Request",
    "RequestSink",
    "Requests",
    "Result",
    "Retry",
    "RetryCause",
    "ShardAssignment",
    "ShardBy",
    "ShardKey",
    "Source",
    "SubscriptionStatistics",
    "Subscriptions",
    "Terminal",
    "TickSource",
    "TimerCause",
    "TokenBucket",
    "TriggerCause",
    "UndeclaredRead",
    "WorkItem",
    "all_slots",
    "annotations_changed",
    "by_label",
    "changed",
    "for_object",
    "for_owner",
    "generation_changed",
    "labels_changed",
    "labels_match",
    "mapped",
    "on_create",
    "on_delete",
    "on_update",
    "reading",
    "reconcile_causes",
    "reconcile_id",
    "reporting_undeclared_reads",
    "resource_version_changed",
    "slot_of_text",
    "slots_in",
    "where",
]


_FILES = {
    **dict.fromkeys(("FinalizeHandler", "FinalizeResult", "Finalizers"), "_finalizers"),  # not every program has any
    "FingerprintKeeping": "_fingerprints.fingerprints",  # off by default
    "FleetController": "_fleet_controller",  # only programs with several clusters use it
    "SubscriptionStatistics": "_reads.statistics",
    **dict.fromkeys(("ControllerShard", "ShardAssignment"), "_sharding.controller_shard"),  # off by default
    **dict.fromkeys(("ControllerStatistics", "QueueStatistics", "ReconcileStatistics"), "_statistics"),
}

if not TYPE_CHECKING:  # a type checker would accept any name
    __getattr__, __dir__ = lazy_names(__name__, _FILES)
