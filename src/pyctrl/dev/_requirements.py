"""Requirements of a program: CRDs, roles, webhook configurations and APIServices, found without running it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyctrl.api import GroupKind, GroupVersionKind, Key
from pyctrl.apiserver import OfflineValidator
from pyctrl.client import Config
from pyctrl.controller import Controller
from pyctrl.manager import Manager, NoServer
from pyctrl.program import (
    APIServerOptions,
    ProgramManager,
    SetupFunction,
    WebhookOptions,
    custom_kinds,
    definitions_of,
    run_setup,
)
from pyctrl.rbac import manifests
from pyctrl.webhook import Url, Webhooks, configurations

if TYPE_CHECKING:
    from pyctrl.extension_apiserver import ExtensionAPIServer

__all__ = ["WEBHOOK_HOST", "Requirements", "controllers_of", "find_requirements"]

WEBHOOK_HOST = "https://webhooks.pyctrl.invalid"  # .invalid never resolves: the server calls the webhooks in process


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirements:
    """A program whose setup succeeds, and the objects that it needs in a cluster.

    Attributes:
        setup: adds its controllers to a manager.
        kinds: the kinds that its controllers reconcile, by the controllers' names.
        cached: the kinds that it caches.
        definitions: the CRDs of its custom kinds, including those that it only watches.
        rights: the roles of the program, and their bindings.
        registrations: the webhook configurations.
        own: the custom kinds that it reconciles.
        webhooks: the webhooks that the configurations name.
        services: the Services of its extension API servers, whose APIServices are among the registrations.
        served: the kinds of these servers.
    """

    setup: SetupFunction
    kinds: Mapping[str, GroupVersionKind]
    cached: frozenset[GroupVersionKind]
    definitions: Sequence[dict[str, Any]]
    rights: Sequence[dict[str, Any]]
    registrations: Sequence[dict[str, Any]]
    own: frozenset[GroupKind]
    webhooks: Sequence[Webhooks]
    services: Sequence[Key]
    served: frozenset[GroupVersionKind]

    def samples(self) -> list[dict[str, Any]]:
        """Return a generated object of each of its own kinds for which there is a valid one."""
        from pyctrl.manifests import sample  # here: most programs have samples beside them

        validator, made = OfflineValidator(), []
        for each in self.definitions:
            validator.define(each)
            names = each["spec"]["names"]
            if GroupKind(each["spec"]["group"], names["kind"]) in self.own:
                made.append(sample(each))
        return [each for each in made if not validator.validate(each).problems]


async def find_requirements(
    setup: SetupFunction, *, name: str, account: Key, namespaces: Sequence[str] | None = None
) -> Requirements:
    """Set a program up in a manager that never runs, and return its requirements.

    Args:
        setup: adds its controllers to a manager.
        name: the name of the program.
        account: the service account that gets the permissions.
        namespaces: the namespaces that it watches; None: all.

    Raises:
        CommandFailed: its setup fails.
        DefinitionError: a type cannot be expressed as a CRD.
    """
    async with ProgramManager(Config.in_process(NoServer()), namespaces=namespaces) as manager:
        manager.webhook_options = WebhookOptions(enabled=False)
        manager.apiserver_options = APIServerOptions(enabled=False)
        run_setup(setup, manager, name)
        services = [Key(account.namespace, f"{name}-apiserver-{number}") for number in range(len(manager.api_servers))]
        kinds = custom_kinds(manager, manager.webhooks, watched=True)
        return Requirements(
            setup=setup,
            kinds={each.name: each.kind for each in controllers_of(manager) if each.kind is not None},
            cached=frozenset(informer.gvk for informer in manager.cache.informers),
            definitions=definitions_of(kinds, manager.webhooks, target=Url(WEBHOOK_HOST)),
            rights=manifests(manager.grants(own_namespace=account.namespace), name=name, account=account),
            own=frozenset(custom_kinds(manager)),
            registrations=[
                *_registrations(manager.webhooks, name),
                *_api_registrations(manager.api_servers, services, account),
            ],
            webhooks=manager.webhooks,
            services=services,
            served=frozenset(kind.gvk for server in manager.api_servers for kind in server.kinds),
        )


def controllers_of(manager: Manager) -> list[Controller]:
    """Return the controllers of a manager."""
    return [member.runnable for member in manager.members if isinstance(member.runnable, Controller)]


def _api_registrations(
    servers: Sequence[ExtensionAPIServer], services: Sequence[Key], account: Key
) -> Iterator[dict[str, Any]]:
    """Yield the APIServices of extension API servers, and the permission to review the access of their users."""
    if not servers:
        return
    from pyctrl.extension_apiserver import in_process_objects  # here: most programs have none

    yield {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": f"{account.name}-auth-delegator"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "system:auth-delegator"},
        "subjects": [{"kind": "ServiceAccount", "name": account.name, "namespace": account.namespace}],
    }
    for server, service in zip(servers, services, strict=True):
        yield from in_process_objects(server.kinds, service)


def _registrations(webhooks: Sequence[Webhooks], name: str) -> list[dict[str, Any]]:
    return [
        configuration
        for number, each in enumerate(webhooks)
        for configuration in configurations(each, name=f"{name}-{number}" if number else name, target=Url(WEBHOOK_HOST))
    ]
