"""The currently configured admission webhooks, decoded for matching and calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyctrl.apiserver._admission.admission_review import VERSIONS
from pyctrl.apiserver._admission.matching import MatchCriteria
from pyctrl.apiserver._storage.storage import Collection, WatchCacheEvent

__all__ = ["WebhookAccessor", "WebhookConfigurations"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookAccessor:
    """One webhook of one configuration."""

    key: tuple[str, int]  # name of the configuration and index in it
    name: str
    config: Mapping[str, Any]  # clientConfig
    criteria: MatchCriteria
    conditions: Sequence[Mapping[str, str]]
    fails_open: bool
    timeout_seconds: int
    review_version: str
    reinvocable: bool


class WebhookConfigurations:
    """The webhooks of one kind of configuration, in call order: by the configuration's name."""

    def __init__(self, configurations: Collection) -> None:
        self._configurations = configurations
        self._hooks: list[WebhookAccessor] | None = None
        #: Whether there are no configurations; read twice in every write.
        self.is_empty: bool = not len(configurations)
        configurations.listen(self._changed)

    def _changed(self, _event: WatchCacheEvent) -> None:
        self._hooks, self.is_empty = None, not len(self._configurations)

    def all(self) -> list[WebhookAccessor]:
        """Return all webhooks."""
        if self._hooks is None:
            found = [stored.decode() for stored in self._configurations.current("")]
            self._hooks = [hook for configuration in found for hook in _hooks_of(configuration)]
        return self._hooks


def _hooks_of(configuration: Mapping[str, Any]) -> list[WebhookAccessor]:
    name = configuration["metadata"]["name"]
    return [_hook(name, index, spec) for index, spec in enumerate(configuration.get("webhooks") or ())]


def _hook(configuration: str, index: int, spec: Mapping[str, Any]) -> WebhookAccessor:
    return WebhookAccessor(
        key=(configuration, index),
        name=spec["name"],
        config=spec["clientConfig"],
        criteria=MatchCriteria(spec, spec.get("rules") or ()),
        conditions=spec.get("matchConditions") or (),
        fails_open=spec.get("failurePolicy") == "Ignore",
        timeout_seconds=spec.get("timeoutSeconds") or 10,
        review_version=next(each for each in spec["admissionReviewVersions"] if each in VERSIONS),
        reinvocable=spec.get("reinvocationPolicy") == "IfNeeded",
    )
