"""Objects with known names, decoded lazily as in the cache, behave like eagerly decoded ones."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples.podset.podset import PodSet
from pyctrl.api import CustomResource, Metadata, Model, ObjectMeta, decode_known
from pyctrl.errors import DecodeError
from tests.unit.api.test_lazy_decoding import (
    GAUGE,
    LONG,
    METADATA,
    Gauge,
    GaugeSpec,
    GaugeStatus,
    extend_metadata,
    known,
)

Step = Callable[[Any], Any]

HEAD = {"apiVersion": "test.example.com/v1", "kind": "Gauge"}
SPECS = [GAUGE, {"image": "short"}, {**GAUGE, "env": None}, {**GAUGE, "nested": {"name": "n", "odd": [None]}}]
WRONG_SPECS = [{**GAUGE, "replicas": -1}, {"replicas": 1}, "text", None]
STATUSES = [{"phase": "Up"}, {"phase": LONG, "conditions": [{"type": "A", "status": "True", "odd": 1}]}, None, {}]


@st.composite
def documents(draw: st.DrawFn, specs: list[Any] = SPECS) -> dict[str, Any]:
    """Generate an object with typical fields, and nulls where a server leaves them."""
    names = draw(st.sets(st.sampled_from(sorted(METADATA.keys() - {"name"}))))
    nulls = draw(
        st.sets(st.sampled_from(["labels", "creationTimestamp", "namespace", "uid", "finalizers"]), max_size=2)
    )
    metadata = {"name": "a", **{name: METADATA[name] for name in sorted(names)}, **dict.fromkeys(sorted(nulls))}
    parts: dict[str, Any] = {"metadata": metadata, "spec": draw(st.sampled_from(specs))}
    if draw(st.booleans()):
        parts["status"] = draw(st.sampled_from(STATUSES))
    if draw(st.booleans()):
        parts["extra"] = draw(st.sampled_from([None, {"a": [None, 1]}]))
    head = draw(st.sampled_from([HEAD, dict(reversed(HEAD.items())), {}]))
    return {**head, **parts}


def looks(path: str) -> Step:
    """Return a step that accesses a field."""

    def look(obj: Any) -> Any:
        value = obj
        for name in path.split("."):
            value = getattr(value, name, "nothing")
        return value.to_wire() if isinstance(value, Model) else copy.deepcopy(value)

    look.__name__ = path
    return look


def annotate_what_was_held(obj: Any) -> None:
    """Change a metadata object held while everything else was decoded."""
    metadata = obj.metadata
    obj.model_dump()
    metadata.annotations["held"] = "1"


def rename(obj: Any) -> None:
    obj.metadata.name = "b"


def relabel(obj: Any) -> None:
    obj.metadata.labels["new"] = "1"


def change_the_status(obj: Any) -> None:
    obj.status.phase = "changed"


def take_the_metadata_of_a_copy(obj: Any) -> None:
    obj.metadata = obj.deep_copy().metadata


PATHS = [
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "metadata.labels",
    "metadata.generation",
    "metadata.managed_fields",
    "metadata.unknown",
    "metadata.nothing",
    "metadata",
    "spec",
    "spec.image",
    "spec.env",
    "spec.odd",
    "status.phase",
    "status",
    "extra",
    "kind",
    "key",
    "model_fields_set",
    "model_extra",
    "metadata.model_fields_set",
    "metadata.model_extra",
]
CHANGES = [
    annotate_what_was_held,
    rename,
    relabel,
    extend_metadata,
    change_the_status,
    take_the_metadata_of_a_copy,
]
COPIES: dict[str, Step] = {
    "deep_copy": lambda obj: obj.deep_copy(),
    "copy": copy.copy,
    "pickle": lambda obj: pickle.loads(pickle.dumps(obj)),
    "model_copy": lambda obj: obj.model_copy(deep=True),
}
STEPS: list[Step | str] = [*map(looks, PATHS), *CHANGES, *COPIES]


def encoded(document: dict[str, Any]) -> bytes:
    """Encode an object as a server does."""
    return json.dumps(document, separators=(",", ":")).encode()


def shown(obj: Any) -> list[Any]:
    """Return all visible content of an object."""
    parts = [obj, obj.metadata, obj.spec, obj.status]
    return [
        *((part.model_fields_set, part.model_extra, list(vars(part)), repr(part)) for part in parts),
        obj.model_dump(),
        obj.to_wire(),
        obj.to_json(),
    ]


@given(documents(), st.lists(st.sampled_from(STEPS), max_size=6))
def test_no_row_of_looks_and_changes_tells_the_difference(document: dict[str, Any], steps: list[Step | str]) -> None:
    """After any accesses and changes, lazy and eager objects give the same results."""
    data = encoded(document)
    eager: Any = Gauge.from_wire(data)
    lazy = known(Gauge, data)
    for step in steps:
        if isinstance(step, str):
            eager, lazy = COPIES[step](eager), COPIES[step](lazy)
        else:
            assert step(lazy) == step(eager)
    assert shown(lazy) == shown(eager)
    assert lazy == eager


@given(documents(WRONG_SPECS))
def test_what_is_wrong_is_told_when_it_is_needed(document: dict[str, Any]) -> None:
    """The names of an object with an invalid spec are readable; every use of the spec raises the same error."""
    data = encoded(document)
    with pytest.raises(DecodeError) as at_once:
        Gauge.from_wire(data)
    lazy = known(Gauge, data)
    assert (lazy.metadata.name, lazy.metadata.namespace) == ("a", document["metadata"].get("namespace") or "")
    needs: list[Step] = [lambda obj: obj.to_json(), lambda obj: obj.spec.to_wire(), lambda obj: obj.model_dump()]
    for look in needs * 2:
        with pytest.raises(DecodeError) as later:
            look(lazy)
        assert str(later.value).rpartition(" - at ")[2] == str(at_once.value).rpartition(" - at ")[2]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b'{"metadata":{"name":"a"},"spec":{"size":1},"kind":"Pod","apiVersion":"v1"}', "got v1, Kind=Pod"),
        (b'{"metadata":{"name":"a"},"spec":{"si', "PodSet:"),
        (b'{"metadata":{"name":"a"}}', "PodSet: Field required"),
        (b'{"metadata":{"name":"a"},"spec":null}', "PodSet: Field required"),
    ],
)
def test_what_is_wrong_with_the_whole_is_told_where_something_is_looked_at(data: bytes, words: str) -> None:
    """Another kind, truncated JSON, or a missing part raises an error on the first access."""
    needs: list[Step] = [lambda obj: obj.metadata.labels, lambda obj: obj.spec, lambda obj: obj.to_json()]
    for look in needs:
        obj: Any = decode_known(PodSet, data, "a", "", "")
        assert (str(obj.key), obj.metadata.uid) == ("a", "")
        with pytest.raises(DecodeError) as error:
            look(obj)
        assert words in str(error.value)


def test_another_kind_is_an_error_of_the_read() -> None:
    """Another kind raises an error on decoding if the JSON starts with the kind, as from a server."""
    with pytest.raises(DecodeError, match="got v1, Kind=Pod"):
        decode_known(PodSet, b'{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"},"spec":{"size":1}}', "a", "", "")


def test_the_view_of_metadata_takes_an_object_of_any_kind() -> None:
    """A metadata view accepts PartialObjectMetadata, the kind of metadata-only responses."""
    data = b'{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"a","labels":{"b":"c"}}}'
    view = decode_known(Metadata[PodSet], data, "a", "", "")
    assert (view.metadata.name, view.metadata.labels) == ("a", {"b": "c"})
    assert view == Metadata[PodSet].from_wire(data)


def test_metadata_of_another_class_is_read_as_ever() -> None:
    """An object with its own metadata class is decoded with that class."""

    class Named(ObjectMeta):
        name: str = "nobody"

    class Own(CustomResource[GaugeSpec, GaugeStatus], group="test.example.com", version="v1", kind="Gauge"):
        metadata: Named

    data = encoded({**HEAD, "metadata": METADATA, "spec": GAUGE})
    assert isinstance(decode_known(Own, data, "a", "default", "1-2").metadata, Named)
    assert decode_known(Own, data, "a", "default", "1-2") == Own.from_wire(data)
