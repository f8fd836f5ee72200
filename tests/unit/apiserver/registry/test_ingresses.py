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
    (
        ("networking.k8s.io", "v1", "ingresses"),
        {"spec": {"rules": [{"host": "a.b"}, {}, {"host": "c.d"}, {"host": "e.f"}, {}]}},
        ["<none>", "a.b,c.d,e.f + 2 more...", "", "80"],
    ),
    (
        ("networking.k8s.io", "v1", "ingresses"),
        {"spec": {"rules": [{}, {"host": "a.b"}, {"host": "c.d"}, {"host": "e.f"}]}},
        ["<none>", "a.b,c.d,e.f", "", "80"],
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


def test_a_class_in_an_annotation_is_deprecated(ask: Asker) -> None:
    """A new Ingress gets a warning for the annotation if the field is not set."""
    ingress = {"metadata": {"name": "i", "annotations": {"kubernetes.io/ingress.class": "b"}}}
    spec = {"defaultBackend": {"service": {"name": "s", "port": {"number": 80}}}}
    path = "/apis/networking.k8s.io/v1/namespaces/default/ingresses"
    warnings = [
        value for name, value in ask.answer("POST", path, {**ingress, "spec": spec}).headers if name == "Warning"
    ]
    why = "is deprecated, please use 'spec.ingressClassName' instead"
    assert warnings == [f'299 - "annotation \\"kubernetes.io/ingress.class\\" {why}"']
