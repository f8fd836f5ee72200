"""CRDs of the kinds that a program reconciles, generated from their classes."""

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
        manager: a manager with the program's controllers.
        webhooks: webhooks whose conversions name further versions. Versions with a class in the program are found, too.
        watched: whether to include kinds that it only watches, owns or admits, possibly of other programs.

    Kinds that an extension API server of the program serves have no definition, and are left out.
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
    for name in _kinds_behind_apiservices(manager):
        found.pop(name, None)
    for kinds in found.values():
        served = {kind.gvk.version for kind in kinds}
        kinds.update(
            (version, None) for version in _other_versions(next(iter(kinds))) if version.gvk.version not in served
        )
    return {name: tuple(kinds) for name, kinds in found.items()}


def _kinds_behind_apiservices(manager: Manager) -> set[GroupKind]:
    if "pyctrl.extension_apiserver" not in sys.modules:  # not imported: there is no extension API server
        return set()
    from pyctrl.extension_apiserver import ExtensionAPIServer

    servers = [each.runnable for each in manager.members if isinstance(each.runnable, ExtensionAPIServer)]
    return {kind.gvk.group_kind for server in servers for kind in server.kinds}


def _other_versions(kind: Kind) -> Iterable[Kind]:
    """Return other classes of a kind in the same program: versions without a controller are served, too."""
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
    """Return the CRDs of kinds, generated from their classes.

    Of several versions, the hub of the conversion or else the reconciled version is the storage version, unless a class
    sets ``stored=True``.

    Args:
        kinds: the kinds, as `custom_kinds` returns them.
        webhooks: webhooks with the conversions.
        target: the address of the conversion webhook; None: unknown. A CRD with a conversion then has a
            ``spec.conversion`` without a ``clientConfig``, and `install_definitions` keeps the one in the cluster.
        ca_bundle: PEM of the CA of its certificate; empty: injected later.

    Raises:
        DefinitionError: a type cannot be expressed as a CRD; the message says what is wrong, where, and what to do.
    """
    from pyctrl.manifests import definition  # here: usually the CRDs are installed already

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
    """The custom kinds that a program reconciles, with all of their versions, and its webhooks."""

    kinds: Mapping[GroupKind, Sequence[Kind]]
    webhooks: Sequence[Webhooks]

    @property
    def is_converted(self) -> bool:
        """Whether a webhook of the program converts one of the kinds."""
        return any(each.kind in self.kinds for group in self.webhooks for each in group.conversions)

    def conversions(self) -> Webhooks:
        """Return the conversions of the kinds, without other webhooks."""
        found = Webhooks()
        for conversion in (each for group in self.webhooks for each in group.conversions):
            found.add_conversion(conversion)
        return found

    def definitions(self, *, target: Service | Url | None = None, ca_bundle: bytes = b"") -> list[dict[str, Any]]:
        """Return the CRDs of the kinds, as `definitions_of` does."""
        return definitions_of(self.kinds, self.webhooks, target=target, ca_bundle=ca_bundle)


async def declared_kinds(program: SetupFunction | ModuleType) -> DeclaredKinds:
    """Set a program up in a manager that never runs, and return the kinds that it reconciles; see `definitions`."""
    if isinstance(program, ModuleType):
        name, setup = program.__name__, Target.parse(program.__name__).find()
    else:
        name, setup = getattr(program, "__qualname__", repr(program)), program
    async with ProgramManager(Config.in_process(NoServer())) as manager:
        manager.webhook_options = WebhookOptions(enabled=False)
        run_setup(setup, manager, name)
        return DeclaredKinds(kinds=custom_kinds(manager, manager.webhooks), webhooks=manager.webhooks)


async def definitions(
    program: SetupFunction | ModuleType, *, target: Service | Url | None = None
) -> list[dict[str, Any]]:
    """Return the CRDs of all kinds that a program reconciles, each with all of its versions.

        await install_definitions(client, await definitions(shop))

    ``pyctrl manifests`` writes them, and ``pyctrl deploy`` and ``pyctrl run --install-crds`` install them.

    Args:
        program: a package or module that `pyctrl run` accepts, or a setup function.
        target: the address of the conversion webhook; see `definitions_of`.

    Raises:
        CommandFailed: the setup of the program fails.
        DefinitionError: a type cannot be expressed as a CRD.
    """
    return (await declared_kinds(program)).definitions(target=target)
