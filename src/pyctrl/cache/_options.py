"""What can be decided about a kind that is cached."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import Enum

from pyctrl.cache._coverage import Coverage, field_selector, label_selector
from pyctrl.cache._transform import Transform
from pyctrl.client import Fields, Labels

__all__ = ["KindOptions", "Outside", "Selector"]


class Outside(Enum):
    """What becomes of a read that the cache cannot answer, because it does not watch what is asked for."""

    RAISE = "raise"  # NotCovered: somebody should widen the cache or read live
    LIVE = "live"  # the server is asked


@dataclass(frozen=True, slots=True, kw_only=True)
class Selector:
    """Objects with these labels and fields; both in any form that `Client.list` takes."""

    labels: Labels = None
    fields: Fields = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KindOptions:
    """How a kind is cached.

    Attributes:
        namespaces: only objects in these; None is what the cache is set to. A list without a namespace means these,
            see `Cache.list`. Of no effect on cluster-scoped kinds.
        selectors: only objects that match at least one of these; none is no restriction.
        transform: changes each object before it is kept, so that what nobody reads takes no memory. Name, namespace,
            uid and version stay known whatever it does; leave in what indexes, predicates and selectors look at.
        strip_managed_fields: keep objects without ``metadata.managedFields``, often a third of their size.
        compress: keep objects compressed (zstd, with a dictionary trained on the first MB of them), a tenth of their
            size. Each event and each read cost some microseconds more. Worth it for kinds of thousands of objects;
            needs ``pip install 'pyctrl-runtime[compression]'``, or raises CacheError where the kind is first cached.
            None: if that is installed.
        outside: what becomes of reads of what is not watched; None is what the cache is set to.
    """

    namespaces: Collection[str] | None = None
    selectors: Sequence[Selector] = ()
    transform: Transform | None = None
    strip_managed_fields: bool = False
    compress: bool | None = False
    outside: Outside | None = None

    def coverages(self, default_namespaces: Collection[str] | None, *, is_namespaced: bool) -> list[Coverage]:
        """Return the parts of the kind to watch: each namespace with each selector."""
        chosen = default_namespaces if self.namespaces is None else self.namespaces
        namespaces: Sequence[str | None] = sorted(chosen) if chosen is not None and is_namespaced else [None]
        return [
            Coverage(namespace=namespace, labels=label_selector(s.labels), fields=field_selector(s.fields))
            for namespace in namespaces
            for s in self.selectors or (Selector(),)
        ]
