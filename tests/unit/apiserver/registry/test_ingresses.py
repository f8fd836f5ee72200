"""Ingresses and IngressClasses."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.apiserver._kit import MERGE, Asker
from tests.unit.apiserver.registry._tables import Row, cells_of, row_id

ROWS: list[Row] = [
    (
        ("networking.k8s.io", "v1", "ingressclasses"),
        {"spec": {"controller": "e.com/c", "parameters": {"apiGroup": "a.b", "kind": "P", "name": "p"}}},
        ["e.com/c", "P.a.b/p"],
    ),
]


@pytest.mark.parametrize(("place", "obj", "cells"), ROWS, ids=row_id)
def test_cells_of_a_row(place: tuple[str, str, str], obj: dict[str, Any], cells: list[Any]) -> None:
    """A row has the cells that kube-apiserver 1.36 shows for the object."""
    assert cells_of(place, obj) == cells


def test_the_annotation_of_a_new_ingress_names_its_class(ask: Asker) -> None:
    """A class in the old annotation and another one in the field are refused at creation, not later."""
    ingresses = "/apis/networking.k8s.io/v1/namespaces/default/ingresses"
    annotations = {"kubernetes.io/ingress.class": "b"}
    backend = {"service": {"name": "s", "port": {"number": 80}}}
    spec = {"defaultBackend": backend}
    made = {"metadata": {"name": "i", "annotations": annotations}, "spec": spec}

    code, refused = ask("POST", ingresses, {**made, "spec": {**spec, "ingressClassName": "a"}})
    assert (code, refused["details"]["causes"][0]["field"]) == (422, "annotations.kubernetes.io/ingress.class")
    assert ask("POST", ingresses, made)[0] == 201
    assert ask("PATCH", f"{ingresses}/i", {"spec": {"ingressClassName": "a"}}, headers=MERGE)[0] == 200
