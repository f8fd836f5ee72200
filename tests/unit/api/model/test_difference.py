"""The difference of two states of a model is that of their documents, and decodes only what was read."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from pyctrl.api import KubernetesObject, Metadata, decode, merge_patch_diff, model_diff
from pyctrl.api._model.pending import PENDING, own_dict
from pyctrl.kinds.apps.v1 import Deployment
from pyctrl.kinds.core.v1 import Secret

WIRE: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {
        "name": "web",
        "namespace": "default",
        "uid": "u",
        "resourceVersion": "5",
        "labels": {"app": "web"},
        "annotations": {"note": "x" * 600},
        "unknown": {"deep": [1]},
    },
    "spec": {
        "replicas": 1,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "c", "image": "i", "args": ["y" * 600], "future": True}]},
        },
    },
    "status": {"replicas": 1, "conditions": [{"type": "Available", "status": "True"}]},
}


def deployment() -> Deployment:
    """Return a Deployment of which nothing is decoded."""
    return decode(Deployment, msgspec.json.encode(WIRE), lazily=True)


def relabel(obj: Deployment) -> None:
    obj.metadata.labels["app"] = "new"


def drop_label(obj: Deployment) -> None:
    del obj.metadata.labels["app"]


def scale(obj: Deployment) -> None:
    obj.spec.replicas = 3


def unset(obj: Deployment) -> None:
    obj.spec.replicas = None


def finalize(obj: Deployment) -> None:
    obj.metadata.finalizers.append("example.com/f")


def replace_status(obj: Deployment) -> None:
    obj.status = type(obj.status)(replicas=2)


def change_image(obj: Deployment) -> None:
    obj.spec.template.spec.containers[0].image = "other"


def only_read(obj: Deployment) -> None:
    assert obj.spec.template.spec.containers
    assert obj.metadata.labels


def change_unknown(obj: Deployment) -> None:
    obj.metadata.unknown["deep"] = [2]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "change",
    [relabel, drop_label, scale, unset, finalize, replace_status, change_image, only_read, change_unknown],
)
@pytest.mark.parametrize("is_read_before", [False, True])
def test_the_patch_is_that_of_the_documents(change: Any, is_read_before: bool) -> None:
    """The patch is the difference of the whole documents, whether they were decoded before or not."""
    obj = deployment()
    if is_read_before:
        only_read(obj)
    before = obj.deep_copy()
    change(obj)
    found = model_diff(before, obj)
    assert found == merge_patch_diff(before.to_wire(), obj.to_wire())
    assert bool(found) is (change is not only_read)


def test_what_was_not_read_stays_undecoded() -> None:
    """A patch of a label decodes neither spec nor status."""
    obj = deployment()
    before = obj.deep_copy()
    relabel(obj)
    assert model_diff(before, obj) == {"metadata": {"labels": {"app": "new"}}}
    assert PENDING in own_dict(obj)
    assert "spec" not in own_dict(obj)
    assert "spec" not in own_dict(before)


def test_objects_that_were_read_separately_are_compared_as_a_whole() -> None:
    """Two reads of an object share nothing, so their documents are compared."""
    before, after = deployment(), deployment()
    scale(after)
    assert model_diff(before, after) == {"spec": {"replicas": 3}}


def test_hidden_values_are_compared() -> None:
    """Changes of a Secret are found, although its values are hidden elsewhere."""
    wire = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"a": "MQ==", "b": "Mg=="}}
    secret: KubernetesObject = decode(Secret, msgspec.json.encode(wire), lazily=True)
    before = secret.deep_copy()
    assert isinstance(secret, Secret)
    secret.data["a"] = "Mw=="
    assert model_diff(before, secret) == {"data": {"a": "Mw=="}}


def test_metadata_alone_is_compared() -> None:
    """A view of the metadata has the changes of the metadata."""
    kind = Metadata.of(Deployment.gvk)
    view = decode(kind, msgspec.json.encode(WIRE), lazily=True)
    before = view.deep_copy()
    view.metadata.labels["app"] = "new"
    assert model_diff(before, view) == {"metadata": {"labels": {"app": "new"}}}
