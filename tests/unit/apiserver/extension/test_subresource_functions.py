"""Subresources that are functions of a program."""

from __future__ import annotations

import json
from typing import Any

from pyctrl._headers import Headers
from pyctrl.api import ObjectMeta
from pyctrl.apiserver import FRONT_PROXY, Peer
from pyctrl.extension_apiserver import APIResource, Subresource
from tests.unit.extension_apiserver._flavors import GROUP, DictStorage, Flavor, Tasting, served

FLAVORS = f"/apis/{GROUP}/v1/namespaces/default/flavors"


async def test_a_subresource_is_a_function() -> None:
    """POST to a subresource of one's own calls a typed function with the object and the body."""

    async def taste(request: Any, flavor: Flavor, tasting: Tasting) -> Tasting:
        verdict = f"{request.user.name}: {flavor.metadata.name} is {tasting.verdict}"
        return Tasting(metadata=ObjectMeta(name=flavor.metadata.name), verdict=verdict)

    resource = APIResource(Flavor, DictStorage(), subresources={"taste": Subresource(kind=Tasting, create=taste)})
    async with served(resource) as server:
        peer = Peer("", FRONT_PROXY)
        headers = Headers([("X-Remote-User", "jane"), ("X-Remote-Group", "system:masters")])

        async def call(method: str, path: str, body: Any = None) -> tuple[int, Any]:
            content = json.dumps(body).encode() if body is not None else b""
            response = await server.handle(method, path, [], headers, content, peer=peer)
            assert isinstance(response.body, bytes)
            return response.status, json.loads(response.body)

        flavor = {"apiVersion": f"{GROUP}/v1", "kind": "Flavor", "metadata": {"name": "lime"}}
        await call("POST", FLAVORS, flavor)
        body = {"apiVersion": f"{GROUP}/v1", "kind": "Tasting", "verdict": "sour"}
        status, answer = await call("POST", f"{FLAVORS}/lime/taste", body)
        assert (status, answer["verdict"]) == (201, "jane: lime is sour")
        assert (await call("POST", f"{FLAVORS}/lime/taste", {**body, "kind": "Other"}))[0] == 400
        assert (await call("GET", f"{FLAVORS}/lime/taste"))[0] == 405
        assert (await call("POST", f"{FLAVORS}/none/taste", body))[0] == 404
        _, listed = await call("GET", f"/apis/{GROUP}/v1")
        entry = next(each for each in listed["resources"] if each["name"] == "flavors/taste")
        assert (entry["kind"], entry["verbs"]) == ("Tasting", ["create"])
