"""patch: resource versions as preconditions."""

from __future__ import annotations

from tests.unit.apiserver._kit import CONFIGMAPS, MERGE, Asker


def test_a_patch_may_carry_the_version_it_is_for(ask: Asker) -> None:
    """A resourceVersion in a patch is a precondition (optimistic locking)."""
    old = ask.make("a")["metadata"]["resourceVersion"]
    patch = {"metadata": {"resourceVersion": old}, "data": {"k": "1"}}
    assert ask("PATCH", f"{CONFIGMAPS}/a", patch, headers=MERGE)[0] == 200
    assert ask("PATCH", f"{CONFIGMAPS}/a", patch, headers=MERGE)[0] == 409
