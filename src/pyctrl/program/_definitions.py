"""The definitions of the kinds that a program looks after, made from its types."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from pyctrl.api import CustomResource, GroupKind, KubernetesObject
from pyctrl.client import Config
from pyctrl.controller import Controller, KindSource
from pyctrl.manager import Manager, NoServer
from pyctrl.program._program_manager import ProgramManager, WebhookOptions
from pyctrl.program._setup import SetupFunction
from pyctrl.program._target import Target, run_setup
from pyctrl.webhook import Service, Url, Webhooks, conversion_stanza

__all__ = ["DeclaredKinds", "custom_kinds", "declared_kinds", "definitions", "definitions_of"]

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
    kinds: Mapping[GroupKind, Sequence[Kind]],
    webhooks: Iterable[Webhooks] = (),
    *,
    target: Service | Url | None = None,
    ca_bundle: bytes = b"",
) -> list[dict[str, Any]]:
    """Return the definitions of kinds, made from their classes.

    Of a kind with several versions the hub of its conversion is stored, or the version that is reconciled, unless a
    class says ``stored=True``.

    Args:
        kinds: as `custom_kinds` gives them.
        webhooks: have the conversions.
        target: where the API server is to ask for conversions; None: it is not known here. A definition with a
            conversion then has a ``spec.conversion`` without a ``clientConfig``; `install_definitions` keeps the one
            that is in the cluster.
        ca_bundle: PEM of the authorities of its certificate; without, somebody injects it later.

    Raises:
        DefinitionError: the types cannot be a definition; says what is wrong, where, and what to do.
    """
    from pyctrl.manifests import definition  # here: most programs find theirs installed

    hubs = {each.kind: each.hub for group in webhooks for each in group.conversions}
    stanza = None if target is None else conversion_stanza(target, ca_bundle=ca_bundle)
    made = {
        name: definition(
            *versions,
            stored=_stored(versions, hubs.get(name, versions[0])),
            conversion=stanza if name in hubs else None,
        )
        for name, versions in kinds.items()
    }
    for name in made.keys() & hubs.keys() if target is None else ():
        made[name]["spec"]["conversion"] = {"strategy": "Webhook"}
    return list(made.values())


def _stored(versions: Sequence[Kind], otherwise: type[KubernetesObject]) -> type[KubernetesObject] | None:
    return None if any(version.resource.is_stored for version in versions) else otherwise


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredKinds:
    """The custom kinds that a program reconciles, with all of their versions, and its webhooks, which convert them."""

    kinds: Mapping[GroupKind, Sequence[Kind]]
    webhooks: Sequence[Webhooks]

    @property
    def is_converted(self) -> bool:
        """Whether the API server has to ask a webhook of the program to convert one of the kinds."""
        return any(each.kind in self.kinds for group in self.webhooks for each in group.conversions)

    def conversions(self) -> Webhooks:
        """Return what converts the kinds, and nothing else."""
        found = Webhooks()
        for conversion in (each for group in self.webhooks for each in group.conversions):
            found.add_conversion(conversion)
        return found

    def definitions(self, *, target: Service | Url | None = None, ca_bundle: bytes = b"") -> list[dict[str, Any]]:
        """Return the definitions of the kinds, as `definitions_of` does."""
        return definitions_of(self.kinds, self.webhooks, target=target, ca_bundle=ca_bundle)


async def declared_kinds(program: SetupFunction | ModuleType) -> DeclaredKinds:
    """Wire a program into a manager that never runs, and return the kinds that it reconciles; see `definitions`."""
    if isinstance(program, ModuleType):
        name, wire = program.__name__, Target.parse(program.__name__).find()
    else:
        name, wire = getattr(program, "__qualname__", repr(program)), program
    async with ProgramManager(Config.in_process(NoServer())) as manager:
        manager.webhook_options = WebhookOptions(enabled=False)
        run_setup(wire, manager, name)
        return DeclaredKinds(kinds=custom_kinds(manager, manager.webhooks), webhooks=manager.webhooks)


async def definitions(
    program: SetupFunction | ModuleType, *, target: Service | Url | None = None
) -> list[dict[str, Any]]:
    """Return the definitions of all kinds that a program reconciles, each with all of its versions.

        await install_definitions(client, await definitions(shop))

    They are what ``pyctrl manifests`` writes, ``pyctrl deploy`` and ``pyctrl run --install-crds`` install.

    Args:
        program: a package or module that `pyctrl run` takes, or a function that wires controllers into a manager.
        target: where the API server is to ask for conversions; see `definitions_of`.

    Raises:
        CommandFailed: the program cannot be wired.
        DefinitionError: a type cannot be a definition.
    """
    return (await declared_kinds(program)).definitions(target=target)
