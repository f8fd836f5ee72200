"""Endpoints and EndpointSlices."""

from __future__ import annotations

from tests.unit.apiserver._kit import Asker


def test_deprecated_kinds_say_so(ask: Asker) -> None:
    """A list of Endpoints has the deprecation warning."""
    answer = ask.answer("GET", "/api/v1/endpoints")

    told = '299 - "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"'
    assert ("Warning", told) in answer.headers


def test_an_unknown_type_of_patch_has_no_warning(ask: Asker) -> None:
    """A patch that no handler accepts gets 415 without the deprecation warning, which handlers add."""
    path, unknown = "/api/v1/namespaces/default/endpoints/a", {"Content-Type": "application/x"}
    answer = ask.answer("PATCH", path, {}, headers=unknown)

    assert (answer.status, [each for each in answer.headers if each[0] == "Warning"]) == (415, [])
