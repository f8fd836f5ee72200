"""Kubernetes' descriptions of the built-in kinds, at run time."""

from __future__ import annotations

import inspect
import pydoc
import subprocess
import sys

import pytest

from pyctrl.api import GroupVersionKind
from pyctrl.kinds import BUILTIN_KINDS
from pyctrl.kinds.apps.v1 import DeploymentSpec
from pyctrl.kinds.core.v1 import Container, Pod

IMAGE = "Container image name. More info: https://kubernetes.io/docs/concepts/containers/images"


class Sidecar(Container):
    """A user's container."""

    purpose: str = ""
    image: str | None = "sidecar:1"


def test_help_shows_the_text_of_each_field() -> None:
    """`help` shows the signature, Kubernetes' text of the class, and that of each field."""
    text = pydoc.plain(pydoc.render_doc(Container))
    assert "A single application container that you want to run within a pod." in text
    assert "image (str | None): Container image name." in text
    assert "ports (list[ContainerPort]): List of ports to expose" in text
    assert "Container(*, args: list[str] = []" in text


def test_the_docstring_of_a_class_is_its_text() -> None:
    """A docstring begins with Kubernetes' text, and can be replaced."""
    assert (inspect.getdoc(DeploymentSpec) or "").startswith("DeploymentSpec is the specification of the desired")
    assert Sidecar.__doc__ == "A user's container."
    Sidecar.__doc__ = "Another text."
    assert Sidecar.__doc__ == "Another text."


def test_fields_have_descriptions() -> None:
    """`model_fields` has Kubernetes' texts, also under names that differ on the wire."""
    assert (Container.model_fields["image"].description or "").startswith(IMAGE)
    assert (Container.model_fields["image_pull_policy"].description or "").startswith("Image pull policy.")
    assert (Pod.model_fields["spec"].description or "").startswith("Specification of the desired behavior of the pod.")


def test_a_subclass_keeps_the_descriptions() -> None:
    """A user's subclass has Kubernetes' texts for inherited fields, and none for its own."""
    assert (Sidecar.model_fields["name"].description or "").startswith("Name of the container")
    assert Sidecar.model_fields["purpose"].description is None


def test_the_json_schema_has_descriptions() -> None:
    """pydantic's JSON schema has the text of the class without its fields, and the texts of the fields."""
    schema = Container.model_json_schema()
    assert schema["description"] == "A single application container that you want to run within a pod."
    assert schema["properties"]["image"]["description"].startswith(IMAGE)
    assert schema["$defs"]["ContainerPort"]["properties"]["hostIP"]["description"].startswith("What host IP")
    assert "image" in Container.model_json_schema(by_alias=False)["properties"]


@pytest.mark.parametrize("gvk", list(BUILTIN_KINDS), ids=str)
def test_every_kind_is_described(gvk: GroupVersionKind) -> None:
    """Every built-in kind has a docstring and a description of each field."""
    cls = BUILTIN_KINDS[gvk].load(gvk.kind)
    assert "\n\nAttributes:\n" in (cls.__doc__ or "")
    assert all(info.description for name, info in cls.model_fields.items() if name != "metadata")


def test_no_program_reads_descriptions_unasked() -> None:
    """Importing, building, reading and writing a kind read no description: they cost nothing at run time."""
    code = """
import sys
from pyctrl.kinds.apps.v1 import Deployment
deployment = Deployment.from_wire({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"}})
deployment.spec.template.spec.node_name = "b"
repr(deployment), deployment.to_wire(), deployment.deep_copy()
print(*sys.modules)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"pyctrl.kinds._descriptions", "pyctrl._schemas", "gzip"} & {*run.stdout.split()}
