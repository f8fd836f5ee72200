"""Limits of a kubeconfig's YAML, which may be the content of a Secret that others write.

libyaml's composer recurses in C: a deep document crashes the process. Aliases cost as much as their expansion when the
content is compared or copied.
"""

from __future__ import annotations

from typing import Any

__all__ = ["LimitExceeded", "check_limits"]

MAX_CHARACTERS = 4 * 1024 * 1024  # a hundred clusters have 0.5 MB
MAX_NODES = 100_000  # a hundred clusters have 4,000; reading 100,000 takes half a second
MAX_DEPTH = 100  # plugins define the deepest parts, extensions of clusters

_TOO_DEEP = f"it is nested more than {MAX_DEPTH} levels deep"


class LimitExceeded(ValueError):
    """Raised, before parsing, for text that exceeds a limit."""


def check_limits(text: str, loader: Any) -> None:
    """Check size, depth and the number of nodes with aliases expanded. Time and memory do not depend on the depth.

    Raises:
        LimitExceeded: a limit is exceeded.
        yaml.YAMLError: the text is not YAML.
    """
    import yaml  # here: as in kubeconfig.py

    if len(text) > MAX_CHARACTERS:
        raise LimitExceeded(f"it has {len(text)} characters; the limit is {MAX_CHARACTERS}")
    counter = _Counter()
    try:
        for event in yaml.parse(text, Loader=loader):
            if isinstance(event, yaml.AliasEvent):
                counter.alias(str(event.anchor))
            elif isinstance(event, yaml.ScalarEvent):
                counter.begin(event.anchor)
                counter.end()
            elif isinstance(event, yaml.CollectionStartEvent):
                counter.begin(event.anchor)
            elif isinstance(event, yaml.CollectionEndEvent):
                counter.end()
    except yaml.MarkedYAMLError as error:
        # the limit of libyaml 0.2.6, 1000 levels; its scanner reads ahead of the events
        if "maximum nesting depth" in str(error.problem):
            raise LimitExceeded(_TOO_DEEP) from error
        raise


class _Counter:
    """Counter of nodes, with aliases expanded."""

    def __init__(self) -> None:
        self._nodes = 0
        self._open: list[tuple[str | None, int]] = []  # anchors of the enclosing nodes, and the count before each
        self._sizes: dict[str, int] = {}

    def begin(self, anchor: str | None) -> None:
        self._open.append((anchor, self._nodes))
        self._add(1)
        if len(self._open) > MAX_DEPTH:
            raise LimitExceeded(_TOO_DEEP)

    def end(self) -> None:
        anchor, before = self._open.pop()
        if anchor is not None:
            self._sizes[anchor] = self._nodes - before

    def alias(self, anchor: str) -> None:
        if any(each == anchor for each, _ in self._open):
            raise LimitExceeded(f"the anchor {anchor} contains itself")
        self._add(self._sizes.get(anchor, 1))

    def _add(self, nodes: int) -> None:
        self._nodes += nodes
        if self._nodes > MAX_NODES:
            raise LimitExceeded(f"it has more than {MAX_NODES} values")
