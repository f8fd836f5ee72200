"""Detection of unchanged applies."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pyctrl.api import GroupVersionKind, Key
from pyctrl.apiserver import ApiServer
from pyctrl.cache import Cache, CachedClient, KindOptions
from pyctrl.client import Client, InProcessTransport, MergePatch, OperationResult, dry_run
from pyctrl.client._comparison.apply_memo import ApplyKey, ApplyMemo
from pyctrl.kinds.apps.v1 import Deployment

KEY = Key("default", "a")


DEPLOYMENT: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "a", "namespace": "default"},
    "spec": {
        "strategy": {},
        "selector": {"matchLabels": {"app": "a"}},
        "template": {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
    },
}


NONE, CREATED, UPDATED = OperationResult.NONE, OperationResult.CREATED, OperationResult.UPDATED


class Sent:
    """Records the verbs of a client's writes."""

    def __init__(self, client: Client) -> None:
        self.verbs: list[str] = []
        client.observe_writes(self)

    def before(self, gvk: GroupVersionKind, key: Key) -> None: ...

    def after(
        self, gvk: GroupVersionKind, key: Key, verb: str, body: bytes | None, error: BaseException | None
    ) -> None:
        self.verbs.append(verb)


@pytest.fixture
def live() -> Client:
    """A client of an embedded API server, in process."""
    return Client(InProcessTransport(ApiServer()))


def nothing(found: object) -> None:
    """Change nothing."""


async def test_an_apply_is_tried_once(live: Client) -> None:
    """Where managed fields do not decide (an empty structure that the server filled in), each program applies once."""
    await live.apply(DEPLOYMENT)
    sent = Sent(live)

    results = [(await live.create_or_apply(DEPLOYMENT)).result for _ in range(3)]
    await live.status.patch(Deployment, KEY, MergePatch({"status": {"replicas": 1}}))
    results.append((await live.create_or_apply(DEPLOYMENT)).result)

    assert results == [NONE] * 4
    assert sent.verbs == ["apply", "patch"]


async def test_a_dry_run_is_not_remembered(live: Client) -> None:
    """An apply that only a dry run has tried is sent."""
    await live.create_or_apply(DEPLOYMENT)
    wanted = {**DEPLOYMENT, "spec": {**DEPLOYMENT["spec"], "replicas": 2}}

    await dry_run(live).create_or_apply(wanted)
    results = [(await live.create_or_apply(wanted)).result for _ in range(2)]

    assert results == [UPDATED, NONE]
    assert (await live.get(Deployment, KEY)).spec.replicas == 2


async def test_a_change_of_hands_is_seen(live: Client) -> None:
    """A value that another owner removed and set again is applied, although the object looks unchanged."""
    await live.create_or_apply(DEPLOYMENT)
    for replicas in (5, 1):
        patch = MergePatch({"spec": {"replicas": replicas, "template": {"metadata": {"labels": {"b": str(replicas)}}}}})
        await live.patch(Deployment, KEY, patch, field_owner="another-manager")
    wanted = {**DEPLOYMENT, "spec": {**DEPLOYMENT["spec"], "replicas": 1}}
    sent = Sent(live)

    shared = await live.create_or_apply(wanted)

    assert (shared.result, sent.verbs) == (UPDATED, ["apply"])


@pytest.mark.virtual_time
async def test_without_managed_fields(live: Client) -> None:
    """A kind that is cached without managed fields is applied once for each version of the object, without a change."""
    cache = Cache(live, options={Deployment: KindOptions(strip_managed_fields=True)})
    cached = CachedClient(cache, live)
    cache.informer(Deployment)
    task = asyncio.create_task(cache.run())
    try:
        await cache.wait_for_sync()
        await cached.create_or_apply(DEPLOYMENT)
        sent = Sent(live)
        results = [(await cached.create_or_apply(DEPLOYMENT)).result for _ in range(3)]
        await live.patch(Deployment, KEY, MergePatch({"metadata": {"labels": {"a": "b"}}}), field_owner="another")
        results += [(await cached.create_or_apply(DEPLOYMENT)).result for _ in range(3)]

    finally:
        task.cancel()

    assert results == [NONE] * 6
    assert sent.verbs == ["patch", "apply"]


def document(version: str, *, managed: bool = True, **data: str) -> dict[str, Any]:
    entries = [{"manager": "me", "operation": "Apply", "fieldsV1": {"f:data": {}}, "time": version}] * managed
    return {"metadata": {"name": "a", "resourceVersion": version, "managedFields": entries}, "data": data}


def test_what_counts_as_the_same_object() -> None:
    """An apply is not repeated while the object is as after it, whatever its version and times; any change counts."""
    memo, wanted = ApplyMemo(), {"data": {"k": "v"}}
    key = ApplyKey(GroupVersionKind("", "v1", "ConfigMap"), KEY, "me")
    memo.remember(key, wanted, document("1", k="v"), has_status=False)

    def is_applied(live: dict[str, Any], desired: dict[str, Any] = wanted) -> bool:
        return memo.is_applied(key, desired, live, has_status=False)

    assert is_applied(document("1", k="v"))
    assert is_applied(document("2", k="v"))
    assert not is_applied(document("2", k="v"), {"data": {"k": "w"}})
    assert not is_applied(document("2", k="w"))
    assert is_applied(document("1", k="v", managed=False))
    assert not is_applied(document("2", k="v", managed=False))


def test_an_object_without_managed_fields_is_compared_by_its_version() -> None:
    """Where managed fields are not cached, an object of another version may have changed hands."""
    memo, wanted = ApplyMemo(), {"data": {"k": "v"}}
    key = ApplyKey(GroupVersionKind("", "v1", "ConfigMap"), KEY, "me")
    memo.remember(key, wanted, document("1", managed=False, k="v"), has_status=False)

    assert memo.is_applied(key, wanted, document("1", managed=False, k="v"), has_status=False)
    assert not memo.is_applied(key, wanted, document("2", managed=False, k="v"), has_status=False)
