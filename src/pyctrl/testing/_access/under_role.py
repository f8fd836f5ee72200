"""Runner of operators as service accounts with exactly the permissions that their programs declare."""

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

PATIENCE = 10.0  # seconds until roles must be in force; kube-apiserver watches them and takes some hundredths
PAUSE = 0.02  # seconds between reviews


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """An operator that runs as a service account.

    Attributes:
        manager: the manager with the operator's controllers.
        account: the service account.
        granted: the permissions of the account.
        accesses: the recorder of the operator's accesses.
    """

    manager: Manager
    account: Key
    granted: Grants
    accesses: AccessRecorder

    def compare(self) -> PermissionComparison:
        """Compare the granted permissions with the accesses so far."""
        return compare(self.granted, self.accesses.asked)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnderRole:
    """Runner of operators under the roles that their wiring declares, for tests.

        async with under_role(add_podset) as operator:
            ...  # the test's own client has every permission
        assert not operator.compare().unused

    Roles, bindings and service account are created before the block, in the test's namespace, and deleted after it.
    The block fails if an access of the operator was denied; the error lists the denied ones.

    Attributes:
        cluster: the cluster.
        namespace: the namespace of the account, and so of the operator.
        accesses: the recorder of all operators' accesses.
        by: the origin of the accesses, such as the name of the test.
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
        """Run an operator during the block.

        If permissions are left out (``without``), the block starts at once, even before the manager has started, and
        denied accesses do not fail it: wait for them with `AccessRecorder.wait_until_refused`.

        Args:
            wire: a function that takes a manager and adds controllers to it.
            without: permissions to leave out; each is one of `Grants.accesses`.
            options: arguments of `Manager`, such as ``namespaces``. Preflight is off by default, so that missing
                permissions cause denied accesses instead of a wait.

        Raises:
            AssertionError: an access of the operator was denied.
            RbacError: a permission in ``without`` is not granted.
            Exception: an error of the manager.
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
            stack.enter_context(_reporting_refused(recorder, is_failure=not withheld))
            await stack.enter_async_context(_running(manager, wait=not withheld))
            yield Operator(manager=manager, account=account, granted=granted, accesses=recorder)


def _metadata(key: Key) -> dict[str, str]:
    return {"name": key.name, "namespace": key.namespace}


async def _make(stack: AsyncExitStack, admin: Client, manifest: Mapping[str, Any]) -> None:
    """Create an object, and delete it when the stack exits."""
    made = await admin.create(Unstructured.from_wire(manifest))
    stack.push_async_callback(_delete, admin, made)


async def _delete(admin: Client, made: Unstructured) -> None:
    with suppress(NotFound):  # the test has deleted it
        await admin.delete(made)


async def _in_force(config: Config, granted: Grants) -> None:
    """Wait until the server grants the first access of each role."""
    async with Client.connect(config) as client, asyncio.timeout(PATIENCE):
        for namespace, rules in granted.rules.items():
            access = next(rules[0].accesses(namespace))
            while not (await client.create(_review(access))).status.allowed:  # noqa: ASYNC110 (there is no event)
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
def _reporting_refused(recorder: AccessRecorder, *, is_failure: bool) -> Iterator[None]:
    """Add the denied accesses to the error of the block, or raise one for them if ``is_failure``."""
    try:
        yield
    except BaseException as error:
        for access in recorder.refused:
            error.add_note(f"refused: {access}")
        raise
    if is_failure and recorder.refused:
        refused = "\n".join(f"refused: {access}" for access in recorder.refused)
        raise AssertionError(f"the operator's role does not grant accesses that it needs\n{refused}")


@asynccontextmanager
async def _running(manager: Manager, *, wait: bool) -> AsyncIterator[None]:
    """Run the manager during the block; with ``wait``, enter the block once it is elected."""
    with unwrapped():
        async with asyncio.TaskGroup() as group:
            group.create_task(manager.run(handle_signals=False), name="operator")
            try:
                if wait:
                    await manager.elected.wait()
                yield
            finally:
                manager.ask_to_stop()
