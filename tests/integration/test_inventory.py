"""The session of the seed on any cluster: first without permissions, then with them."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from examples.inventory.inventory import stub_service
from pyctrl.api import Key
from pyctrl.client import Client, Config, wait_for_list, wait_until_gone
from pyctrl.errors import Forbidden, Invalid
from pyctrl.kinds.apps.v1 import Deployment
from pyctrl.kinds.core.v1 import Node, Pod, Secret, Service
from pyctrl.testing import ClusterUnderTest
from tests.integration._inventory import ACCOUNT, LABELS, NAMESPACE, STUB, Site, Visitor, prepared

pytestmark = pytest.mark.rbac


@pytest.fixture
async def site(cluster: ClusterUnderTest, client: Client, namespace: str) -> AsyncIterator[Site]:
    """A cluster where the accounts have no permissions yet."""
    async with prepared(cluster, namespace) as site:
        yield site


@pytest.fixture
async def allowed(site: Site) -> AsyncIterator[Site]:
    """A cluster where the account of the inventory has the permissions of its configuration."""
    await site.allow()
    yield site
    await site.forbid()


def refused(site: Site, verb: str, resource: str, *, group: str = "", place: str = "", name: str = "") -> Any:
    """Return the expected Forbidden answer to the account `default`, which has no permissions."""
    what = f"{resource}.{group}" if group else resource
    named = f'{what} "{name}"' if name else what
    where = f'in the namespace "{place}"' if place else "at the cluster scope"
    user = f"system:serviceaccount:{site.namespace}:default"
    details = {"name": name, "group": group, "kind": resource}
    message = f'{named} is forbidden: User "{user}" cannot {verb} resource "{resource}" in API group "{group}" {where}'
    return {
        "ErrStatus": {
            "metadata": {},
            "status": "Failure",
            "message": message,
            "reason": "Forbidden",
            "details": {key: value for key, value in details.items() if value},
            "code": 403,
        }
    }


# -- without permissions -------------------------------------------------------------------------------------------


async def test_the_refusal_of_the_seed_is_answered_to_the_letter(site: Site) -> None:
    """Listing nodes without permissions gives the Forbidden answer of the seed, word for word."""
    async with site.visit(await site.login("default")) as visitor:
        code, answer = await visitor.get("/nodes")
    expected = (
        'nodes is forbidden: User "system:serviceaccount:testing:default" cannot list resource "nodes" '
        'in API group "" at the cluster scope'
    )
    assert code == 403
    assert answer == {
        "ErrStatus": {
            "metadata": {},
            "status": "Failure",
            "message": expected.replace(NAMESPACE, site.namespace),
            "reason": "Forbidden",
            "details": {"kind": "nodes"},
            "code": 403,
        }
    }


async def test_without_rights_every_request_is_refused(site: Site) -> None:
    """Each answer names the user, the verb and the scope that are forbidden, and nothing changes."""
    here = site.namespace
    async with site.visit(await site.login("default")) as visitor:
        assert await visitor.get("/namespaces") == (403, refused(site, "list", "namespaces"))
        assert await visitor.get("/services") == (403, refused(site, "list", "services"))
        assert await visitor.get(f"/services?ns={here}") == (403, refused(site, "list", "services", place=here))
        apps = refused(site, "list", "deployments", group="apps")
        assert await visitor.get("/deployments?ns=") == (403, apps)
        apps = refused(site, "list", "deployments", group="apps", place=here)
        assert await visitor.get(f"/deployments?ns={here}") == (403, apps)
        apps = refused(site, "create", "deployments", group="apps", place=here)
        assert await visitor.post("/deployments") == (403, apps)
        assert await visitor.post("/services") == (403, refused(site, "create", "services", place=here))
        apps = refused(site, "delete", "deployments", group="apps", place=here, name=STUB)
        assert await visitor.delete(f"/{STUB}") == (403, apps)
    assert not await site.admin.list(Deployment, namespace=here)


# -- with permissions ----------------------------------------------------------------------------------------------


async def test_the_whole_session_succeeds_with_the_roles_of_the_configuration(
    allowed: Site, running_pods: None
) -> None:
    """List, create, run two pods behind a node port and delete all succeed, and nothing remains."""
    key = Key(allowed.namespace, STUB)
    async with allowed.visit(await allowed.login(ACCOUNT)) as visitor:
        await lists_the_cluster(allowed, visitor)
        code, deployment = await visitor.post("/deployments")
        assert (code, deployment["spec"]["replicas"]) == (200, 2)
        code, service = await visitor.post("/services")
        assert (code, service["spec"]["type"]) == (200, "NodePort")
        (port,) = service["spec"]["ports"]
        assert 30000 <= port.pop("nodePort") <= 32767
        assert port == {"name": "http", "protocol": "TCP", "port": 80, "targetPort": 80}

        await wait_for_list(allowed.admin, Pod, two_run, namespace=key.namespace, labels=LABELS)
        for kind in ("deployments", "services"):
            _, found = await visitor.get(f"/{kind}?ns={key.namespace}")
            assert [item["metadata"]["name"] for item in found["items"]] == [STUB]
            _, everywhere = await visitor.get(f"/{kind}")
            assert key in [Key(item["metadata"]["namespace"], item["metadata"]["name"]) for item in everywhere["items"]]

        assert await visitor.delete(f"/{STUB}") == (200, None)
    await wait_until_gone(allowed.admin, Deployment, key)
    await wait_until_gone(allowed.admin, Service, key)


def two_run(pods: Sequence[Pod]) -> bool:
    return [pod.status.phase for pod in pods] == ["Running", "Running"]


async def lists_the_cluster(site: Site, visitor: Visitor) -> None:
    """Check that lists of cluster-scoped kinds have client-go's shape and complete objects."""
    code, nodes = await visitor.get("/nodes")
    assert (code, nodes.keys()) == (200, {"metadata", "items"})
    assert {item["metadata"]["name"] for item in nodes["items"]} == {
        node.metadata.name for node in await site.admin.list(Node)
    }
    code, namespaces = await visitor.get("/namespaces")
    assert code == 200
    assert int(namespaces["metadata"]["resourceVersion"]) > 0
    (here,) = [item for item in namespaces["items"] if item["metadata"]["name"] == site.namespace]
    assert here.keys() == {"metadata", "spec", "status"}
    assert here["metadata"].keys() >= {"name", "uid", "resourceVersion", "creationTimestamp", "labels", "managedFields"}
    assert here["metadata"]["labels"]["kubernetes.io/metadata.name"] == site.namespace
    assert (here["spec"], here["status"]) == ({"finalizers": ["kubernetes"]}, {"phase": "Active"})


async def test_what_the_api_server_refuses_keeps_its_code(allowed: Site) -> None:
    """A taken name is 409, not 500; a missing object is 404, and the rest is deleted all the same."""
    key = Key(allowed.namespace, STUB)
    async with allowed.visit(await allowed.login(ACCOUNT)) as visitor:
        await visitor.post("/services")
        code, taken = await visitor.post("/services")
        assert (code, taken["ErrStatus"]["code"], taken["ErrStatus"]["reason"]) == (409, 409, "AlreadyExists")
        assert taken["ErrStatus"]["message"] == f'services "{STUB}" already exists'

        code, missing = await visitor.delete(f"/{STUB}")
        assert (code, missing["ErrStatus"]["reason"]) == (404, "NotFound")
        assert missing["ErrStatus"]["message"] == f'deployments.apps "{STUB}" not found'
    await wait_until_gone(allowed.admin, Service, key)


async def test_a_namespace_that_cannot_be_one_is_a_bad_request(allowed: Site) -> None:
    """The value of ?ns= cannot lead to another path of the API."""
    async with allowed.visit(await allowed.login(ACCOUNT)) as visitor:
        for name in ("..", "a/b", "a%2Fsecrets", "a?watch=1"):
            code, answer = await visitor.get(f"/deployments?ns={name}")
            assert (code, answer["ErrStatus"]["reason"]) == (400, "BadRequest"), name
        code, empty = await visitor.get("/deployments?ns=nobody-has-this")
        assert (code, empty["items"]) == (200, [])


async def test_protocols_are_written_in_capitals(site: Site) -> None:
    """The server rejects `tcp` and lists the valid values, so the Service must use `TCP`."""
    service = stub_service(site.namespace)
    service.spec.ports[0].protocol = "tcp"
    with pytest.raises(Invalid) as refused:
        await site.admin.create(service)
    (cause,) = refused.value.causes
    assert cause.field == "spec.ports[0].protocol"
    assert cause.message == 'Unsupported value: "tcp": supported values: "SCTP", "TCP", "UDP"'


async def test_it_may_do_nothing_else(allowed: Site) -> None:
    """The account cannot read Secrets, watch, or create anything outside its namespace."""
    login = await allowed.login(ACCOUNT)
    async with replace(allowed, namespace="default").visit(login) as visitor:
        assert (await visitor.post("/deployments"))[0] == 403
    async with Client.connect(login) as client:
        with pytest.raises(Forbidden):
            await client.list(Secret, namespace=allowed.namespace)
        with pytest.raises(Forbidden):
            await anext(client.watch(Deployment, namespace=allowed.namespace))


@pytest.mark.slow("every right is taken away once")
@pytest.mark.timeout(60)
async def test_each_of_its_rights_is_needed(allowed: Site) -> None:
    """Without any one permission some request is forbidden, and the answer names that permission."""
    methods = {"list": "GET", "create": "POST", "delete": "DELETE"}
    for right in allowed.rights():
        await allowed.take_away(right)
        path = f"/{STUB if right.verb == 'delete' else right.resource}"
        async with allowed.visit(await allowed.login(ACCOUNT)) as visitor:
            code, answer = await visitor.send(methods[right.verb], path)
        assert code == 403, right
        assert f'cannot {right.verb} resource "{right.resource}"' in answer["ErrStatus"]["message"]


async def test_a_server_that_cannot_be_asked_is_unavailable(site: Site) -> None:
    """When the API server does not answer, the visitor gets an error of the same shape."""
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        port = nobody.getsockname()[1]
    async with site.visit(Config.from_token(f"http://127.0.0.1:{port}", "t")) as visitor:
        code, answer = await visitor.get("/nodes")
    assert (code, answer["ErrStatus"]["reason"]) == (503, "ServiceUnavailable")
    assert f"127.0.0.1:{port}" in answer["ErrStatus"]["message"]
