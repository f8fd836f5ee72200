"""Asks one webhook about one write, and says what came of it."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

from pyctrl.apiserver._admission._attributes import Attributes
from pyctrl.apiserver._admission._hooks import Hook
from pyctrl.apiserver._admission._review import InvalidReview, Verdict, review_of, verdict_of
from pyctrl.apiserver._answers import Refused, internal, quoted
from pyctrl.apiserver._identity import new_uid
from pyctrl.apiserver._webhooks import CallFailed, NoClient, WebhookClient

if TYPE_CHECKING:
    from pyctrl.apiserver._components import Components
    from pyctrl.apiserver._resources import ResourceType

BAD_REQUEST = 400


class HookFailed(Exception):
    """A webhook that did not answer as it should; its failure policy says what that means."""

    def __init__(self, hook: Hook, why: str) -> None:
        super().__init__(f"failed calling webhook {quoted(hook.name)}: {why}")

    def refusal(self) -> Refused:
        """Give the 500 of a webhook without which nothing may be written."""
        return internal(str(self))


class Asker:
    """Asks webhooks."""

    def __init__(self, client: WebhookClient, components: Components, random: Random) -> None:
        self._client = client
        self._components = components
        self._random = random

    async def ask(
        self,
        hook: Hook,
        attributes: Attributes,
        wanted: ResourceType,
        objects: tuple[dict[str, Any] | None, dict[str, Any] | None],
        *,
        mutating: bool,
    ) -> Verdict:
        """Give what a webhook says of a write that it allows.

        Raises:
            HookFailed: it could not be asked, or gave no valid answer.
            Refused: it denied the write.
        """
        attributes.request.must_wait("a webhook")
        version, uid = hook.review_version, new_uid(self._random)
        review = review_of(attributes, wanted, objects, version=version, uid=uid)
        try:
            answer = await self._client.post(hook.config, review, hook.timeout_seconds)
            verdict = verdict_of(answer, version=version, uid=uid, mutating=mutating, components=self._components)
        except NoClient as failed:
            raise HookFailed(hook, f"could not get REST client: {failed}") from None
        except CallFailed as failed:
            raise HookFailed(hook, f"failed to call webhook: {failed}") from None
        except InvalidReview as invalid:
            what = "received invalid webhook response" if invalid.is_readable else "failed to call webhook"
            raise HookFailed(hook, f"{what}: {invalid}") from None
        for key, value in verdict.annotations.items():
            attributes.annotate(f"{hook.name}/{key}", value)
        for warning in verdict.warnings:
            attributes.warn(warning)
        if not verdict.allowed:
            raise _denied(hook, verdict.status)
        return verdict


def _denied(hook: Hook, status: dict[str, Any]) -> Refused:
    """Make the refusal of a webhook's own Status; a code or a status that means success is not believed."""
    code = max(status.get("code") or 0, BAD_REQUEST)
    why = status.get("message") or status.get("reason")
    said = f"denied the request: {why}" if why else "denied the request without explanation"
    answer = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": status.get("metadata") or {},
        "status": "Failure" if status.get("status") in (None, "", "Success") else status["status"],
        "message": f"admission webhook {quoted(hook.name)} {said}",
        "reason": status.get("reason"),
        "details": status.get("details"),
        "code": code,
    }
    return Refused(code, {name: value for name, value in answer.items() if value is not None})
