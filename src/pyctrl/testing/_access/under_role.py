"""Running an operator as a service account that may do exactly what its program declares, and nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from pyctrl._tasks import unwrapped
from pyctrl.api import Access, Key, Unstructured
from pyctrl.client import Client, Config
from pyctrl.errors import NotFound
from pyctrl.kinds.authorization.v1 import (
    NonResourceAttributes,
    ResourceAttributes,
    SelfSubjectAccessReview,
    SelfSubjectAccessReviewSpec,
)
from pyctrl.manager import Manager, Preflight
from pyctrl.rbac import Grants, PermissionComparison, compare, manifests
from pyctrl.testing._access.recorder import AccessRecorder
from pyctrl.testing._cluster.cluster_under_test import ClusterUnderTest

__all__ = ["Operator", "UnderRole"]

PATIENCE = 10.0  # seconds until roles must hold; kube-apiserver watches them and takes some hundredths
PAUSE = 0.02  # seconds between reviews


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """An operator that runs as a service account.

    Attributes:
        manager: it, with its controllers.
        account: as whom.
        granted: what the account may do.
        accesses: what was asked for so far.
    """

    manager: Manager
    account: Key
    granted: Grants
    accesses: AccessRecorder

    def compare(self) -> PermissionComparison:
        """Compare what is granted with what was asked for so far."""
        return compare(self.granted, self.accesses.asked)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnderRole:
    """Runs operators under the roles that follow from their wiring, in a test.

        async with under_role(add_podset) as operator:
            ...  # its life, played by a client that may do everything
        assert not operator.compare().unused

    Roles, bindings and service account are made before the block, in a namespace of the test, and deleted after it.
    What the operator asked for and was refused fails the block, and is named by its error.

    Attributes:
        cluster: where.
        namespace: where the account is, and so the operator.
        accesses: notes what all of the operators ask.
        by: who asks, in words, such as the name of the test.
    """

    cluster: ClusterUnderTest
    namespace: str
    accesses: AccessRecorder
    by: str = ""
    _numbers: count[int] = field(default_factory=lambda: count(1))

    @asynccontextmanager
    async def __call__(
        self, wire: Callable[[Manager], object], *, without: Iterable[Access] = (), **options: Any
    ) -> AsyncIterator[Operator]:
        """Run an operator beside a block.

        Without some of its rights nothing is waited for, not even that the manager has started, and refusals are no
        failure: `AccessRecorder.wait_until_refused` waits for them.

        Args:
            wire: a function that takes a manager and wires controllers into it.
            without: do not grant these; each is one of `Grants.accesses`.
            options: such as ``namespaces``, as `Manager` takes them. There is no preflight unless they say so: what is
                missing shall be refused and not waited for.

        Raises:
            AssertionError: the operator was refused something.
            RbacError: what shall be left out is not granted.
            Exception: whatever the manager fails with.
        """
        withheld = list(without)
        account = Key(self.namespace, f"operator-{next(self._numbers)}")
        recorder = AccessRecorder(by=self.by)
        async with AsyncExitStack() as stack:
            admin = await stack.enter_async_context(self.cluster.client())
            await _make(stack, admin, {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": _metadata(account)})
            config = await self.cluster.config_for_account(account)
            recorded = self.accesses.recorded(recorder.recorded(config))
            options.setdefault("preflight", Preflight.OFF)
            manager = await stack.enter_async_context(Manager(recorded, **options))
            wire(manager)
            granted = manager.grants().without(*withheld)
            for role in manifests(granted, name=f"{account.namespace}-{account.name}", account=account):
                await _make(stack, admin, role)
            await _in_force(config, granted)
            stack.enter_context(_named(recorder, is_failure=not withheld))
            await stack.enter_async_context(_running(manager, wait=not withheld))
            yield Operator(manager=manager, account=account, granted=granted, accesses=recorder)


def _metadata(key: Key) -> dict[str, str]:
    return {"name": key.name, "namespace": key.namespace}


async def _make(stack: AsyncExitStack, admin: Client, manifest: Mapping[str, Any]) -> None:
    """Create an object that is deleted at the end of the stack."""
    made = await admin.create(Unstructured.from_wire(manifest))
    stack.push_async_callback(_delete, admin, made)


async def _delete(admin: Client, made: Unstructured) -> None:
    with suppress(NotFound):  # the test did it
        await admin.delete(made)


async def _in_force(config: Config, granted: Grants) -> None:
    """Wait until the server acts on the roles: one right of each stands for the others."""
    async with Client.connect(config) as client, asyncio.timeout(PATIENCE):
        for namespace, rules in granted.rules.items():
            access = next(rules[0].accesses(namespace))
            while not (await client.create(_review(access))).status.allowed:  # noqa: ASYNC110 (nothing tells)
                await asyncio.sleep(PAUSE)


def _review(access: Access) -> SelfSubjectAccessReview:
    if not access.is_resource:
        path = NonResourceAttributes(path=access.path, verb=access.verb)
        return SelfSubjectAccessReview(spec=SelfSubjectAccessReviewSpec(non_resource_attributes=path))
    attributes = ResourceAttributes(
        verb=access.verb,
        group=access.group,
        resource=access.resource,
        subresource=access.subresource,
        namespace=access.namespace,
        name=access.name,
    )
    return SelfSubjectAccessReview(spec=SelfSubjectAccessReviewSpec(resource_attributes=attributes))


@contextmanager
def _named(recorder: AccessRecorder, *, is_failure: bool) -> Iterator[None]:
    """Name what was refused: in the error that leaves the block, or in one of our own."""
    try:
        yield
    except BaseException as error:
        for asked in recorder.refused:
            error.add_note(f"refused: {asked}")
        raise
    if is_failure and recorder.refused:
        refused = "\n".join(f"refused: {asked}" for asked in recorder.refused)
        raise AssertionError(f"the operator asked for what its role does not grant\n{refused}")


@asynccontextmanager
async def _running(manager: Manager, *, wait: bool) -> AsyncIterator[None]:
    """Run the manager beside the block; wait for its start, or begin at once."""
    with unwrapped():
        async with asyncio.TaskGroup() as group:
            group.create_task(manager.run(handle_signals=False), name="operator")
            try:
                if wait:
                    await manager.elected.wait()
                yield
            finally:
                manager.ask_to_stop()
