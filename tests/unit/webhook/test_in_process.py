"""Webhooks called by an in-process API server: no sockets, no certificates, virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from pyctrl.api import GroupVersionKind, Key, ObjectMeta, Unstructured
from pyctrl.apiserver import ApiServer
from pyctrl.client import Client, Config
from pyctrl.errors import ApiError, Denied, Forbidden, InternalError, Invalid, Rejected
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.testing import webhook_caller
from pyctrl.webhook import (
    AdmissionRequest,
    Conversion,
    Defaulter,
    FieldError,
    Service,
    Spoke,
    Validator,
    Warnings,
    WebhookBuilder,
    Webhooks,
    configurations,
    conversion_stanza,
)
from tests.unit.webhook._kinds import GROUP
from tests.unit.webhook.conversion.test_conversion import New, Old, new_to_old, old_to_new

SERVICE = Service("system", "webhooks")


class Guard(Defaulter[ConfigMap], Validator[ConfigMap]):
    """Counts words and protects sealed objects."""

    def default(self, obj: ConfigMap, request: AdmissionRequest) -> None:
        obj.metadata.labels["words"] = str(sum(len(text.split()) for text in obj.data.values()))

    async def validate_create(self, obj: ConfigMap, request: AdmissionRequest) -> Warnings:
        await asyncio.sleep(float(obj.data.get("wait", 0)))
        if "bug" in obj.data:
            raise LookupError("a bug")
        if "secret" in obj.data:
            raise Rejected(FieldError.forbidden("data.secret", "belongs into a Secret"))
        return "nothing in it" if not obj.data else None

    def validate_update(self, old: ConfigMap, new: ConfigMap, request: AdmissionRequest) -> None:
        if old.data.get("sealed") and old.data != new.data:
            raise Rejected(FieldError.invalid("data", sorted(new.data), "is sealed"))

    def validate_delete(self, obj: ConfigMap, request: AdmissionRequest) -> None:
        if obj.data.get("sealed"):
            raise Denied("it is sealed")


@asynccontextmanager
async def guarded() -> AsyncIterator[Client]:
    """Connect a client to a server with a guard."""
    webhooks = Webhooks()
    WebhookBuilder(webhooks).admits(ConfigMap).build(Guard())
    async with Client.connect(Config.in_process(ApiServer(webhooks=webhook_caller(webhooks)))) as client:
        for each in configurations(webhooks, name="guard", target=SERVICE):
            await client.create(Unstructured(each))
        yield client


def config_map(**data: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name="a", namespace="default"), data=data)


async def test_objects_are_completed_and_refused() -> None:
    """The server applies the webhook's patch; a refusal has the webhook's name, code, message and causes."""
    async with guarded() as client:
        made = await client.create(config_map(text="two words"))
        assert made.metadata.labels == {"words": "2"}
        await client.delete(made)

        with pytest.raises(Invalid) as caught:
            await client.create(config_map(secret="x"))

    assert caught.value.message == (
        'admission webhook "validate.configmap.v1.core" denied the request: '
        'ConfigMap "a" is invalid: data.secret: Forbidden: belongs into a Secret'
    )
    (cause,) = caught.value.causes
    assert (cause.reason, cause.field) == ("FieldValueForbidden", "data.secret")


async def test_updates_and_deletions_are_seen_with_the_old_object() -> None:
    """Updates and deletions are validated with the old object."""
    async with guarded() as client:
        made = await client.create(config_map(sealed="yes"))
        with pytest.raises(Forbidden, match="it is sealed"):
            await client.delete(made)
        made.data["more"] = "x"
        with pytest.raises(Invalid, match="is sealed"):
            await client.update(made)


async def test_a_bug_refuses_the_write_and_says_where_to_look() -> None:
    """An unexpected exception in a webhook is a 500 with one sentence that refers to the log."""
    async with guarded() as client:
        with pytest.raises(InternalError, match=r"denied the request: the webhook failed: LookupError: a bug; its log"):
            await client.create(config_map(bug="x"))


async def test_a_webhook_that_is_too_slow_refuses_after_its_timeout() -> None:
    """A webhook that exceeds the configured ten seconds fails the write."""
    async with guarded() as client:
        begin = asyncio.get_running_loop().time()
        with pytest.raises(ApiError):
            await client.create(config_map(wait="60"))
        assert asyncio.get_running_loop().time() - begin == 10


def definition() -> dict[str, Any]:
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    versions = [{"name": name, "served": True, "storage": name == "v2", "schema": schema} for name in ("v1", "v2")]
    names = {"kind": "Set", "listKind": "SetList", "plural": "sets", "singular": "set"}
    spec = {"group": GROUP, "scope": "Namespaced", "names": names, "versions": versions}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"sets.{GROUP}"},
        "spec": {**spec, "conversion": conversion_stanza(SERVICE)},
    }


async def test_versions_are_converted_for_who_reads_them() -> None:
    """Objects written in v1 and stored in v2 are readable in both versions through /convert."""
    webhooks = Webhooks()
    webhooks.add_conversion(Conversion(New, Spoke(Old, old_to_new, new_to_old)))
    async with Client.connect(Config.in_process(ApiServer(webhooks=webhook_caller(webhooks)))) as client:
        await client.create(Unstructured(definition()))
        old = GroupVersionKind(GROUP, "v1", "Set")
        await asyncio.sleep(1)
        await client.create(Unstructured.new(old, name="a", namespace="default", spec={"replicas": 3}))

        new = await client.get(New, Key("default", "a"))
        listed = await client.list(Old, namespace="default")

    assert (new.spec.size.min, new.spec.size.max) == (3, 3)
    assert [each.spec.replicas for each in listed] == [3]
