"""What a program needs of a cluster, found out before anything of it runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyctrl.api import GroupKind, GroupVersionKind, Key
from pyctrl.apiserver import OfflineValidator
from pyctrl.client import Config
from pyctrl.controller import Controller
from pyctrl.manager import Manager, NoServer
from pyctrl.program import ProgramManager, SetupFunction, WebhookOptions, custom_kinds, definitions_of, run_setup
from pyctrl.rbac import manifests
from pyctrl.webhook import Url, Webhooks, configurations

__all__ = ["WEBHOOK_HOST", "Requirements", "controllers_of", "find_requirements"]

WEBHOOK_HOST = "https://webhooks.pyctrl.invalid"  # no such host can be: the server asks in process


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirements:
    """A program that can be wired, and what has to be there for it.

    Attributes:
        wire: puts its controllers into a manager.
        kinds: what its controllers look after, by the controllers' names.
        cached: the kinds that it follows.
        definitions: of the kinds that have a class, those included that it only follows.
        rights: the role of the program, and what binds it.
        registrations: what makes the server ask its webhooks.
        own: the kinds that it looks after, and not only follows.
        webhooks: what answers.
    """

    wire: SetupFunction
    kinds: Mapping[str, GroupVersionKind]
    cached: frozenset[GroupVersionKind]
    definitions: Sequence[dict[str, Any]]
    rights: Sequence[dict[str, Any]]
    registrations: Sequence[dict[str, Any]]
    own: frozenset[GroupKind]
    webhooks: Sequence[Webhooks]

    def samples(self) -> list[dict[str, Any]]:
        """Make up an object of each kind that it looks after, where one can be made up that the server takes."""
        from pyctrl.manifests import sample  # here: most programs have samples beside them

        validator, made = OfflineValidator(), []
        for each in self.definitions:
            validator.define(each)
            names = each["spec"]["names"]
            if GroupKind(each["spec"]["group"], names["kind"]) in self.own:
                made.append(sample(each))
        return [each for each in made if not validator.validate(each).problems]


async def find_requirements(wire: SetupFunction, *, name: str, account: Key) -> Requirements:
    """Wire a program into a manager that never runs, and see what it needs.

    Raises:
        CommandFailed: wiring it fails.
        DefinitionError: a type cannot be a definition.
    """
    async with ProgramManager(Config.in_process(NoServer())) as manager:
        manager.webhook_options = WebhookOptions(enabled=False)
        run_setup(wire, manager, name)
        kinds = custom_kinds(manager, manager.webhooks, watched=True)
        return Requirements(
            wire=wire,
            kinds={each.name: each.kind for each in controllers_of(manager) if each.kind is not None},
            cached=frozenset(informer.gvk for informer in manager.cache.informers),
            definitions=definitions_of(kinds, manager.webhooks, target=Url(WEBHOOK_HOST)),
            rights=manifests(manager.grants(own_namespace=account.namespace), name=name, account=account),
            own=frozenset(custom_kinds(manager)),
            registrations=_registrations(manager.webhooks, name),
            webhooks=manager.webhooks,
        )


def controllers_of(manager: Manager) -> list[Controller]:
    """Return the controllers of a manager."""
    return [member.runnable for member in manager.members if isinstance(member.runnable, Controller)]


def _registrations(webhooks: Sequence[Webhooks], name: str) -> list[dict[str, Any]]:
    return [
        configuration
        for number, each in enumerate(webhooks)
        for configuration in configurations(each, name=f"{name}-{number}" if number else name, target=Url(WEBHOOK_HOST))
    ]
