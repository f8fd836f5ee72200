"""A live copy of the watched part of the cluster, which includes this process's own writes at once.

`Cache` has one `Informer` for each kind. Its reflectors list and watch, and retry for ever. Its store keeps each object
as JSON bytes and decodes a fresh object for each read. Its overlay holds this process's writes until a watch event
confirms them. It notifies subscribers of each `Change`. `CachedClient` is a client that reads from a cache.
"""

from typing import TYPE_CHECKING

from pyctrl._lazy_imports import lazy_names
from pyctrl.cache._cache import Cache
from pyctrl.cache._cached_client import CachedClient
from pyctrl.cache._changes import Change, Created, Deleted, Synced, Updated
from pyctrl.cache._coverage import ListQuery, field_selector
from pyctrl.cache._informer import Informer
from pyctrl.cache._options import KindOptions, Outside, Selector, ShardMemory
from pyctrl.cache._read_observer import ReadObserver, read_observer
from pyctrl.cache._record import Record
from pyctrl.cache._shard_uid import SHARD_LABEL, SLOTS, slot_of_uid
from pyctrl.cache._store_writer import StoreListener
from pyctrl.cache._subscribers import Subscription
from pyctrl.cache._transform import Transform

if TYPE_CHECKING:
    from pyctrl.cache._statistics import InformerStatistics

__all__ = [
    "SHARD_LABEL",
    "SLOTS",
    "Cache",
    "CachedClient",
    "Change",
    "Created",
    "Deleted",
    "Informer",
    "InformerStatistics",
    "KindOptions",
    "ListQuery",
    "Outside",
    "ReadObserver",
    "Record",
    "Selector",
    "ShardMemory",
    "StoreListener",
    "Subscription",
    "Synced",
    "Transform",
    "Updated",
    "field_selector",
    "read_observer",
    "slot_of_uid",
]

if not TYPE_CHECKING:  # a type checker would accept any name
    __getattr__, __dir__ = lazy_names(__name__, {"InformerStatistics": "_statistics"})
