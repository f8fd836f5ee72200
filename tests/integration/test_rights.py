"""The generated roles of the examples grant exactly the necessary permissions, on any cluster.

With ClusterRoles an operator reconciles the objects of all namespaces, so on a shared cluster the examples are
restricted to the namespace of the test where this does not affect the result.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from pyctrl.api import Access
from pyctrl.client import Client
from pyctrl.errors import MissingPermissions, RbacError
from pyctrl.manager import AccessReviewStatus, Preflight, review_accesses
from pyctrl.testing import Answered, ClusterUnderTest, FaultyTransport, Rule, UnderRole
from pyctrl.testing._cluster.choice import ClusterChoice
from tests.integration._examples import PROGRAMS, Place, Program
from tests.integration._operators import install

pytestmark = pytest.mark.virtual_time  # where the cluster is embedded

EACH_RIGHT = [
    pytest.param(program, access, id=f"{program}: {access}") for program in PROGRAMS for access in program.rights
]
NO_STREAMED_LISTS = Answered(status=422, reason="Invalid", message="sendInitialEvents is forbidden for watch")


@pytest.fixture
def place(client: Client, namespace: str, storage_class: str, running_pods: None) -> Place:
    return Place(client=client, namespace=namespace, storage_class=storage_class)


@pytest.fixture
def namespaces(cluster: ClusterUnderTest, namespace: str) -> Sequence[str] | None:
    """The namespaces that an operator is restricted to, or None."""
    return [namespace] if cluster.choice is ClusterChoice.EXISTING else None


def in_place(access: Access, namespaces: Sequence[str] | None) -> Access:
    """Return a permission as derived for a restricted operator."""
    return access if namespaces is None else access._replace(namespace=namespaces[0])


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
async def test_the_role_is_exactly_enough(
    program: Program, place: Place, under_role: UnderRole, namespaces: Sequence[str] | None
) -> None:
    """An example uses every permission of its generated role and no other; none is a wildcard."""
    await install(place.client, program.definition)
    async with under_role(program.wire(place.storage_class), namespaces=namespaces) as operator:
        await program.live(place)
        assert operator.compare().lines() == []
        assert operator.granted.accesses() == [in_place(access, namespaces) for access in program.rights]


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
async def test_roles_in_a_namespace_are_exactly_enough(program: Program, place: Place, under_role: UnderRole) -> None:
    """An example restricted to a namespace needs Roles there and no ClusterRole."""
    await install(place.client, program.definition)
    async with under_role(program.wire(place.storage_class), namespaces=[place.namespace]) as operator:
        await program.live(place)
        assert operator.compare().lines() == []
    assert list(operator.granted.rules) == [place.namespace]


@pytest.mark.parametrize(("program", "access"), EACH_RIGHT)
async def test_without_a_right_it_is_refused(
    program: Program, access: Access, place: Place, under_role: UnderRole, namespaces: Sequence[str] | None
) -> None:
    """Without any one of its permissions an example fails, and is refused that very permission.

    A server that streams lists does not require ``list``, so here the server does not stream. Only clusters with the
    admission plugin OwnerReferencesPermissionEnforcement require ``finalizers``; on others the example succeeds.
    """
    await install(place.client, program.definition)
    right = in_place(access, namespaces)
    wire = program.wire(place.storage_class)
    if access.verb == "list":
        under_role = without_streamed_lists(under_role)
    async with under_role(wire, without=[right], namespaces=namespaces) as operator, asyncio.TaskGroup() as group:
        life = group.create_task(through(program, place))
        refusal = group.create_task(operator.accesses.wait_until_refused(timeout=None))
        await asyncio.wait({life, refusal}, return_when=asyncio.FIRST_COMPLETED, timeout=15)
        is_through = life.done()
        life.cancel()
        refusal.cancel()
    if access.subresource == "finalizers" and is_through:
        assert not operator.accesses.refused
    else:
        assert not is_through
        assert {asked.access._replace(namespace="") for asked in operator.accesses.refused} == {access}


async def through(program: Program, place: Place) -> None:
    await program.live(place)


def without_streamed_lists(under_role: UnderRole) -> UnderRole:
    """Make the server list kinds in pages only, not as streams."""
    refused = Rule(NO_STREAMED_LISTS, query={"sendInitialEvents": "true"}, times=None)
    cluster = under_role.cluster
    config = replace(cluster.config, wrap_transport=lambda inner: FaultyTransport(inner, [refused]))
    return replace(under_role, cluster=replace(cluster, config=config))


@pytest.mark.parametrize(("program", "access"), EACH_RIGHT)
async def test_without_a_right_preflight_names_it(
    program: Program, access: Access, place: Place, under_role: UnderRole, namespaces: Sequence[str] | None
) -> None:
    """A strict manager that lacks one permission does not start, and names that permission only."""
    await install(place.client, program.definition)
    right, wire = in_place(access, namespaces), program.wire(place.storage_class)
    with pytest.raises(MissingPermissions) as failure:
        async with under_role(wire, without=[right], namespaces=namespaces, preflight=Preflight.STRICT) as operator:
            await operator.manager.elected.wait()
    _, *told = (line for line in str(failure.value).splitlines() if " may not " in line)
    assert [line.split(" may not ")[1].split(",")[0].split(";")[0] for line in told] == [str(right)]


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
async def test_an_account_without_a_role_lacks_every_right(
    program: Program, place: Place, under_role: UnderRole, namespaces: Sequence[str] | None
) -> None:
    """An account without a role lacks every derived permission, and each is named as missing."""
    await install(place.client, program.definition)
    rights = [in_place(access, namespaces) for access in program.rights]
    wire = program.wire(place.storage_class)
    async with under_role(wire, without=rights, namespaces=namespaces) as operator:
        assert operator.granted.accesses() == []
        async with Client.connect(await under_role.cluster.config_for_account(operator.account)) as login:
            reviews = await review_accesses(login, rights, patience=timedelta(seconds=10))
    assert {review.access: review.verdict for review in reviews} == dict.fromkeys(rights, AccessReviewStatus.MISSING)


async def test_what_cannot_be_left_out_is_named(under_role: UnderRole) -> None:
    """Removing a permission that is not granted is an error that names it."""
    with pytest.raises(RbacError, match="^cannot remove delete pods at the cluster scope: it is not granted"):
        async with under_role(lambda _: None, without=[Access("delete", "", "pods")]):
            pass
