"""Answers to reviews of objects that the class of a webhook cannot decode."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from pyctrl import CustomResource, Key, Model, ObjectMeta, Unstructured
from pyctrl.api import GroupVersionKind
from pyctrl.apiserver import ApiServer
from pyctrl.client import Client, Config
from pyctrl.errors import Invalid
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.manifests import definition
from pyctrl.program import install_definitions
from pyctrl.testing import webhook_caller
from pyctrl.webhook import (
    AdmissionRequest,
    Defaulter,
    Service,
    Validator,
    WebhookBuilder,
    Webhooks,
    configurations,
    defaulting,
    review,
    validating,
)
from tests.unit.webhook._kinds import PodSet, PodSetWebhook, patch_of, podset, question

VALIDATING = validating(PodSet, PodSetWebhook())
DEFAULTING = defaulting(PodSet, PodSetWebhook())
BAD = podset(size="many")


def deleting(obj: dict[str, Any]) -> dict[str, Any]:
    return {**obj, "metadata": {**obj["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}}


def labelled(obj: dict[str, Any]) -> dict[str, Any]:
    return {**obj, "metadata": {**obj["metadata"], "labels": {"a": "b"}}}


@pytest.mark.parametrize("operation", ["CREATE", "UPDATE"])
async def test_a_defaulter_leaves_the_answer_to_the_schema(operation: str) -> None:
    """The defaulter allows the object with a warning, because the API server validates it afterwards."""
    answer = await review(DEFAULTING, question(operation, BAD, podset() if operation == "UPDATE" else None))
    assert answer["response"]["allowed"]
    assert patch_of(answer) == []
    (warning,) = answer["response"]["warnings"]
    assert warning.endswith("spec.size")
    assert warning.startswith("defaults were not set, because the object cannot be decoded: PodSet: ")


async def test_a_built_in_kind_is_not_let_through() -> None:
    """A mutating webhook refuses an undecodable object of a built-in kind, because no CRD schema validates it later."""

    class Labels(Defaulter[ConfigMap]):
        def default(self, obj: ConfigMap, request: AdmissionRequest) -> None:
            obj.metadata.labels = {"a": "b"}

    asked = question("CREATE", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": 1})
    status = (await review(defaulting(ConfigMap, Labels()), asked))["response"]["status"]
    assert (status["code"], status["reason"]) == (400, "BadRequest")


@pytest.mark.parametrize(("operation", "old"), [("CREATE", None), ("UPDATE", podset()), ("UPDATE", podset(size=[]))])
async def test_a_validator_refuses_what_it_cannot_read(operation: str, old: dict[str, Any] | None) -> None:
    """A validator refuses an undecodable object with the field's name and the hint that the class is stricter."""
    answer = await review(VALIDATING, question(operation, BAD, old))
    status = answer["response"]["status"]
    assert (answer["response"]["allowed"], status["code"], status["reason"]) == (False, 422, "Invalid")
    assert status["message"].startswith(
        'PodSet.apps.jicki.cn "a" is invalid: it fits the schema, but not the types of the program that validates it: '
        "PodSet: "
    )
    assert status["message"].endswith("spec.size")


async def test_a_stored_object_can_be_deleted() -> None:
    """Deleting an undecodable object is allowed with a warning that deletion rules were skipped."""
    answer = await review(VALIDATING, question("DELETE", None, BAD))
    assert answer["response"]["allowed"]
    (warning,) = answer["response"]["warnings"]
    assert warning.endswith("spec.size")
    assert warning.startswith("the deletion was not validated, because the object cannot be decoded: PodSet: ")


@pytest.mark.parametrize(
    ("old", "new"), [(BAD, labelled(BAD)), (deleting(BAD), deleting(BAD)), (deleting(BAD), deleting(podset(size=[])))]
)
async def test_a_stored_object_can_lose_its_finalizers(old: dict[str, Any], new: dict[str, Any]) -> None:
    """An update of an undecodable object passes if only metadata changes or the object is being deleted."""
    answer = await review(VALIDATING, question("UPDATE", new, old))
    assert answer["response"]["allowed"]
    assert "cannot be decoded" in answer["response"]["warnings"][0]


async def test_a_stored_object_can_be_put_right() -> None:
    """A valid object that replaces an undecodable one is validated as a new object."""
    answer = await review(VALIDATING, question("UPDATE", podset(size=2), BAD))
    assert answer["response"]["allowed"]
    assert answer["response"]["warnings"][-1].startswith("validated as a new object")
    answer = await review(VALIDATING, question("UPDATE", podset(size=3), BAD))
    assert answer["response"]["status"]["message"].endswith("spec.size: Invalid value: 3: must be even")


class Spec(Model):
    mode: Literal["Fast", "Slow"] = "Fast"
    note: str = ""


class Job(CustomResource[Spec], group="undecodable.pyctrl.test", version="v1"):
    """A job."""


class JobWebhook(Defaulter[Job], Validator[Job]):
    def default(self, obj: Job, request: AdmissionRequest) -> None:
        obj.spec.note = obj.spec.note or "none"

    def validate_create(self, obj: Job, request: AdmissionRequest) -> None:
        """Allow it."""


async def test_the_server_names_the_supported_values() -> None:
    """With both webhooks, an invalid enumeration value is a 422 with the supported values, as without webhooks."""
    webhooks = Webhooks()
    WebhookBuilder(webhooks).admits(Job).build(JobWebhook())
    server = ApiServer(webhooks=webhook_caller(webhooks))
    async with Client.connect(Config.in_process(server)) as client:
        await install_definitions(client, [definition(Job)])
        for configuration in configurations(webhooks, name="jobs", target=Service("jobs-system", "webhooks")):
            await client.create(Unstructured(configuration))
        kind = GroupVersionKind("undecodable.pyctrl.test", "v1", "Job")
        typo = Unstructured.new(kind, name="a", namespace="default", spec={"mode": "Fsat"})
        with pytest.raises(Invalid, match='spec.mode: Unsupported value: "Fsat": supported values: "Fast", "Slow"'):
            await client.create(typo)
        made = await client.create(Job(metadata=ObjectMeta(name="a", namespace="default"), spec=Spec()))
        assert made.spec.note == "none"
        assert made.key == Key("default", "a")
