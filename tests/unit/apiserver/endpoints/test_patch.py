"""patch: resource versions as preconditions."""

from __future__ import annotations

import asyncio

import pytest

from tests.unit.apiserver._kit import CONFIGMAPS, MERGE, Asker


def test_a_patch_may_carry_the_version_it_is_for(ask: Asker) -> None:
    """A resourceVersion in a patch is a precondition (optimistic locking)."""
    old = ask.make("a")["metadata"]["resourceVersion"]
    patch = {"metadata": {"resourceVersion": old}, "data": {"k": "1"}}
    assert ask("PATCH", f"{CONFIGMAPS}/a", patch, headers=MERGE)[0] == 200
    assert ask("PATCH", f"{CONFIGMAPS}/a", patch, headers=MERGE)[0] == 409


APPLY = {"Content-Type": "application/apply-patch+yaml"}


async def test_an_apply_that_changes_nothing_keeps_the_version(ask: Asker) -> None:
    """A controller that applies the same configuration again and again causes neither versions nor events."""
    applied = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"k": "v"}}
    code, first = ask("PATCH", f"{CONFIGMAPS}/a", applied, headers=APPLY, fieldManager="m")
    assert code == 201
    await asyncio.sleep(2)
    assert ask("PATCH", f"{CONFIGMAPS}/a", applied, headers=APPLY, fieldManager="m") == (200, first)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"kind": "ConfigMap"}, "invalid object type: /, Kind=ConfigMap"),
        ({"apiVersion": "apps/v1", "kind": "ConfigMap"}, "invalid object type: apps/v1, Kind=ConfigMap"),
        ({"apiVersion": "v1", "kind": "Secret"}, "invalid object type: /v1, Kind=Secret"),
        (
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"managedFields": []}},
            "metadata.managedFields must be nil",
        ),
    ],
)
def test_an_apply_names_its_kind(ask: Asker, body: dict[str, object], message: str) -> None:
    """An apply without its group, version and kind, or with managed fields, is refused."""
    code, status = ask("PATCH", f"{CONFIGMAPS}/a", body, headers=APPLY, fieldManager="me")
    assert (code, status["message"]) == (400, message)
