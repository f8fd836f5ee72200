"""Changes reported by an informer: their keys, and objects decoded on demand."""

from __future__ import annotations

import pytest

from pyctrl.api import Key
from pyctrl.cache import Created, Deleted, Updated
from pyctrl.kinds.core.v1 import ConfigMap
from tests.unit.cache._kit import record

OLD, NEW = record("a", 1, data={"k": "old"}), record("a", 2, data={"k": "new"})


@pytest.mark.parametrize(
    ("change", "value"), [(Created(NEW), "new"), (Updated(OLD, NEW), "new"), (Deleted(OLD), "old")]
)
def test_a_change_decodes_its_newest_state(change: Created | Updated | Deleted, value: str) -> None:
    """A change decodes to the current state, or to the last known state of a deleted object."""
    assert change.key == Key("default", "a")
    assert change.decode(ConfigMap).data == {"k": value}


def test_an_update_decodes_the_state_before() -> None:
    """An update gives both the old and the new state."""
    assert Updated(OLD, NEW).decode_old(ConfigMap).data == {"k": "old"}


def test_each_decode_is_a_fresh_object() -> None:
    """Changing a decoded object does not affect the next reader."""
    change = Created(NEW)
    change.decode(ConfigMap).data["k"] = "mine"
    assert change.decode(ConfigMap).data == {"k": "new"}
