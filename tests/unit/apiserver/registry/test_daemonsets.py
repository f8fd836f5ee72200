"""DaemonSets: defaults, template generation, validation."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver import ResourceRegistry
from pyctrl.apiserver._errors import StatusError
from tests.unit.apiserver._kit import Asker
from tests.unit.apiserver._objects import complaints, create, update


def made(**fields: Any) -> dict[str, Any]:
    """Return an object of the kind."""
    valid: dict[str, Any] = {
        "spec": {
            "selector": {"matchLabels": {"app": "d"}},
            "template": {"metadata": {"labels": {"app": "d"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
        }
    }
    return {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "a"}, **valid, **fields}


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        (
            {
                "spec": {
                    "selector": {"matchLabels": {"app": "x"}},
                    "template": {
                        "metadata": {"labels": {"app": "d"}},
                        "spec": {"containers": [{"name": "c", "image": "i"}]},
                    },
                }
            },
            'spec.template.metadata.labels: Invalid value: {"app":"d"}: `selector` does not match template',
        ),
    ],
)
def test_invalid_fields_are_refused(fields: dict[str, Any], complaint: str) -> None:
    """The error names the field, in kube-apiserver's words."""
    with pytest.raises(StatusError) as refused:
        create(ResourceRegistry(), made(**fields))
    assert complaints(refused.value)[0].startswith(complaint)


def test_updates_are_rolled_out_one_node_at_a_time_by_default() -> None:
    """With maxSurge set, maxUnavailable defaults to zero."""
    registry = ResourceRegistry()
    created, _ = create(registry, made())
    assert created["spec"]["updateStrategy"] == {
        "type": "RollingUpdate",
        "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0},
    }
    surging = {**made()["spec"], "updateStrategy": {"rollingUpdate": {"maxSurge": 1}}}
    assert create(registry, made(spec=surging))[0]["spec"]["updateStrategy"]["rollingUpdate"] == {
        "maxUnavailable": 0,
        "maxSurge": 1,
    }


def test_changes_of_the_template_are_counted() -> None:
    """The deprecated annotation counts templates, not other changes."""
    registry = ResourceRegistry()
    created, _ = create(registry, made())
    generation = "deprecated.daemonset.template.generation"
    assert created["metadata"]["annotations"][generation] == "1"
    slower = update(registry, made(spec={**made()["spec"], "minReadySeconds": 5}), created)
    assert (slower["metadata"]["annotations"][generation], slower["metadata"]["generation"]) == ("1", 2)
    spec = made()["spec"]
    spec["template"]["spec"]["containers"][0]["image"] = "j"
    assert update(registry, made(spec=spec), created)["metadata"]["annotations"][generation] == "2"


def test_the_creator_owns_the_template_generation(ask: Asker) -> None:
    """The deprecated annotation belongs to the creator of a DaemonSet, because it is a field in upstream's type."""
    code, created = ask("POST", "/apis/apps/v1/namespaces/default/daemonsets", made())
    assert (code, created["metadata"]["annotations"]) == (201, {"deprecated.daemonset.template.generation": "1"})
    owned = created["metadata"]["managedFields"][0]["fieldsV1"]["f:metadata"]["f:annotations"]
    assert owned == {".": {}, "f:deprecated.daemonset.template.generation": {}}


def test_only_the_metadata_of_daemonsets_lack_the_template_generation() -> None:
    """`PartialObjectMetadata` of a daemon set has no deprecated annotation; that of another kind keeps it."""
    ask, form = Asker(), {"Accept": "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"}
    annotations = {"deprecated.daemonset.template.generation": "1", "a": "b"}
    revision = {"metadata": {"name": "r", "annotations": annotations}, "data": {"x": 1}, "revision": 1}
    path = "/apis/apps/v1/namespaces/default"
    ask("POST", f"{path}/daemonsets", made())
    ask("POST", f"{path}/controllerrevisions", revision)
    assert "annotations" not in ask("GET", f"{path}/daemonsets/a", headers=form)[1]["metadata"]
    assert ask("GET", f"{path}/controllerrevisions/r", headers=form)[1]["metadata"]["annotations"] == annotations
