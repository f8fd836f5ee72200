"""Marks of objects that are being deleted."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver._resources.deletion_strategy import DeletionOutcome, mark_deleted


@pytest.mark.virtual_time
async def test_an_object_is_marked_once() -> None:
    """The first delete sets the time, with the grace period, and the generation; a second one changes nothing."""
    metadata: dict[str, Any] = {"name": "a", "generation": 2}
    assert mark_deleted(metadata, 30) is DeletionOutcome.MARKED
    assert metadata["deletionTimestamp"] == "2026-01-01T00:00:30Z"
    assert (metadata["deletionGracePeriodSeconds"], metadata["generation"]) == (30, 3)
    before = dict(metadata)
    assert mark_deleted(metadata, 5) is DeletionOutcome.MARKED
    assert metadata == before


@pytest.mark.virtual_time
async def test_a_kind_without_grace_periods_has_none() -> None:
    """An object of a kind without grace periods is marked with the time only."""
    metadata: dict[str, Any] = {"name": "a"}
    mark_deleted(metadata, None)
    assert metadata == {"name": "a", "deletionTimestamp": "2026-01-01T00:00:00Z"}
