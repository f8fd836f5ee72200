"""Calls the webhooks that want to see a write: mutating ones after each other, validating ones side by side."""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import Coroutine
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


class WebhookMatcher:
    """Finds out which webhooks want to see a write."""

    def __init__(self, surroundings: MatchContext, versions: VersionConverter, authorizer: Authorizer) -> None:
        self._surroundings = surroundings
        self._versions = versions
        self._authorizer = authorizer

    async def wanted(self, hook: WebhookAccessor, attributes: Attributes) -> ResourceType | None:
        """Give the resource, in the version that a webhook wants, as which it is shown a write; None: it is not.

        Raises:
            Refused: 403, nobody can say whether its match conditions hold.
        """
        wanted = hook.criteria.match(attributes, self._surroundings)
        if wanted is None or not hook.conditions:
            return wanted
        # here: expressions are slow to import, and seldom used
        from pyctrl.apiserver._admission.condition_evaluator import (
            MatchConditionsFailed,
            match_conditions_hold,
            variables_of,
        )

        shown = await self._versions.shown(attributes, wanted)
        try:
            holds = match_conditions_hold(hook.conditions, variables_of(attributes, wanted, shown, self._authorizer))
        except MatchConditionsFailed as failed:
            if hook.fails_open:
                return None
            raise attributes.forbidden(str(failed)) from None
        return wanted if holds else None


class _AdmissionWebhook:
    """What both kinds have: the configured webhooks, and how to find, ask and show."""

    def __init__(
        self,
        hooks: WebhookConfigurations,
        matcher: WebhookMatcher,
        asker: AdmissionReviewClient,
        versions: VersionConverter,
    ) -> None:
        self._hooks = hooks
        self._matcher = matcher
        self._asker = asker
        self._versions = versions

    @property
    def is_idle(self) -> bool:
        """Whether there is no configuration."""
        return not self._hooks


class MutatingAdmissionWebhook(_AdmissionWebhook):
    """The webhooks of MutatingWebhookConfigurations."""

    async def mutate(self, attributes: Attributes) -> None:
        """Let each webhook that wants to change the object, in the order of their configurations' names."""
        if is_exempt(attributes):
            return
        again = attributes.reinvocation
        if again.round and again.last_output != attributes.object:
            again.require_all()  # somebody else has changed what they made of it
        for index, hook in enumerate(self._hooks.all()):
            wanted = await self._matcher.wanted(hook, attributes)
            if wanted is None or (again.round and hook.key not in again.required):
                continue
            if await self._changes(hook, attributes, wanted, index):
                again.require_all()
                again.is_wanted = True
            if hook.reinvocable:
                again.invoked[hook.key] = None
        again.last_output = copy.deepcopy(attributes.object)

    async def validate(self, attributes: Attributes) -> None:
        """Nothing is left to say."""

    async def _changes(self, hook: WebhookAccessor, attributes: Attributes, wanted: ResourceType, index: int) -> bool:
        """Call one webhook; whether it changed the object."""
        place = f"round_{attributes.reinvocation.round}_index_{index}"
        try:
            shown = await self._versions.shown(attributes, wanted)
            verdict = await self._asker.ask(hook, attributes, wanted, shown, mutating=True)
            operations = _operations(hook, verdict)
        except CallingWebhookFailed as failed:
            _annotate(attributes, "mutation", place, hook, {"mutated": False})
            if not hook.fails_open:
                raise failed.refusal() from None
            attributes.annotate(f"failed-open.mutating.webhook.admission.k8s.io/{place}", hook.name)
            return False
        changed = bool(operations) and await self._patch(hook, attributes, wanted, shown[0], operations)
        _annotate(attributes, "mutation", place, hook, {"mutated": changed})
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
        attributes.object = await self._versions.taken(attributes, wanted, new)
        return True


def _operations(hook: WebhookAccessor, verdict: VerifiedResponse) -> list[dict[str, Any]]:
    """Read the patch of a verdict."""
    if not verdict.patch:
        return []
    try:
        operations = operations_of(verdict.patch)
    except InvalidReview as invalid:
        raise CallingWebhookFailed(hook, f"received undecodable patch in webhook response: {invalid}") from None
    if operations and verdict.patch_type != "JSONPatch":
        raise CallingWebhookFailed(hook, f"unsupported patch type {quoted(verdict.patch_type)}")
    return operations


def _redecode(obj: dict[str, Any], resource: ResourceType) -> None:
    """Bring what a patch made of an object into form: what the kind does not know is dropped, defaults are set."""
    try:
        resource.decode(obj, field_validation="Ignore", warnings=[])
    except UndecodableBody as unfit:
        raise internal_error(unfit.why) from None


def _annotate(attributes: Attributes, what: str, place: str, hook: WebhookAccessor, more: dict[str, Any]) -> None:
    told = {"configuration": hook.key[0], "webhook": hook.name, **more}
    attributes.annotate(f"{what}.webhook.admission.k8s.io/{place}", json.dumps(told, separators=(",", ":")))


class ValidatingAdmissionWebhook(_AdmissionWebhook):
    """The webhooks of ValidatingWebhookConfigurations."""

    async def mutate(self, attributes: Attributes) -> None:
        """Nothing is changed here."""

    async def validate(self, attributes: Attributes) -> None:
        """Ask every webhook that wants to see the write, at the same time; the first refusal counts."""
        if is_exempt(attributes):
            return
        asked: list[tuple[WebhookAccessor, ResourceType]] = []
        for hook in self._hooks.all():
            wanted = await self._matcher.wanted(hook, attributes)
            if wanted is not None:
                asked.append((hook, wanted))
        if asked:
            attributes.request.must_wait("a webhook")
        refusals: list[StatusError] = []
        calls = [self._ask(hook, attributes, wanted, place, refusals) for place, (hook, wanted) in enumerate(asked)]
        await _together(calls)
        if refusals:
            raise refusals[0]

    async def _ask(
        self,
        hook: WebhookAccessor,
        attributes: Attributes,
        wanted: ResourceType,
        index: int,
        refusals: list[StatusError],
    ) -> None:
        try:
            shown = await self._versions.shown(attributes, wanted)
            await self._asker.ask(hook, attributes, wanted, shown, mutating=False)
        except StatusError as refusal:
            refusals.append(refusal)
        except CallingWebhookFailed as failed:
            if hook.fails_open:
                key = f"failed-open.validating.webhook.admission.k8s.io/round_0_index_{index}"
                attributes.annotate(key, hook.name)
            else:
                refusals.append(failed.refusal())


async def _together(calls: list[Coroutine[Any, Any, None]]) -> None:
    if len(calls) < 2:
        for call in calls:
            await call
        return
    async with asyncio.TaskGroup() as group:
        for call in calls:
            group.create_task(call)
