"""Several finalizers of one operator."""

from __future__ import annotations

import pytest

from pyctrl.api import Key, ObjectMeta, is_deleting
from pyctrl.apiserver import ApiServer
from pyctrl.client import Client, InProcessTransport, MergePatch
from pyctrl.controller import FinalizeResult, Finalizers
from pyctrl.errors import Conflict
from pyctrl.kinds.apps.v1 import Deployment

KEY = Key("default", "a")
DEPLOYMENT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "a", "namespace": "default", "finalizers": ["others.test/theirs"]},
    "spec": {
        "selector": {"matchLabels": {"app": "a"}},
        "template": {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
    },
}


class Cleaner:
    """Records its calls and fails for some finalizers."""

    def __init__(self, *failing: str) -> None:
        self.asked: list[str] = []
        self.failing = set(failing)

    def finalizers(self) -> Finalizers[Deployment]:
        """Return two finalizers."""
        finalizers = Finalizers[Deployment]()
        for name in ("demo.test/first", "demo.test/second"):
            finalizers.register(name, self._handler(name))
        return finalizers

    def _handler(self, name: str):  # type: ignore[no-untyped-def]  # a FinalizeHandler, as type checkers see below
        async def handle(obj: Deployment) -> FinalizeResult:
            self.asked.append(name)
            if name in self.failing:
                raise RuntimeError(f"{name} cannot")
            obj.status.replicas = (obj.status.replicas or 0) + 1
            return FinalizeResult(status_updated=True)

        return handle


@pytest.fixture
def live() -> Client:
    """A client of an in-process API server."""
    return Client(InProcessTransport(ApiServer()))


async def deleted(live: Client, finalizers: Finalizers[Deployment]) -> Deployment:
    """Create an object, add the finalizers, and delete the object."""
    obj = await finalizers.finalize_and_patch(live, await live.create(Deployment.from_wire(DEPLOYMENT)))
    await live.delete(obj)
    return await live.get(Deployment, KEY)


async def test_they_are_added_once(live: Client) -> None:
    """Missing finalizers are added after those of others; a second call writes nothing."""
    cleaner = Cleaner()
    made = await live.create(Deployment.from_wire(DEPLOYMENT))

    obj = await cleaner.finalizers().finalize_and_patch(live, made)
    again = await cleaner.finalizers().finalize_and_patch(live, obj)

    assert obj.metadata.finalizers == ["others.test/theirs", "demo.test/first", "demo.test/second"]
    assert again is obj
    assert cleaner.asked == []


async def test_each_cleans_up_and_goes(live: Client) -> None:
    """On deletion each finalizer runs once, in order, and is removed with the status; finalizers of others stay."""
    cleaner = Cleaner()
    finalizers = cleaner.finalizers()

    obj = await finalizers.finalize_and_patch(live, await deleted(live, finalizers))

    assert is_deleting(obj)
    assert cleaner.asked == ["demo.test/first", "demo.test/second"]
    assert (obj.metadata.finalizers, obj.status.replicas) == (["others.test/theirs"], 2)
    assert (await live.get(Deployment, KEY)).metadata.finalizers == ["others.test/theirs"]


async def test_one_that_fails_stays(live: Client) -> None:
    """If one finalizer fails, the others are removed; the error names the failing one, and only that one runs again."""
    cleaner = Cleaner("demo.test/first")
    finalizers = cleaner.finalizers()
    obj = await deleted(live, finalizers)

    with pytest.raises(RuntimeError, match="demo.test/first cannot") as caught:
        await finalizers.finalize_and_patch(live, obj)
    left = await live.get(Deployment, KEY)
    cleaner.failing.clear()
    done = await finalizers.finalize_and_patch(live, left)

    assert caught.value.__notes__ == ["raised by the finalizer demo.test/first"]
    assert left.metadata.finalizers == ["others.test/theirs", "demo.test/first"]
    assert done.metadata.finalizers == ["others.test/theirs"]
    assert cleaner.asked == ["demo.test/first", "demo.test/second", "demo.test/first"]


async def test_all_that_fail_are_named(live: Client) -> None:
    """Several failures raise one ExceptionGroup that names the object; nothing is written."""
    cleaner = Cleaner("demo.test/first", "demo.test/second")
    finalizers = cleaner.finalizers()
    obj = await deleted(live, finalizers)

    with pytest.raises(ExceptionGroup, match="2 finalizers of Deployment default/a failed"):
        await finalizers.finalize_and_patch(live, obj)
    assert (await live.get(Deployment, KEY)).metadata.resource_version == obj.metadata.resource_version


async def test_a_stale_object_is_a_conflict(live: Client) -> None:
    """A stale object raises Conflict, so finalizers added by another client are kept."""
    made = await live.create(Deployment.from_wire(DEPLOYMENT))
    await live.patch(made, MergePatch({"metadata": {"finalizers": ["others.test/new"]}}))

    with pytest.raises(Conflict):
        await Cleaner().finalizers().finalize_and_patch(live, made)
    assert (await live.get(Deployment, KEY)).metadata.finalizers == ["others.test/new"]


async def test_finalize_writes_nothing(live: Client) -> None:
    """`finalize` changes the object in place, without a client, and returns what needs to be written."""
    cleaner = Cleaner()
    finalizers = cleaner.finalizers()
    new = Deployment(metadata=ObjectMeta(name="b", namespace="default"))

    added, again = await finalizers.finalize(new), await finalizers.finalize(new)
    cleaned = await finalizers.finalize(gone := await deleted(live, finalizers))

    assert (added, again) == (FinalizeResult(updated=True), FinalizeResult())
    assert cleaned == FinalizeResult(updated=True, status_updated=True)
    assert gone.metadata.finalizers == ["others.test/theirs"]


@pytest.mark.parametrize(
    ("name", "reason"), [("demo.test/first", "registered already"), ("first", "expected a domain and a name")]
)
def test_names_that_cannot_be(name: str, reason: str) -> None:
    """Registering a duplicate or an invalid finalizer name raises an error."""
    finalizers = Cleaner().finalizers()

    async def handle(obj: Deployment) -> None: ...

    with pytest.raises(ValueError, match=reason):
        finalizers.register(name, handle)


async def test_one_that_waits_stays_without_an_error(live: Client) -> None:
    """A finalizer that is waiting stays without an error, while the next one is removed."""
    answers = [FinalizeResult(waiting=True), FinalizeResult(waiting=True, status_updated=True), None]
    finalizers = Finalizers[Deployment]()

    async def wait(obj: Deployment) -> FinalizeResult | None:
        obj.status.replicas = 7
        return answers.pop(0)

    async def go(obj: Deployment) -> None: ...

    finalizers.register("demo.test/waits", wait)
    finalizers.register("demo.test/goes", go)
    obj = await deleted(live, finalizers)

    for replicas in (None, 7):
        obj = await finalizers.finalize_and_patch(live, obj)
        assert obj.metadata.finalizers == ["others.test/theirs", "demo.test/waits"]
        assert (await live.get(Deployment, KEY)).status.replicas == replicas
    obj = await finalizers.finalize_and_patch(live, obj)
    assert (obj.metadata.finalizers, answers) == (["others.test/theirs"], [])


async def test_no_finalizer_is_added_to_an_object_that_is_being_deleted(live: Client) -> None:
    """An object whose deletion began before it had the operator's finalizers keeps its own, as servers require."""
    cleaner = Cleaner()
    made = await live.create(Deployment.from_wire(DEPLOYMENT))
    await live.delete(made)
    obj = await live.get(Deployment, KEY)

    assert await cleaner.finalizers().finalize(obj) == FinalizeResult()
    assert obj.metadata.finalizers == ["others.test/theirs"]
    assert cleaner.asked == []
