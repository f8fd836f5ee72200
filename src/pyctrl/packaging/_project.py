"""The project: everything that a program needs in a cluster, as data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pyctrl.api import CustomResource, GroupKind, Key, KindLike, KubernetesObject
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
    """A kind that a controller owns or watches besides the kind that it reconciles."""

    by: GroupKind | None  # the kind that the controller reconciles
    kind: KindLike
    is_optional: bool  # the controller also works while the cluster does not serve the kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A program with everything that it needs in a cluster.

    Attributes:
        settings: the author's settings, complete.
        kinds: the custom kinds that it reconciles; of each, the classes of its versions.
        definitions: the CustomResourceDefinitions of these kinds, in the same order.
        grants: the permissions that it needs, without leader election and metrics.
        webhooks: its webhooks; None if it has none.
        webhook_service: the Service of the webhooks.
        webhook_configuration: the name of the webhook configurations.
        served_kinds: the kinds that its extension API server serves; empty if it has none.
        followed: the kinds that its controllers own and watch.
        samples: the objects in the author's sample files, ``samples`` and ``sample.yaml``.
    """

    settings: Settings
    kinds: Sequence[Sequence[Kind]]
    definitions: Sequence[dict[str, Any]]
    grants: Grants
    webhooks: Webhooks | None
    webhook_service: Service
    webhook_configuration: str
    served_kinds: Sequence[type[KubernetesObject]] = ()
    followed: Sequence[Followed] = ()
    samples: Sequence[Manifest] = ()

    @property
    def name(self) -> str:
        """The prefix of object names."""
        return self.settings.name

    @property
    def namespace(self) -> str:
        """The namespace that the program runs in."""
        return self.settings.namespace

    @property
    def all_kinds(self) -> Sequence[type[KubernetesObject]]:
        """The custom kinds, and those that it serves; of each, the class of one version."""
        return [*(each for each, *_ in self.kinds), *{each.gvk.group_kind: each for each in self.served_kinds}.values()]

    @property
    def apiserver_service(self) -> Service:
        """The Service of the extension API server."""
        return Service(self.namespace, self.called("apiserver-service"))

    @property
    def account(self) -> Key:
        """The service account that the program runs as."""
        return Key(self.namespace, self.called("controller-manager"))

    @property
    def labels(self) -> dict[str, str]:
        """The labels of each object except CustomResourceDefinitions, which belong to the whole cluster."""
        return {"app.kubernetes.io/instance": self.namespace, **LABELS, "app.kubernetes.io/name": self.name}

    @property
    def selector(self) -> dict[str, str]:
        """The labels that select its pods."""
        return {"app.kubernetes.io/name": self.name, "control-plane": "controller-manager"}

    @property
    def has_admission(self) -> bool:
        """Whether it has admission webhooks, not only conversion webhooks."""
        return self.webhooks is not None and bool(self.webhooks.registrations)

    def short(self, kind: type[KubernetesObject]) -> str:
        """Return a kind's singular, with the group as prefix if kinds of two groups have the same singular."""
        singular, group = kind.resource.singular, kind.gvk.group
        others = {each.gvk.group for each in self.all_kinds if each.resource.singular == singular}
        return singular if others == {group} else f"{group.partition('.')[0]}-{singular}"

    def called(self, what: str) -> str:
        """Return an object name: the prefix and a suffix."""
        return f"{self.name}-{what}"

    def make(self, api_version: str, kind: str, name: str, *, namespaced: bool = False, **rest: Any) -> dict[str, Any]:
        """Return an object with its labels."""
        metadata: dict[str, Any] = {"name": name, "labels": self.labels}
        if namespaced:
            metadata["namespace"] = self.namespace
        return {"apiVersion": api_version, "kind": kind, "metadata": dict(sorted(metadata.items())), **rest}
