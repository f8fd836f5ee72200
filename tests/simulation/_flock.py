"""An operator whose children have generated names: with a stale cache it would create duplicates."""

from __future__ import annotations

from datetime import timedelta

from pyctrl.api import CustomResource, Int32, Model, ObjectMeta, is_deleting, set_controller_reference
from pyctrl.controller import Builder, Controller, ManagedCluster, Reconciler, Request, Result
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.rbac import allow

WANTED = "sim.example.com/wanted"  # annotation of a bird: the desired number at its creation


class FlockSpec(Model):
    """The desired number of birds."""

    size: Int32


class FlockStatus(Model):
    """The existing birds."""

    birds: list[str] = []


class Flock(CustomResource[FlockSpec, FlockStatus], group="sim.example.com", version="v1"):
    """A number of birds: ConfigMaps with generated names."""


class FlockReconciler(Reconciler[Flock]):
    """Creates one bird at a time and reconciles again at once: without reads of its own writes it creates too many."""

    rbac = (allow(ConfigMap, "create", "delete"), allow(Flock, "update", subresource="status"))

    async def reconcile(self, request: Request) -> Result | None:
        flock = await self.client.find(Flock, request.key)
        if flock is None or is_deleting(flock):
            return None
        birds = await self.birds_of(flock)
        size = flock.spec.size
        if len(birds) < size:
            born = await self.client.create(bird_of(flock))
            await self.check_write(born)
            return Result.after(timedelta(0))
        for surplus in birds[size:]:
            await self.client.delete(surplus)
            assert await self.client.find(ConfigMap, surplus.key) is None, f"{surplus.key} is read after its deletion"
        names = [bird.metadata.name for bird in birds[:size]]
        if flock.status.birds != names:
            flock.status.birds = names
            await self.client.status.update(flock)
        return None

    async def birds_of(self, flock: Flock) -> list[ConfigMap]:
        """Return the birds by index, oldest name first; a scan must find the same ones."""
        namespace, uid = flock.metadata.namespace, flock.metadata.uid
        birds = await self.client.list(ConfigMap, namespace=namespace, index=("owner", uid))
        every = await self.client.list(ConfigMap, namespace=namespace)
        owned = [bird for bird in every if any(ref.uid == uid for ref in bird.metadata.owner_references)]
        names = sorted(bird.metadata.name for bird in birds)
        assert names == sorted(bird.metadata.name for bird in owned), "index and scan differ"
        return sorted((bird for bird in birds if not is_deleting(bird)), key=lambda bird: bird.metadata.name)

    async def check_write(self, born: ConfigMap) -> None:
        """Check that a read returns the written version or a newer one."""
        read = await self.client.find(ConfigMap, born.key)
        if read is not None:  # it may have been deleted before the response arrived
            assert int(read.metadata.resource_version) >= int(born.metadata.resource_version), "an older state is read"


def bird_of(flock: Flock) -> ConfigMap:
    """Return a new bird without a name."""
    meta = ObjectMeta(
        generate_name=f"{flock.metadata.name}-",
        namespace=flock.metadata.namespace,
        labels={"flock": flock.metadata.name, "bird": ""},
        annotations={WANTED: str(flock.spec.size)},
    )
    bird = ConfigMap(metadata=meta)
    set_controller_reference(flock, bird)
    return bird


def add_flocks(host: ManagedCluster) -> Controller:
    """Add the operator to a manager."""
    return Builder(host).reconciles(Flock).owns(ConfigMap).options(workers=2).build(FlockReconciler())
