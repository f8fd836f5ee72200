"""Webhook interfaces, as type checkers see them. Checked by mypy and pyright, never run."""

from __future__ import annotations

from typing import Any, assert_type

from pyctrl.api import CustomResource, GroupVersionKind, Model, Unstructured
from pyctrl.kinds.core.v1 import Pod
from pyctrl.webhook import (
    AdmissionRequest,
    AdmissionResponse,
    Conversion,
    Defaulter,
    Operation,
    Registration,
    Spoke,
    Validator,
    Warnings,
    WebhookBuilder,
    Webhooks,
    defaulting,
    review,
)


class OldPodSet(CustomResource[Model], group="apps.jicki.cn", version="v1"):
    """One version."""


class PodSet(CustomResource[Model], group="apps.jicki.cn", version="v2"):
    """The hub."""


class SyncWebhook(Defaulter[PodSet], Validator[PodSet]):
    """Methods may be sync, and may narrow their return types."""

    def default(self, obj: PodSet, request: AdmissionRequest) -> None:
        assert_type(request.operation, Operation)

    def validate_create(self, obj: PodSet, request: AdmissionRequest) -> list[str]:
        return []

    def validate_delete(self, obj: PodSet, request: AdmissionRequest) -> Warnings:
        return "a warning"


class AsyncWebhook(Defaulter[PodSet], Validator[PodSet]):
    """Methods may be async."""

    async def default(self, obj: PodSet, request: AdmissionRequest) -> PodSet:
        return obj

    async def validate_update(self, old: PodSet, new: PodSet, request: AdmissionRequest) -> None:
        assert_type(old, PodSet)


class AnyWebhook(Validator[Unstructured]):
    """A kind without a class."""


def builders_know_their_kind(webhooks: Webhooks) -> None:
    """A builder of one kind rejects a webhook of another."""
    assert_type(WebhookBuilder(webhooks).admits(PodSet), WebhookBuilder[PodSet])
    assert_type(WebhookBuilder(webhooks).admits(PodSet).build(SyncWebhook()), tuple[Registration, ...])
    WebhookBuilder(webhooks).admits(PodSet).options(failure_policy="Ignore").build(AsyncWebhook())
    WebhookBuilder(webhooks).admits(GroupVersionKind("a", "v1", "B")).options(plural="bs").build(AnyWebhook())
    WebhookBuilder(webhooks).admits(Pod).build(SyncWebhook())  # type: ignore[arg-type]


def to_hub(old: OldPodSet) -> PodSet:
    """Convert one way."""
    return PodSet(metadata=old.metadata, spec=old.spec)


def from_hub(new: PodSet) -> OldPodSet:
    """Convert the other way."""
    return OldPodSet(metadata=new.metadata, spec=new.spec)


def conversions_know_both_versions() -> None:
    """A function in the wrong direction is a type error."""
    assert_type(Conversion(PodSet, Spoke(OldPodSet, to_hub, from_hub)), Conversion[PodSet])
    Spoke(OldPodSet, from_hub, to_hub)  # type: ignore[arg-type]


async def decisions_are_functions() -> None:
    """A handler may be any async function."""

    async def handler(request: AdmissionRequest) -> AdmissionResponse:
        return AdmissionResponse(allowed=request.user.username == "jane")

    assert_type(await review(handler, {}), dict[str, Any])
    await review(defaulting(PodSet, SyncWebhook()), {})
