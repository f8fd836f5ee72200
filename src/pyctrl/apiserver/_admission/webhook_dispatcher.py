"""Dispatcher of admission webhooks: calls mutating ones in sequence and validating ones concurrently."""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import Coroutine
from functools import partial
from typing import TYPE_CHECKING, Any

from pyctrl._go.text import quoted
from pyctrl.apiserver._admission.admission_review import InvalidReview, VerifiedResponse, operations_of
from pyctrl.apiserver._admission.attributes import Attributes
from pyctrl.apiserver._admission.matching import MatchContext, is_exempt
from pyctrl.apiserver._admission.versioned_attributes import VersionConverter
from pyctrl.apiserver._admission.webhook_call import AdmissionReviewClient, CallingWebhookFailed
from pyctrl.apiserver._admission.webhook_source import WebhookAccessor, WebhookConfigurations
from pyctrl.apiserver._errors import StatusError, UndecodableBody, internal_error
from pyctrl.apiserver._patch.json_patch import PatchFailed, apply_json_patch

if TYPE_CHECKING:
    from pyctrl.apiserver._authz import Authorizer
    from pyctrl.apiserver._resources.resource_type import ResourceType

__all__ = ["MutatingAdmissionWebhook", "ValidatingAdmissionWebhook", "WebhookMatcher"]


class WebhookMatcher:
    """Matches writes with webhooks, including their match conditions."""

    def __init__(self, match_context: MatchContext, versions: VersionConverter, authorizer: Authorizer) -> None:
        self._match_context = match_context
        self._versions = versions
        self._authorizer = authorizer

    async def wanted(self, hook: WebhookAccessor, attributes: Attributes) -> ResourceType | None:
        """Return the matched resource, in the version that the webhook is called with; None without a match.

        Raises:
            StatusError: 403, the evaluation of a match condition failed.
        """
        wanted = hook.criteria.match(attributes, self._match_context)
        if wanted is None or not hook.conditions:
            return wanted
        # lazy: the import of CEL is slow and few webhooks have match conditions
        from pyctrl.apiserver._admission.condition_evaluator import (
            MatchConditionsFailed,
            evaluated,
            match_conditions_hold,
            variables_of,
        )

        shown = await self._versions.convert_to(attributes, wanted)
        variables = variables_of(attributes, wanted, shown, self._authorizer)
        evaluate = partial(match_conditions_hold, hook.conditions, variables)
        try:
            holds = await evaluated(evaluate, attributes, *hook.conditions)
        except MatchConditionsFailed as failed:
            if hook.fails_open:
                return None
            raise attributes.forbidden(str(failed)) from None
        return wanted if holds else None


class _AdmissionWebhook:
    """Base class of the two webhook plugins."""

    def __init__(
        self,
        hooks: WebhookConfigurations,
        matcher: WebhookMatcher,
        review_client: AdmissionReviewClient,
        versions: VersionConverter,
    ) -> None:
        self._hooks = hooks
        self._matcher = matcher
        self._review_client = review_client
        self._versions = versions

    @property
    def is_idle(self) -> bool:
        """Whether no webhooks are configured."""
        return self._hooks.is_empty


class MutatingAdmissionWebhook(_AdmissionWebhook):
    """Admission plugin that calls the webhooks of MutatingWebhookConfigurations."""

    async def mutate(self, attributes: Attributes) -> None:
        """Call each webhook that matches, in the order of the configurations' names."""
        if is_exempt(attributes):
            return
        context = attributes.reinvocation.of("MutatingAdmissionWebhook")
        is_again = bool(attributes.reinvocation.round)
        if is_again and context.last_output != attributes.object:
            context.require_all()  # a later plugin has changed the webhooks' output
        for index, hook in enumerate(self._hooks.all()):
            wanted = await self._matcher.wanted(hook, attributes)
            if wanted is None or (is_again and hook.key not in context.required):
                continue
            if await self._changes(hook, attributes, wanted, index):
                context.require_all()
                attributes.reinvocation.is_wanted = True
            if hook.reinvocable:
                context.invoked[hook.key] = None
        context.last_output = copy.deepcopy(attributes.object)

    async def validate(self, attributes: Attributes) -> None:
        """Do nothing."""

    async def _changes(self, hook: WebhookAccessor, attributes: Attributes, wanted: ResourceType, index: int) -> bool:
        """Call one webhook; return whether it changed the object."""
        key = f"round_{attributes.reinvocation.round}_index_{index}"
        try:
            shown = await self._versions.convert_to(attributes, wanted)
            response = await self._review_client.call(hook, attributes, wanted, shown, mutating=True)
            operations = _operations(hook, response)
        except CallingWebhookFailed as failed:
            _annotate(attributes, "mutation", key, hook, {"mutated": False})
            if not hook.fails_open:
                raise failed.error() from None
            attributes.annotate(f"failed-open.mutating.webhook.admission.k8s.io/{key}", hook.name)
            return False
        changed = bool(operations) and await self._patch(hook, attributes, wanted, shown[0], operations)
        _annotate(attributes, "mutation", key, hook, {"mutated": changed})
        return changed

    async def _patch(
        self,
        hook: WebhookAccessor,
        attributes: Attributes,
        wanted: ResourceType,
        shown: dict[str, Any] | None,
        operations: list[dict[str, Any]],
    ) -> bool:
        if shown is None or attributes.object is None:
            why = "attempted to modify the object, which is not supported for this operation"
            raise internal_error(f"admission webhook {quoted(hook.name)} {why}")
        try:
            new = apply_json_patch(shown, operations)
        except PatchFailed as failed:
            raise internal_error(str(failed)) from None
        if attributes.own_kind is None:
            _redecode(new, wanted)
        if new == shown:
            return False
        attributes.object = await self._versions.convert_back(attributes, wanted, new)
        return True


def _operations(hook: WebhookAccessor, response: VerifiedResponse) -> list[dict[str, Any]]:
    """Return the operations of a response's patch."""
    if not response.patch:
        return []
    try:
        operations = operations_of(response.patch)
    except InvalidReview as invalid:
        raise CallingWebhookFailed(hook, f"received undecodable patch in webhook response: {invalid}") from None
    if operations and response.patch_type != "JSONPatch":
        raise CallingWebhookFailed(hook, f"unsupported patch type {quoted(response.patch_type)}")
    return operations


def _redecode(obj: dict[str, Any], resource: ResourceType) -> None:
    """Decode a patched object again: unknown fields are dropped, defaults are set."""
    try:
        resource.decode(obj, field_validation="Ignore", warnings=[])
    except UndecodableBody as error:
        raise internal_error(error.why) from None


def _annotate(attributes: Attributes, prefix: str, key: str, hook: WebhookAccessor, more: dict[str, Any]) -> None:
    value = {"configuration": hook.key[0], "webhook": hook.name, **more}
    attributes.annotate(f"{prefix}.webhook.admission.k8s.io/{key}", json.dumps(value, separators=(",", ":")))


class ValidatingAdmissionWebhook(_AdmissionWebhook):
    """Admission plugin that calls the webhooks of ValidatingWebhookConfigurations."""

    async def mutate(self, attributes: Attributes) -> None:
        """Do nothing."""

    async def validate(self, attributes: Attributes) -> None:
        """Call every webhook that matches, concurrently; raise the first error."""
        if is_exempt(attributes):
            return
        matched: list[tuple[WebhookAccessor, ResourceType]] = []
        for hook in self._hooks.all():
            wanted = await self._matcher.wanted(hook, attributes)
            if wanted is not None:
                matched.append((hook, wanted))
        if matched:
            attributes.request.must_wait("a webhook")
        errors: list[StatusError] = []
        calls = [self._call(hook, attributes, wanted, index, errors) for index, (hook, wanted) in enumerate(matched)]
        await _together(calls)
        if errors:
            raise errors[0]

    async def _call(
        self,
        hook: WebhookAccessor,
        attributes: Attributes,
        wanted: ResourceType,
        index: int,
        errors: list[StatusError],
    ) -> None:
        try:
            shown = await self._versions.convert_to(attributes, wanted)
            await self._review_client.call(hook, attributes, wanted, shown, mutating=False)
        except StatusError as error:
            errors.append(error)
        except CallingWebhookFailed as failed:
            if hook.fails_open:
                key = f"failed-open.validating.webhook.admission.k8s.io/round_0_index_{index}"
                attributes.annotate(key, hook.name)
            else:
                errors.append(failed.error())


async def _together(calls: list[Coroutine[Any, Any, None]]) -> None:
    if len(calls) < 2:
        for call in calls:
            await call
        return
    async with asyncio.TaskGroup() as group:
        for call in calls:
            group.create_task(call)
