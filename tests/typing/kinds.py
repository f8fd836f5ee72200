"""Constructors and fields of built-in kinds, as type checkers see them. Checked by mypy and pyright, never run."""

from __future__ import annotations

from typing import assert_type

from pyctrl.api import CustomResource, Model, ObjectMeta
from pyctrl.kinds.apps.v1 import Deployment, DeploymentSpec
from pyctrl.kinds.core.v1 import Container, ContainerPort, ResourceRequirements


class DiskSpec(Model):
    """A user's spec."""

    size_gib: int


class Disk(CustomResource[DiskSpec], group="storage.example.com", version="v1"):
    """A user's kind."""


def keywords_have_types() -> None:
    """Fields are keyword arguments, and each has a type."""
    container = Container(name="web", image="web:1", ports=[ContainerPort(container_port=80)])
    assert_type(container.image, str | None)
    assert_type(container.resources, ResourceRequirements)
    assert_type(Deployment(spec=DeploymentSpec(replicas=3)).spec.replicas, int | None)
    assert_type(Disk(metadata=ObjectMeta(name="a"), spec=DiskSpec(size_gib=3)).spec, DiskSpec)


def wrong_keywords_are_errors() -> None:
    """A misspelt field, its name on the wire, a value of another type and positional values are errors."""
    Container(imagee="web:1")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    Container(imagePullPolicy="Always")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    Container(image=1)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    Container("web")  # type: ignore[call-arg, arg-type]  # pyright: ignore[reportCallIssue]
    DiskSpec(size=3)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    Disk(spec=DiskSpec(size_gib=3), replicas=1)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]


def wrong_fields_are_errors(container: Container) -> None:
    """A misspelt field is an error where it is read and where it is set."""
    assert container.imagee  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
    container.imagee = "web:1"  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
