"""Kinds, markers and definitions, as type checkers see them. Checked by mypy and pyright, never run."""

from __future__ import annotations

from datetime import timedelta
from types import ModuleType
from typing import Annotated, Any, assert_type

from pydantic import Field

from pyctrl import (
    AGE,
    CustomResource,
    Duration,
    ExactlyOneOf,
    ListType,
    Model,
    PrinterColumn,
    ScaleSubresource,
    ValidationRule,
)
from pyctrl.client import Client
from pyctrl.manager import Manager
from pyctrl.manifests import (
    check_definition,
    definition,
    json_schema,
    json_schema_index,
    json_schema_path,
)
from pyctrl.program import definitions, install_definitions
from pyctrl.testing import InstallKinds


class Part(Model, marks=(ExactlyOneOf("a", "b"),)):
    a: str | None = None
    b: str | None = None


class Spec(Model, marks=(ValidationRule("self.replicas > 0"),)):
    replicas: int = Field(1, ge=0)
    timeout: Duration = timedelta(seconds=5)
    parts: Annotated[list[Part], ListType("atomic")] = []


class V1(
    CustomResource[Spec],
    group="a.pyctrl.test",
    version="v1",
    kind="Thing",
    columns=(PrinterColumn("Replicas", ".spec.replicas"), AGE),
    scale=ScaleSubresource(),
    selectable_fields=(".spec.color",),
    deprecated="use v2",
):
    pass


class V2(CustomResource[Spec], group="a.pyctrl.test", version="v2", kind="Thing", stored=True):
    pass


def a_field_with_marks_has_its_type(thing: V1) -> None:
    assert_type(thing.spec.timeout, timedelta)
    assert_type(thing.spec.parts, list[Part])


def a_definition_is_json() -> None:
    assert_type(definition(V1), dict[str, Any])
    assert_type(definition(V1, V2, stored=V2), dict[str, Any])
    assert_type(check_definition(definition(V1, V2)), list[str])


def a_schema_for_editors_is_json() -> None:
    assert_type(json_schema(V1.gvk, {"type": "object"}, {}), dict[str, Any])
    assert_type(json_schema_index([V1.gvk]), dict[str, Any])
    assert_type(json_schema_path(V1.gvk), str)


async def installed(client: Client, shop: ModuleType, install_kinds: InstallKinds) -> None:
    """A program is its package, or its setup function."""

    def wire(manager: Manager) -> None: ...

    assert_type(await definitions(shop), list[dict[str, Any]])
    await install_definitions(client, await definitions(wire), allow_loss=True)
    await install_kinds(shop)
    await install_kinds(wire)
