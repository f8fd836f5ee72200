"""Evictions of pods."""

from __future__ import annotations

from typing import Any

import pytest

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


@pytest.mark.parametrize(
    ("options", "query", "code", "why"),
    [
        ({"preconditions": {"uid": ""}}, {}, 409, "the UID in the precondition () does not match"),
        ({"propagationPolicy": ""}, {}, 422, 'propagationPolicy: Unsupported value: ""'),
        (
            {"dryRun": ["Some"]},
            {"dryRun": "All"},
            500,
            "Non-matching dry-run options in request and content: [All] and [Some]",
        ),
        ({"ignoreStoreReadErrorWithClusterBreakingPotential": True}, {}, 422, "can not be set for pod eviction"),
    ],
)
def test_the_options_of_an_eviction_are_checked(
    ask: Asker, options: dict[str, Any], query: dict[str, Any], code: int, why: str
) -> None:
    """An empty uid is one that no pod has, and a dry run is not another than that of the request."""
    ask("POST", PODS, pod())
    found, refused = ask("POST", f"{PODS}/p/eviction", {"metadata": {"name": "p"}, "deleteOptions": options}, **query)
    assert (found, why in refused["message"]) == (code, True), refused
