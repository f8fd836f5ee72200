"""Endpoints and EndpointSlices."""

from __future__ import annotations

from tests.unit.apiserver._kit import Asker


def test_deprecated_kinds_say_so(ask: Asker) -> None:
    """A list of Endpoints has the deprecation warning."""
    answer = ask.answer("GET", "/api/v1/endpoints")

    told = '299 - "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"'
    assert ("Warning", told) in answer.headers
