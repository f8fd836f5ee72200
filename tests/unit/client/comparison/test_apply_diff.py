"""Apply diff: its result without a request, compared with what the server does."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyctrl import _clock
from pyctrl.api import Unstructured
from pyctrl.apiserver import ApiServer
from pyctrl.client import Client, InProcessTransport, MergePatch, OperationResult
from pyctrl.client._comparison.apply_diff import first_difference
from pyctrl.errors import ApiError, Conflict
from tests.unit.client.comparison._desired import DEFINITION, KINDS, MEDDLING

NOW = datetime(2026, 1, 1, tzinfo=UTC)
VERDICTS = {
    # the matcher finds no difference, the server changes nothing
    (True, True): "settled",
    (True, False): "wrong",
    (False, True): "needless",
    (False, False): "changed",
}


def difference(desired: dict[str, Any], live: Unstructured) -> str | None:
    """Return the path of the first difference."""
    wanted = Unstructured.from_wire(desired)
    return first_difference(wanted.gvk, desired, live.to_wire(), field_owner="me", has_status=True)


async def meddle(client: Client, other: dict[str, Any], meddling: Any) -> None:
    """Write as another client."""
    match meddling:
        case ("patch", labels):
            patch = MergePatch({"metadata": {"labels": labels}})
            await client.patch(Unstructured.from_wire(other), patch, field_owner="another-manager")
        case ("apply", force):
            await client.apply(other, field_owner="another-manager", force=force)


async def compare(
    client: Client, first: dict[str, Any], second: dict[str, Any], other: dict[str, Any], meddling: Any
) -> str:
    """Apply one object, write as another client, and return the diff of a second object and the server's result."""
    obj = Unstructured.from_wire(first)
    try:
        await client.apply(first, field_owner="me")
    except ApiError:
        return "invalid"
    with contextlib.suppress(ApiError):
        await meddle(client, other, meddling)
    live = await client.get(obj.gvk, obj.key)
    said = difference(second, live)
    try:
        answer = await client.apply(second, field_owner="me")
    except ApiError:
        return "refused" if said is not None else "wrong"
    is_same = answer.metadata.resource_version == live.metadata.resource_version
    try:
        # An apply may need a second one. After an apply of an empty list of keyed items a manager owns nothing:
        # kube-apiserver first prunes the manager's former fields, and then treats the object as never applied.
        *_, last, again = [(await client.create_or_apply(second, field_owner="me")).result for _ in range(4)]
    except Conflict:  # a server may reject its previous result: empty labels that another manager applies as well
        with pytest.raises(Conflict):
            await client.apply(second, field_owner="me")
        return "refused"
    assert (last, again) == (OperationResult.NONE, OperationResult.NONE)
    return VERDICTS[said is None, is_same]


def renamed(document: dict[str, Any], name: str) -> dict[str, Any]:
    """Rename an object: the examples share a server."""
    return {**document, "metadata": {**document["metadata"], "name": name}}


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_never_wrong(kind: str) -> None:
    """An apply without difference changes nothing, and a difference is rarely found where an apply changes nothing."""
    counts: Counter[str] = Counter()
    numbers = itertools.count()

    # The clock is frozen: a manager that applies empty annotations is recorded last in the next second, and
    # kube-apiserver sees a change of order. The examples are fixed, since the number of needless applies varies.
    with _clock.use(lambda: NOW), asyncio.Runner() as runner:
        client = Client(InProcessTransport(ApiServer()))
        runner.run(client.apply(DEFINITION))

        @settings(max_examples=100, derandomize=True)
        @given(st.data())
        def examine(data: st.DataObject) -> None:
            first, other = data.draw(KINDS[kind]), data.draw(KINDS[kind])
            second = data.draw(st.sampled_from([first, first, other]) | KINDS[kind])
            name = f"a{next(numbers)}"
            one, two, three = (renamed(each, name) for each in (first, second, other))
            verdict = runner.run(compare(client, one, two, three, data.draw(MEDDLING)))
            counts[verdict] += 1
            assert verdict != "wrong"

        examine()
    assert counts["settled"] > counts["needless"], counts


CONFIG: dict[str, Any] = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default"}}


async def test_an_item_that_is_no_longer_stated() -> None:
    """Removing a finalizer or container port is a difference, although all remaining items exist."""
    client = Client(InProcessTransport(ApiServer()))
    both = {**CONFIG, "metadata": {**CONFIG["metadata"], "finalizers": ["demo.test/a", "demo.test/b"]}}
    one = {**CONFIG, "metadata": {**CONFIG["metadata"], "finalizers": ["demo.test/a"]}}

    live = await client.apply(both, field_owner="me")

    assert difference(both, live) is None
    assert difference(one, live) == "metadata.finalizers"


async def test_an_owner_of_object_and_status() -> None:
    """An apply is compared with the fields of the object that its owner has, not with those of its status."""
    client = Client(InProcessTransport(ApiServer()))
    metadata = {"name": "a", "namespace": "default"}
    head = {"apiVersion": "v1", "kind": "Service", "metadata": metadata}
    wanted = {**head, "spec": {"ports": [{"port": 80}]}}
    ready = {"type": "Ready", "status": "True", "reason": "Ok", "message": ""}
    status = {**head, "status": {"conditions": [ready | {"lastTransitionTime": "2026-01-01T00:00:00Z"}]}}
    await client.apply(wanted, field_owner="me")
    await client.status.apply(status, field_owner="me")
    later = _clock.now() + timedelta(seconds=2)
    with _clock.use(lambda: later):  # entries are ordered by time
        live = await client.apply({**wanted, "spec": {"ports": [{"port": 81}]}}, field_owner="me")

    assert [entry.get("subresource") for entry in live.metadata.managed_fields] == ["status", None]
    assert difference({**wanted, "spec": {"ports": [{"port": 81}]}}, live) is None
    assert difference(wanted, live) == "spec.ports"


async def test_fields_that_the_owner_has_updated_are_not_applied() -> None:
    """What a client of the same name has written with updates is not owned by its applies."""
    client = Client(InProcessTransport(ApiServer()))
    wanted = {**CONFIG, "data": {"k": "v"}}
    live = await client.create(Unstructured.from_wire(wanted), field_owner="me")
    assert difference(wanted, live) == "data"

    both = await client.apply(wanted, field_owner="me")
    assert {entry["operation"] for entry in both.metadata.managed_fields} == {"Apply", "Update"}
    assert difference(wanted, both) is None
    assert difference({**CONFIG, "data": {}}, both) == "data.k"


async def test_an_object_of_another_uid_or_version_is_a_difference() -> None:
    """An apply that names a uid or a version is sent unless it is the object's, because the server compares them."""
    client = Client(InProcessTransport(ApiServer()))
    live = await client.apply({**CONFIG, "data": {"k": "v"}}, field_owner="me")
    for name, value in (("uid", live.metadata.uid), ("resourceVersion", live.metadata.resource_version)):
        named = {**CONFIG, "data": {"k": "v"}, "metadata": {**CONFIG["metadata"], name: value}}
        assert difference(named, live) is None
        named["metadata"][name] = "1"
        assert difference(named, live) == f"metadata.{name}"
