"""The part of a kind that is watched: what the options of the kind say, else what those who read it need."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import TypeAlias

from pyctrl.api import GroupVersionKind
from pyctrl.cache._coverage import Coverage
from pyctrl.cache._options import KindOptions, Selector
from pyctrl.errors import CacheError

__all__ = ["Needs"]

#: Namespaces, None for those of the cache, and names, none for all objects.
_Need: TypeAlias = tuple[frozenset[str] | None, frozenset[str]]

_EVERYTHING: _Need = (None, frozenset())


class Needs:
    """What the callers of `Cache.informer` need of a kind, until it is watched.

    Args:
        gvk: the kind, for errors.
        options: the options of the kind. Their namespaces or selectors, if there are any, decide alone.
    """

    def __init__(self, gvk: GroupVersionKind, options: KindOptions) -> None:
        self._gvk, self._options = gvk, options
        self._needs: dict[_Need, None] = {}
        self._is_settled = False

    def add(self, namespaces: Collection[str] | None, names: Collection[str]) -> None:
        """Add what a caller needs.

        Raises:
            CacheError: the kind is watched already, without what the caller needs.
        """
        need = (None if namespaces is None else frozenset(namespaces), frozenset(names))
        if need in self._needs or _EVERYTHING in self._needs:
            return
        if self._is_settled and not self._is_decided_by_options:
            raise CacheError(
                f"{self._gvk} is watched already, and not all of it; declare what is needed of it before the cache "
                "runs, or set KindOptions for it"
            )
        self._needs[need] = None

    def settle(self, namespaces: Collection[str] | None, *, is_namespaced: bool) -> list[Coverage]:
        """Return the parts to watch, once they are watched: nothing can be added any more."""
        self._is_settled = True
        return self.coverages(namespaces, is_namespaced=is_namespaced)

    def coverages(self, namespaces: Collection[str] | None, *, is_namespaced: bool) -> list[Coverage]:
        """Return the parts to watch; ``namespaces`` are those of the cache."""
        chosen = [self._options]
        if not self._is_decided_by_options and self._needs and _EVERYTHING not in self._needs:
            chosen = [self._options_for(need) for need in self._needs]
        found = (part for each in chosen for part in each.coverages(namespaces, is_namespaced=is_namespaced))
        return list(dict.fromkeys(found))

    @property
    def _is_decided_by_options(self) -> bool:
        return self._options.namespaces is not None or bool(self._options.selectors)

    def _options_for(self, need: _Need) -> KindOptions:
        namespaces, names = need
        selectors = [Selector(fields={"metadata.name": name}) for name in sorted(names)]
        return replace(self._options, namespaces=namespaces, selectors=selectors)
