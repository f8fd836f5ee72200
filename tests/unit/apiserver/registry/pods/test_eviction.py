"""Evictions of pods."""

from __future__ import annotations

from tests.unit.apiserver._kit import Asker
from tests.unit.apiserver._objects import pod

PODS = "/api/v1/namespaces/default/pods"


def test_an_eviction_deletes_the_pod(ask: Asker) -> None:
    """An Eviction deletes its pod."""
    ask("POST", PODS, pod())
    assert ask("POST", f"{PODS}/p/eviction", {"metadata": {"name": "p"}})[0] == 201
    assert ask("GET", f"{PODS}/p")[0] == 404
