"""Reading of a project, by wiring the program into a manager that never runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from pyctrl.client import Config
from pyctrl.controller import Absence, Controller, KindSource
from pyctrl.errors import CommandFailed
from pyctrl.manager import ConfigMapFingerprints, NoServer, Sharding
from pyctrl.packaging._project import Followed, Project
from pyctrl.packaging._settings import Settings
from pyctrl.program import (
    APIServerOptions,
    Manifest,
    ProgramManager,
    Target,
    WebhookOptions,
    custom_kinds,
    definitions_of,
    read_samples,
    run_setup,
)
from pyctrl.webhook import ManagedCertificates, Service, Webhooks

__all__ = ["MOUNTED", "read_project"]

FINGERPRINTS_FLAG = "--fingerprints-config-map"  # of `pyctrl run`, as is the next one
SHARD_MEMORY_FLAG = "--shard-memory"

MOUNTED = Path("/", "tmp", "k8s-webhook-server", "serving-certs")  # kubebuilder's certificate directory


async def read_project(settings: Settings, *, with_samples: bool = False) -> Project:
    """Import a program, wire it, and return everything that it needs in a cluster.

    Args:
        settings: how it is packaged.
        with_samples: also read the author's samples.

    Raises:
        CommandFailed: the program does not exist, it cannot be wired, or a sample file cannot be read.
        DefinitionError: no CustomResourceDefinition can be made from a type.
    """
    target = Target.parse(settings.target)
    settings = settings.named(target.name)
    manager = ProgramManager(
        Config.in_process(NoServer()),
        namespaces=settings.watch_namespaces or None,
        fingerprints=_fingerprints(settings.args),
        sharding=_sharding(settings),
    )
    async with manager:
        manager.webhook_options = _serving(settings)
        service = Service(settings.namespace, f"{settings.name}-apiserver-service")
        manager.apiserver_options = APIServerOptions(service=service)
        run_setup(target.find(), manager, settings.name)
        return _project(manager, settings, read_samples(settings.directory) if with_samples else ())


def _fingerprints(args: Sequence[str]) -> ConfigMapFingerprints | None:
    """Return the store that flags of the program name, so that the manifests have its permissions; None: no such."""
    name = _value(args, FINGERPRINTS_FLAG)
    return None if name is None else ConfigMapFingerprints(name)


def _sharding(settings: Settings) -> Sharding | None:
    """Return sharding whose caches need further permissions, as flags of the program say; None: they need none."""
    mode = _value(settings.args, SHARD_MEMORY_FLAG) or "off"
    if settings.shards == "off" or mode not in ("auto", "label"):
        return None
    return Sharding(name=f"{settings.name}-controller-manager", memory="label" if mode == "label" else True)


def _value(args: Sequence[str], wanted: str) -> str | None:
    """Return the value of a flag, ``--flag=value`` or ``--flag value``; None without it."""
    given = iter(args)
    for argument in given:
        flag, _, value = argument.partition("=")
        if flag == wanted:
            return value or next(given, "")
    return None


def _serving(settings: Settings) -> WebhookOptions:
    if settings.webhook_certificates == "cert-manager":
        return WebhookOptions(certificates=MOUNTED)
    service = Service(settings.namespace, f"{settings.name}-webhook-service")
    return WebhookOptions(service=service, configuration=f"{settings.name}-webhook-configuration")


def _project(manager: ProgramManager, settings: Settings, samples: Sequence[Manifest]) -> Project:
    webhooks = _webhooks(manager)
    service, configuration = _watched_namespaces(manager, settings)
    kinds = custom_kinds(manager, manager.webhooks)
    ordered = {name: kinds[name] for name in sorted(kinds, key=str)}
    return Project(
        settings=settings,
        kinds=list(ordered.values()),
        definitions=definitions_of(ordered, manager.webhooks, target=service),
        grants=manager.grants(own_namespace=settings.namespace),
        webhooks=webhooks,
        webhook_service=service,
        webhook_configuration=configuration,
        served_kinds=[kind for server in manager.api_servers for kind in server.kinds],
        followed=list(_followed(manager)),
        samples=samples,
    )


def _followed(manager: ProgramManager) -> Iterator[Followed]:
    for controller in (each.runnable for each in manager.members):
        if not isinstance(controller, Controller):
            continue
        by = controller.kind.group_kind if controller.kind else None
        for source in controller.sources:
            if isinstance(source, KindSource) and source.gvk != controller.kind:
                yield Followed(by, source.kind, source.absence is not Absence.FAULT)


def _watched_namespaces(manager: ProgramManager, settings: Settings) -> tuple[Service, str]:
    """Return the webhook Service and the name of the configurations, as the program's code names them or by default."""
    service, configuration = f"{settings.name}-webhook-service", f"{settings.name}-webhook-configuration"
    for member in manager.members:
        certificates = member.runnable
        if isinstance(certificates, ManagedCertificates) and isinstance(certificates.target, Service):
            return certificates.target, next(iter(certificates.configurations), configuration)
    return Service(settings.namespace, service), configuration


def _webhooks(manager: ProgramManager) -> Webhooks | None:
    found = [each for each in manager.webhooks if each.paths]
    if len(found) > 1:
        raise CommandFailed(
            "the program has several webhook servers, but a Service selects one; add all webhooks to one Webhooks()"
        )
    return found[0] if found else None
