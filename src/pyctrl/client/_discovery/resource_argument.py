"""What people call a resource on a command line, and what they may have meant by a name that nothing has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from pyctrl.client._discovery.resource_mapping import ResourceMapping

__all__ = ["resources_for", "similar_resources"]

MAX_SIMILAR = 5  # names in an error: what fits into a sentence


class _ResourceArgument(NamedTuple):
    """One way to read ``NAME[.VERSION][.GROUP]``; None is any."""

    name: str
    version: str | None = None
    group: str | None = None

    def fits(self, mapping: ResourceMapping) -> bool:
        """Whether group and version are those of a resource, as far as they are given."""
        return self.group in (None, mapping.gvk.group) and self.version in (None, mapping.gvk.version)


def resources_for(text: str, served: Sequence[ResourceMapping]) -> tuple[ResourceMapping, ...]:
    """Return what a name means to kubectl, best first; nothing if it means nothing.

    It is a plural, singular, kind or short name in any case, and may have a group, or a version and a group, behind
    it: ``deploy``, ``Deployments.apps``, ``deployments.v1.apps``, ``pods.v1.``. Real names win over short ones; of
    several versions of a resource the server's preferred one is meant; the server's order decides between groups.
    """
    for reading in _parse_argument(text.lower()):
        fitting = [mapping for mapping in served if reading.fits(mapping)]
        by_name = [mapping for mapping in fitting if reading.name in _names(mapping)]
        found = by_name or [mapping for mapping in fitting if reading.name in map(str.lower, mapping.short_names)]
        if found:
            return tuple({(mapping.gvk.group, mapping.plural): mapping for mapping in reversed(found)}.values())[::-1]
    return ()


def similar_resources(text: str, served: Sequence[ResourceMapping]) -> list[str]:
    """Name what is spelled alike, else what the group has that the name speaks of, else the groups there are."""
    import difflib  # here: names that nothing has are rare

    name, _, group = text.lower().partition(".")
    spelled: dict[str, ResourceMapping] = {}
    for mapping in served:
        for each in (*_names(mapping), *mapping.short_names):
            spelled.setdefault(each, mapping)
            spelled.setdefault(f"{each}.{mapping.gvk.group}", mapping)
    close = [spelled[each] for each in difflib.get_close_matches(text.lower(), spelled, MAX_SIMILAR)]
    close += [spelled[each] for each in difflib.get_close_matches(name, spelled, MAX_SIMILAR)]
    of_group = [mapping for mapping in served if mapping.gvk.group and mapping.gvk.group in (group, text.lower())]
    labels = dict.fromkeys(map(_label, [*close, *of_group]))
    return list(labels)[:MAX_SIMILAR] or [_groups(served)]


def _parse_argument(text: str) -> Iterator[_ResourceArgument]:
    name, *rest = text.split(".")
    if len(rest) > 1:
        yield _ResourceArgument(name, rest[0], ".".join(rest[1:]))
    yield _ResourceArgument(name, None, ".".join(rest) if rest else None)


def _names(mapping: ResourceMapping) -> tuple[str, str, str]:
    return mapping.plural, mapping.singular.lower(), mapping.gvk.kind.lower()


def _label(mapping: ResourceMapping) -> str:
    name = f"{mapping.plural}.{mapping.gvk.group}".removesuffix(".")
    return f"{name} ({', '.join(mapping.short_names)})" if mapping.short_names else name


def _groups(served: Iterable[ResourceMapping]) -> str:
    groups = dict.fromkeys(mapping.gvk.group for mapping in served if mapping.gvk.group)
    return f"v1 and the groups {', '.join(groups)}" if groups else "v1 only"
