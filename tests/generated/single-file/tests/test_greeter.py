"""The Greeting controller on an in-process or real cluster, with exactly the permissions that it declares."""

from pyctrl import Builder, Client, Manager, ObjectMeta
from pyctrl.client import wait_for
from pyctrl.testing import InstallKinds, UnderRole, sample_of

import greeter
from greeter import Greeting, GreetingReconciler


def wire(manager: Manager) -> None:
    Builder(manager).build(GreetingReconciler())


async def test_the_status_follows_the_spec(
    under_role: UnderRole, install_kinds: InstallKinds, client: Client, namespace: str
) -> None:
    """The status has the generation of the spec, and no permission is missing or unused."""
    await install_kinds(greeter)
    async with under_role(wire, namespaces=[namespace]) as operator:
        greeting = sample_of(Greeting)
        greeting.metadata = ObjectMeta(name="sample", namespace=namespace)
        await client.create(greeting)
        await wait_for(
            client,
            Greeting,
            greeting.key,
            lambda found: found.status.observed_generation == 1,
        )
        assert operator.compare().lines() == []
