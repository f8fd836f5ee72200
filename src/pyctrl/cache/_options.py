"""Options of a kind in the cache: namespaces, selectors, transform, compression."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import Enum

from pyctrl.api import ShardRange
from pyctrl.cache._coverage import Coverage, field_selector, label_selector
from pyctrl.cache._transform import Transform
from pyctrl.client import Fields, Labels

__all__ = ["KindOptions", "Outside", "Selector", "ShardMemory"]


class Outside(Enum):
    """What happens to a read of objects that the cache does not watch."""

    RAISE = "raise"  # it raises NotCovered
    LIVE = "live"  # the server answers it


class ShardMemory(Enum):
    """How an informer keeps to the hash ranges that it covers."""

    AUTO = "auto"  # the server gets the selector, and the informer filters what a server sends that ignores it
    SERVER = "server"  # the same, with a warning if the server ignores the selector
    LABEL = "label"  # the server gets a selector of the label pyctrl.io/shard, which `Sharding(memory="label")` keeps
    FILTER = "filter"  # the server gets no selector: it sends all objects, of which the informer stores its part
    OFF = "off"  # the informer covers all objects, whatever `Informer.cover` says


@dataclass(frozen=True, slots=True, kw_only=True)
class Selector:
    """Objects with these labels and fields; both in any form that `Client.list` takes."""

    labels: Labels = None
    fields: Fields = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KindOptions:
    """How a kind is cached.

    Attributes:
        namespaces: only objects in these namespaces; None: the namespaces of the cache. A list without a namespace
            selects from these, see `Cache.list`. Ignored for cluster-scoped kinds.
        selectors: only objects that match at least one of these; empty: all objects.
        transform: changes each object before it is stored, to drop fields that the program does not read. Name,
            namespace, uid and version stay known. Keep the fields that indexes, predicates and selectors read.
        strip_managed_fields: store objects without ``metadata.managedFields``, often a third of their size.
        compress: store objects compressed (zstd, with a dictionary trained on the first MB of them), at a tenth of
            their size. Each event and each read takes some microseconds more. Useful for kinds with thousands of
            objects. Needs ``pip install 'pyctrl-runtime[compression]'``; without it the first use of the kind raises
            CacheError. None: compress if it is installed.
        outside: what happens to reads of objects that are not watched; None: as the cache is configured.
        shard_ranges: only objects whose uid has a hash in these ranges, until `Informer.cover` sets others; None: all
            objects.
        shard_memory: who selects these objects, the server or the informer.
    """

    namespaces: Collection[str] | None = None
    selectors: Sequence[Selector] = ()
    transform: Transform | None = None
    strip_managed_fields: bool = False
    compress: bool | None = False
    outside: Outside | None = None
    shard_ranges: Sequence[ShardRange] | None = None
    shard_memory: ShardMemory = ShardMemory.AUTO

    def coverages(self, default_namespaces: Collection[str] | None, *, is_namespaced: bool) -> list[Coverage]:
        """Return the parts of the kind to watch: one for each namespace and selector."""
        chosen = default_namespaces if self.namespaces is None else self.namespaces
        namespaces: Sequence[str | None] = sorted(chosen) if chosen is not None and is_namespaced else [None]
        return [
            Coverage(namespace=namespace, labels=label_selector(s.labels), fields=field_selector(s.fields))
            for namespace in namespaces
            for s in self.selectors or (Selector(),)
        ]
