"""Evictions of pods."""

from __future__ import annotations

from pyctrl.apiserver import ApiServer
from tests.unit.apiserver._kit import Asker
from tests.unit.apiserver._objects import pod

PODS = "/api/v1/namespaces/default/pods"


def test_an_eviction_deletes_the_pod(ask: Asker) -> None:
    """An Eviction deletes its pod."""
    ask("POST", PODS, pod())
    assert ask("POST", f"{PODS}/p/eviction", {"metadata": {"name": "p"}})[0] == 201
    assert ask("GET", f"{PODS}/p")[0] == 404


def test_an_eviction_names_its_pod() -> None:
    """An Eviction without the name of the pod in the URL is refused before the pod is looked up."""
    path = "/api/v1/namespaces/default/pods/p/eviction"
    for body, code in ((b"{}", 400), (b'{"metadata": {"name": "other"}}', 400), (b'{"metadata": {"name": "p"}}', 404)):
        assert ApiServer().handle_nowait("POST", path, body=body).status == code
