"""A live copy of the cluster: what is watched is in memory, and own writes are seen at once.

`Cache` has one `Informer` for each kind. A reflector lists and watches and never gives up; the store keeps each object
as its JSON bytes and gives out fresh objects; an overlay has what this process wrote until it comes back as an event;
subscribers are told of each `Change`. `CachedClient` puts a cache in front of a client.
"""

from pyctrl.cache._cache import Cache
from pyctrl.cache._cached_client import CachedClient
from pyctrl.cache._changes import Change, Created, Deleted, Synced, Updated
from pyctrl.cache._feed import Listener
from pyctrl.cache._informer import Informer, InformerStatistics
from pyctrl.cache._options import KindOptions, Outside, Selector
from pyctrl.cache._record import Record
from pyctrl.cache._shaping import Transform
from pyctrl.cache._subscribers import Subscription

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
