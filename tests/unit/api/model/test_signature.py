"""Signatures of models, which help() and editors show."""

from __future__ import annotations

import inspect
import pydoc
from typing import Any

from pydantic import Field

from pyctrl.api import CustomResource, Model, ObjectMeta
from pyctrl.kinds.core.v1 import Container, ContainerPort


class DiskSpec(Model):
    """A user's spec."""

    size_gib: int
    storage_class: str = "fast"
    zones: list[str] = Field(default_factory=list)
    labels: dict[str, str] = Field(default_factory=lambda: {"tier": "db"})


class Disk(CustomResource[DiskSpec], group="storage.example.com", version="v1"):
    """A user's kind."""


class Counted(Model):
    """A model whose constructor has a parameter of its own."""

    size: int
    name: str = ""

    def __init__(self, size: int, **fields: Any) -> None:
        super().__init__(size=size, **fields)


class Fixed(Model):
    """A model whose constructor takes no fields."""

    size: int

    def __init__(self, first: int, *parts: int) -> None:
        super().__init__(size=first + sum(parts))


def test_a_model_shows_its_fields() -> None:
    """A user's model shows its fields in Python's names, with types and defaults, and not `**extra_data`."""
    assert str(inspect.signature(DiskSpec)) == (
        "(*, size_gib: int, storage_class: str = 'fast', zones: list[str] = [], "
        "labels: dict[str, str] = <factory>) -> None"
    )


def test_a_custom_resource_shows_spec_and_status() -> None:
    """A custom resource shows its own spec and status before and after pydantic has built it."""
    before = inspect.signature(Disk).parameters
    Disk(spec=DiskSpec(size_gib=3))
    after = inspect.signature(Disk).parameters
    assert list(before) == list(after) == ["api_version", "kind", "metadata", "spec", "status"]
    assert before["spec"].annotation is after["spec"].annotation is DiskSpec
    assert before["spec"].default is inspect.Parameter.empty
    assert before["metadata"].annotation is ObjectMeta
    assert repr(after["metadata"].default) == "ObjectMeta()"


def test_built_in_kinds_show_their_fields() -> None:
    """A built-in kind shows all of its fields, also before its first use."""
    parameters = inspect.signature(Container).parameters
    assert {"image", "image_pull_policy", "ports"} <= parameters.keys()
    assert parameters["ports"].annotation == list[ContainerPort]
    assert all(each.kind is inspect.Parameter.KEYWORD_ONLY for each in parameters.values())


def test_a_constructor_of_a_users_own_is_shown() -> None:
    """The parameters of a constructor come first; fields follow if it takes them."""
    assert list(inspect.signature(Counted).parameters) == ["size", "name"]
    assert inspect.signature(Counted).parameters["size"].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    assert list(inspect.signature(Fixed).parameters) == ["first"]


def test_help_begins_with_the_signature() -> None:
    """`help` shows the signature of a model."""
    assert "DiskSpec(*, size_gib: int, storage_class: str = 'fast'" in pydoc.plain(pydoc.render_doc(DiskSpec))
