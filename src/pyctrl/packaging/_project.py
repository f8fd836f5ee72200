"""Everything that a program needs in a cluster, as data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pyctrl.api import CustomResource, GroupKind, Key, KindLike
from pyctrl.packaging._settings import Settings
from pyctrl.program import Manifest
from pyctrl.rbac import Grants
from pyctrl.webhook import Service, Webhooks

__all__ = ["LABELS", "Followed", "Kind", "Project"]

Kind = type[CustomResource[Any, Any]]

MANAGED_BY = "app.kubernetes.io/managed-by"
LABELS = {MANAGED_BY: "pyctrl"}


@dataclass(frozen=True, slots=True)
class Followed:
    """A kind that a controller follows beside the one that it looks after."""

    by: GroupKind | None  # what the controller looks after
    kind: KindLike
    is_optional: bool  # the controller works while nobody serves it


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A program that can be shipped.

    Attributes:
        settings: what its author says; nothing in it is left open.
        kinds: the custom kinds that it looks after: of each, the classes of its versions.
        definitions: of these kinds, in their order.
        grants: what it has to be allowed, leader election and metrics aside.
        webhooks: what the API server asks it; None: nothing.
        webhook_service: where the API server finds them.
        webhook_configuration: the name of their configurations.
        followed: what its controllers own and watch.
        samples: the objects in the files that its author keeps in ``samples`` and ``sample.yaml``, by file.
    """

    settings: Settings
    kinds: Sequence[Sequence[Kind]]
    definitions: Sequence[dict[str, Any]]
    grants: Grants
    webhooks: Webhooks | None
    webhook_service: Service
    webhook_configuration: str
    followed: Sequence[Followed] = ()
    samples: Sequence[Manifest] = ()

    @property
    def name(self) -> str:
        """What names of objects begin with."""
        return self.settings.name

    @property
    def namespace(self) -> str:
        """Where it runs."""
        return self.settings.namespace

    @property
    def account(self) -> Key:
        """The service account that it is."""
        return Key(self.namespace, self.called("controller-manager"))

    @property
    def labels(self) -> dict[str, str]:
        """What each of its objects has, but for definitions: those are everybody's."""
        return {"app.kubernetes.io/instance": self.namespace, **LABELS, "app.kubernetes.io/name": self.name}

    @property
    def selector(self) -> dict[str, str]:
        """What its pods have."""
        return {"app.kubernetes.io/name": self.name, "control-plane": "controller-manager"}

    @property
    def has_admission(self) -> bool:
        """Whether the API server asks it about writes, and not only for conversions."""
        return self.webhooks is not None and bool(self.webhooks.registrations)

    def short(self, kind: Kind) -> str:
        """Name a kind among those of the program: by its singular, and where two groups have it, by the group too."""
        singular, group = kind.resource.singular, kind.gvk.group
        others = [each.gvk.group for each, *_ in self.kinds if each.resource.singular == singular]
        return singular if others == [group] else f"{group.partition('.')[0]}-{singular}"

    def called(self, what: str) -> str:
        """Return the name of one of its objects."""
        return f"{self.name}-{what}"

    def make(self, api_version: str, kind: str, name: str, *, namespaced: bool = False, **rest: Any) -> dict[str, Any]:
        """Return an object with its labels."""
        metadata: dict[str, Any] = {"name": name, "labels": self.labels}
        if namespaced:
            metadata["namespace"] = self.namespace
        return {"apiVersion": api_version, "kind": kind, "metadata": dict(sorted(metadata.items())), **rest}
