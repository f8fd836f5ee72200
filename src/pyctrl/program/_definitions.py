"""The definitions of the kinds that a program looks after: made from its types, and installed."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pyctrl.api import CustomResource, GroupKind, GroupVersionKind, Key, KubernetesObject
from pyctrl.client import Client, wait_for
from pyctrl.controller import Controller, KindSource
from pyctrl.errors import CommandFailed, PyctrlError
from pyctrl.manager import Manager
from pyctrl.webhook import Service, Url, Webhooks, conversion_stanza

__all__ = ["custom_kinds", "definitions_of", "install_definitions", "is_established"]

DEFINITION = GroupVersionKind("apiextensions.k8s.io", "v1", "CustomResourceDefinition")
ESTABLISHED_SECONDS = 30.0  # an API server takes well under one

Kind = type[CustomResource[Any, Any]]


def custom_kinds(
    manager: Manager, webhooks: Iterable[Webhooks] = (), *, watched: bool = False
) -> Mapping[GroupKind, Sequence[Kind]]:
    """Return the custom kinds that a program reconciles, by name, each with the classes of its versions.

    Args:
        manager: with the program's controllers.
        webhooks: name further versions, by their conversions. Those that the program has classes of are found too.
        watched: also the kinds that it only watches, owns or admits, which may be those of other programs.
    """
    found: dict[GroupKind, dict[Kind, None]] = {}
    for member in manager.members:
        controller = member.runnable
        if isinstance(controller, Controller):
            for kind in _kinds_of(controller, watched=watched):
                found.setdefault(kind.gvk.group_kind, {})[kind] = None
    for registration in (each for group in webhooks for each in group.registrations if watched):
        admitted = registration.object_class
        if admitted is not None and issubclass(admitted, CustomResource):
            found.setdefault(admitted.gvk.group_kind, {})[admitted] = None
    for conversion in (each for group in webhooks for each in group.conversions):
        for version in (conversion.hub, *(spoke.kind for spoke in conversion.spokes)):
            if issubclass(version, CustomResource):
                found.setdefault(conversion.kind, {})[version] = None
    for kinds in found.values():
        served = {kind.gvk.version for kind in kinds}
        kinds.update(
            (version, None) for version in _other_versions(next(iter(kinds))) if version.gvk.version not in served
        )
    return {name: tuple(kinds) for name, kinds in found.items()}


def _other_versions(kind: Kind) -> Iterable[Kind]:
    """Give the other classes of a kind that the same program has: versions that nobody reconciles are served too."""
    program = kind.__module__.partition(".")[0]
    modules = [module for name, module in sys.modules.items() if name.partition(".")[0] == program]
    for value in (value for module in modules for value in list(vars(module).values())):
        if isinstance(value, type) and issubclass(value, CustomResource) and hasattr(value, "gvk"):
            yield from (value,) if value.gvk.group_kind == kind.gvk.group_kind else ()


def _kinds_of(controller: Controller, *, watched: bool) -> Iterable[Kind]:
    for source in controller.sources:
        if isinstance(source, KindSource) and (watched or source.gvk == controller.kind):
            kind = source.kind
            if isinstance(kind, type) and issubclass(kind, CustomResource):
                yield kind


def definitions_of(
    kinds: Mapping[GroupKind, Sequence[Kind]], webhooks: Iterable[Webhooks] = (), *, target: Service | Url | None = None
) -> list[dict[str, Any]]:
    """Return the definitions of kinds, made from their classes.

    Of a kind with several versions the hub of its conversion is stored, or the version that is reconciled, unless a
    class says ``stored=True``.

    Args:
        kinds: as `custom_kinds` gives them.
        webhooks: have the conversions.
        target: where the API server is to ask for conversions; None: nowhere is said.

    Raises:
        DefinitionError: the types cannot be a definition; says what is wrong, where, and what to do.
    """
    from pyctrl.manifests import definition  # here: most programs find theirs installed

    hubs = {each.kind: each.hub for group in webhooks for each in group.conversions}
    stanza = conversion_stanza(target) if target is not None else None
    return [
        definition(
            *versions,
            stored=_stored(versions, hubs.get(name, versions[0])),
            conversion=stanza if name in hubs else None,
        )
        for name, versions in kinds.items()
    ]


def _stored(versions: Sequence[Kind], otherwise: type[KubernetesObject]) -> type[KubernetesObject] | None:
    return None if any(version.resource.is_stored for version in versions) else otherwise


async def install_definitions(client: Client, definitions: Iterable[dict[str, Any]], *, force: bool = True) -> None:
    """Apply definitions, server-side, and wait until their kinds are served.

    Raises:
        CommandFailed: the server refused one, or does not serve it within half a minute; says which.
    """
    for definition in definitions:
        name = definition["metadata"]["name"]
        try:
            await client.apply(definition, force=force)
            await wait_for(client, DEFINITION, Key("", name), is_established, timeout=ESTABLISHED_SECONDS)
        except (PyctrlError, TimeoutError) as error:
            raise CommandFailed(f"the definition {name} could not be installed: {error}") from error


def is_established(definition: Any) -> bool:
    """Whether the kind of a definition is served."""
    conditions = definition.get("status", {}).get("conditions") or []  # kube-apiserver says null before it has looked
    return any(each["type"] == "Established" and each["status"] == "True" for each in conditions)
