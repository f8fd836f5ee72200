"""A controller with owned objects: each ConfigMap has a Secret of its name, and two Secrets with generated names."""

from __future__ import annotations

from pyctrl.api import Key, ObjectMeta, set_controller_reference
from pyctrl.apiserver import ApiServer
from pyctrl.cache import Informer
from pyctrl.controller import KindSource, Request, Result
from pyctrl.errors import AlreadyExists, NotFound
from pyctrl.kinds.core.v1 import ConfigMap, Secret
from tests.unit.manager.sharding._rings import Recorder, Replica, admin

GENERATED = 2


class Family(Recorder):
    """Creates what is missing: a Secret that it gets by name, and Secrets that it lists by owner.

    A list that lacks one makes it create another one, which nothing deletes.
    """

    owns = (Secret,)

    def __init__(self) -> None:
        super().__init__()
        self.created: list[str] = []
        self.mistaken: list[str] = []  # Secrets that it did not find although they exist

    async def reconcile(self, request: Request) -> Result | None:
        parent = await self.client.find(ConfigMap, request.key)
        if parent is None or parent.metadata.deletion_timestamp or request.name == "kube-root-ca.crt":
            return None
        try:
            await self.client.get(Secret, request.key)
        except NotFound:
            await self._create(parent, ObjectMeta(name=request.name, namespace=request.namespace))
        have = await self.client.list(Secret, namespace=request.namespace, index=("owner", parent.metadata.uid))
        generated = [each for each in have if each.metadata.name != request.name]
        for _ in range(GENERATED - len(generated)):
            await self._create(
                parent, ObjectMeta(generate_name=f"{request.name}-generated-", namespace=request.namespace)
            )
        return await super().reconcile(request)

    async def _create(self, parent: ConfigMap, meta: ObjectMeta) -> None:
        child = Secret(metadata=meta)
        set_controller_reference(parent, child)
        try:
            made = await self.client.create(child)
        except AlreadyExists:
            self.mistaken.append(child.metadata.name)
            raise
        self.created.append(made.metadata.name)


def secrets(replica: Replica) -> Informer:
    """Return the informer of the owned objects of a replica."""
    found = [s for s in replica.controller.sources if isinstance(s, KindSource) and not s.is_reconciled]
    return found[0].informer


def cached_secrets(replica: Replica) -> set[str]:
    """Return the names of the Secrets in the cache of a replica."""
    return {record.name for record in secrets(replica).lister.store}


async def families(server: ApiServer) -> dict[str, set[str]]:
    """Return the names of the Secrets of each ConfigMap, by its name."""
    found: dict[str, set[str]] = {}
    for secret in await admin(server).list(Secret, namespace="default"):
        for owner in secret.metadata.owner_references:
            found.setdefault(owner.name, set()).add(secret.metadata.name)
    return found


def key_of(name: str) -> Key:
    """Return the key of an object of the tests."""
    return Key("default", name)
