"""A live copy of the cluster: what is watched is in memory, and own writes are seen at once.

`Cache` has one `Informer` for each kind. A reflector lists and watches and never gives up; the store keeps each object
as its JSON bytes and gives out fresh objects; an overlay has what this process wrote until it comes back as an event;
subscribers are told of each `Change`. `CachedClient` puts a cache in front of a client.
"""

from typing import TYPE_CHECKING

from pyctrl._lazy_imports import lazy_names
from pyctrl.cache._cache import Cache
from pyctrl.cache._cached_client import CachedClient
from pyctrl.cache._changes import Change, Created, Deleted, Synced, Updated
from pyctrl.cache._informer import Informer
from pyctrl.cache._options import KindOptions, Outside, Selector
from pyctrl.cache._record import Record
from pyctrl.cache._store_writer import Listener
from pyctrl.cache._subscribers import Subscription
from pyctrl.cache._transform import Transform

if TYPE_CHECKING:
    from pyctrl.cache._statistics import InformerStatistics

__all__ = [
    "Cache",
    "CachedClient",
    "Change",
    "Created",
    "Deleted",
    "Informer",
    "InformerStatistics",
    "KindOptions",
    "Listener",
    "Outside",
    "Record",
    "Selector",
    "Subscription",
    "Synced",
    "Transform",
    "Updated",
]

if not TYPE_CHECKING:  # type checkers would take it as a promise of any name
    __getattr__, __dir__ = lazy_names(__name__, {"InformerStatistics": "_statistics"})
