"""Resource arguments of a command line, as kubectl resolves them, and suggestions for unknown names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from pyctrl.client._discovery.resource_mapping import ResourceMapping

__all__ = ["resources_for", "similar_resources"]

MAX_SIMILAR = 5  # names in an error message


class _ResourceArgument(NamedTuple):
    """One reading of ``NAME[.VERSION][.GROUP]``; None matches any."""

    name: str
    version: str | None = None
    group: str | None = None

    def matches(self, mapping: ResourceMapping) -> bool:
        """Return whether group and version match a resource."""
        return self.group in (None, mapping.gvk.group) and self.version in (None, mapping.gvk.version)


def resources_for(text: str, served: Sequence[ResourceMapping]) -> tuple[ResourceMapping, ...]:
    """Return the resources that kubectl finds for a name, best match first; empty if there is none.

    The name is a plural, singular, kind or short name in any case, optionally followed by a group, or a version and a
    group: ``deploy``, ``Deployments.apps``, ``deployments.v1.apps``, ``pods.v1.``. Full names take precedence over
    short names. Of several versions the server's preferred one is chosen. Groups are in the server's order.
    """
    for reading in _parse_argument(text.lower()):
        fitting = [mapping for mapping in served if reading.matches(mapping)]
        by_name = [mapping for mapping in fitting if reading.name in _names(mapping)]
        found = by_name or [mapping for mapping in fitting if reading.name in map(str.lower, mapping.short_names)]
        if found:
            return tuple({(mapping.gvk.group, mapping.plural): mapping for mapping in reversed(found)}.values())[::-1]
    return ()


def similar_resources(text: str, served: Sequence[ResourceMapping]) -> list[str]:
    """Return suggestions: similar names and resources of the named group, or else the groups of the cluster."""
    import difflib  # here: unknown names are rare

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
